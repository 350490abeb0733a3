"""What checks of other distributions import (docs/howto/checks.md)."""

from loadcheck.engine.registry import Hit, Skip, check

__all__ = ["Hit", "Skip", "check"]
