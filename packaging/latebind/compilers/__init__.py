"""Compilers: zig for any target, or the machine's own for its own target."""
