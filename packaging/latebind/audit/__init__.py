"""Audits of packages and binaries: opens bytes and reasons; never runs a program, never writes.

`Hit`, `Skip` and `check` are what checks of other distributions import (docs/howto/checks.md).
"""

from latebind.audit.engine.registry import Hit, Skip, check

__all__ = ["Hit", "Skip", "check"]
