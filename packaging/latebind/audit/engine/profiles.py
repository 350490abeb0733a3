"""The profiles: what each choice of checks is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.model import Profile

PROFILES: Mapping[Profile, str] = {
    "loads": "what decides whether the package installs and loads, or lets someone in; the default for other packages",
    "runtime": "late binding: whether the runtime is linked, bundled, renamed, embedded or required",
    "all": "every check; the default for your own project",
}
"""The values of `--profile`, from the narrowest to the widest."""
