"""Installs packages into clean environments and shows that they work, or fail with the right message."""
