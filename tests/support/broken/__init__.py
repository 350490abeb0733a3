"""Packages broken on purpose after the build, one way at a time; tests/support/broken/sabotage.py says which layer catches each."""
