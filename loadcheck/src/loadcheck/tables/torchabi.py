"""What torch promises of the functions that extensions call: one minor release, or each release from a first one on."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TorchVersion = tuple[int, ...]

_UNSTABLE = re.compile(r"_ZT?[IVSTN]?N?K?(3c10|2at|5torch)\d|\?.*@(c10|at|torch)@@")
"""Names of torch's C++ interface: `c10::SymInt::...`, in the Itanium C++ ABI and in Visual C++'s."""


def list_unstable(names: Iterable[str]) -> list[str]:
    """Those of torch's C++ interface, which it promises for one minor release only; sorted."""
    return sorted(name for name in names if _UNSTABLE.match(name))


def find_first_versions(names: Iterable[str]) -> dict[str, TorchVersion]:
    """Those of torch's C shim that came after it, each with its first minor release; sorted."""
    table = read_first_versions()
    return {name: table[name] for name in sorted(names) if name in table}


@cache
def read_first_versions() -> Mapping[str, TorchVersion]:
    """The functions of torch's C shim that came after it, each with its first minor release."""
    table = msgspec.toml.decode(Path(__file__).with_name("torch.toml").read_bytes(), type=dict[str, list[str]])
    return {name: tuple(map(int, version.split("."))) for version, names in table.items() for name in names}
