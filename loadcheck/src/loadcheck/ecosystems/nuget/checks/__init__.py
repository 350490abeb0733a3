"""Checks of nupkgs."""
