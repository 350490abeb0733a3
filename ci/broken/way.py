"""A way to break packages: a row of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from broken.packages import LINUX

if TYPE_CHECKING:
    from collections.abc import Callable

    from broken.packages import Packages


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way in which packages are broken after the build."""

    name: str
    title: str
    """What is wrong, in a few words: a row of docs/sabotage.md."""
    breaks: Callable[[Packages], object]
    target: str = LINUX
    """Whose programs would meet it; where those do not run here, the audit alone can say something."""
