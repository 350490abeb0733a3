"""Packages broken on purpose after the build, one way at a time; ci/sabotage.py says which layer catches each."""
