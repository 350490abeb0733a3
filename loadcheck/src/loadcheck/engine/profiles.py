"""The profiles: what each choice of checks is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadcheck.model import Profile

PROFILES: Mapping[Profile, str] = {
    "loads": "Checks of whether a package installs and loads, and whether it has a security hole. The default for "
    "packages of other projects without `--preset`",
    "runtime": "Checks of late binding: whether the runtime is linked, bundled, renamed, embedded or required. The "
    "default for packages of other projects with `--preset`",
    "all": "Every check. The default for your own project",
}
"""The values of `--profile`, from the narrowest to the widest."""
