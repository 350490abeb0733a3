"""Adds numbers."""

from tiny._tiny import add

__all__ = ["add"]
