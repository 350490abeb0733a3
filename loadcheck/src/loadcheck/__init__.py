"""Will it load? Checks packages of native code without running them."""

__version__ = "0.1.0"
