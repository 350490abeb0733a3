"""latebind: build native libraries without linking their runtime, package them once, audit and verify the result."""

__version__ = "0.1.0"
