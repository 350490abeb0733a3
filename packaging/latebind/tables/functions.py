"""The functions that the C interfaces of runtimes export, for stubs: one TOML file per runtime in `functions/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

_FOLDER = Path(__file__).with_name("functions")


class FunctionTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a stub serves by name."""

    functions: dict[str, tuple[str, ...]]
    """Names by the version that has them first; "0.0" where that is not known."""
    texts: dict[str, str] = {}
    """Variables that point at a text, which is the same in every version."""
    variables: tuple[str, ...] = ()
    """Other variables, whose addresses programs ask for."""

    @property
    def since(self) -> dict[str, str]:
        """The version that has it first, by name; sorted by name."""
        return dict(sorted((name, version) for version, names in self.functions.items() for name in names))


@cache
def function_table(runtime: str) -> FunctionTable | None:
    """The functions of a preset; None for one that is not reached by names."""
    path = _FOLDER / f"{runtime}.toml"
    return msgspec.toml.decode(path.read_bytes(), type=FunctionTable) if path.is_file() else None
