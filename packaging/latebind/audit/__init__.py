"""Audits of packages and binaries: opens bytes and reasons; never runs a program, never writes."""
