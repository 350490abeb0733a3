"""Adds numbers."""
