"""Checks of wheels and sdists."""
