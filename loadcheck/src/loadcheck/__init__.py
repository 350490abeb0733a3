"""Will it load? Checks packages of native code without running them.

`Hit`, `Skip` and `check` are what checks of other distributions import (docs/howto/checks.md).
"""

from loadcheck.engine.registry import Hit, Skip, check

__version__ = "0.1.0"
__all__ = ["Hit", "Skip", "check"]
