"""Wheels and sdists: packages for Python."""
