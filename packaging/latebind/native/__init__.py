"""Builds the native code of projects into stages, and describes what is in them."""
