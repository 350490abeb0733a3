"""The kinds of packages, a folder each."""
