"""Packages broken on purpose after the build, one way at a time; `sabotage` says which layer catches each."""
