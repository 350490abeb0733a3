"""Reads packages: their files, images, metadata and texts. Nothing here judges."""
