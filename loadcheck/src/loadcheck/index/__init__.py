"""Reads what packages require from a package index: versions, metadata, file lists and libraries."""
