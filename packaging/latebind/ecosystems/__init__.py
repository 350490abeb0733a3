"""The ecosystems that packages are made for: a folder each, and a row each in `registry.py`."""
