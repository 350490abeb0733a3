"""A row of the corpus: what a check must find, and the good twin in which it must find nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from latebind.audit.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.audit.corpus import Bench


@dataclass(frozen=True)
class Case:
    """One bad subject with its good twin."""

    code: str
    what: str
    bad: Callable[[Bench], Sequence[Path]]
    good: Callable[[Bench], Sequence[Path]]
    at: str
    """How the subject of the finding ends."""
    says: str
    """What message and evidence must name."""
    severity: str = "error"
    policy: Policy = field(default_factory=Policy)
