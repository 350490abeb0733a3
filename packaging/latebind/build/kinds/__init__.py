"""The kinds of packages. A new one is a module in this folder, a row in KINDS, and a row in tables/kinds.py."""
