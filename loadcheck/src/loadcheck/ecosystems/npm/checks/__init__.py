"""Checks of npm packages."""
