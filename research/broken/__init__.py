"""Packages broken on purpose after the build, one way at a time; research/sabotage.py says which layer catches each."""
