"""What checks of other distributions import (docs/howto/checks.md)."""

from loadcheck.engine.registry import Hit, Hits, Skip, check

__all__ = ["Hit", "Hits", "Skip", "check"]
