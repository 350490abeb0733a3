"""What of torch's C++ interface has a counterpart in its stable ABI (stabletorch.toml)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec


class UnstableGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Names of torch's C++ interface that are replaced by the same."""

    title: str
    names: tuple[str, ...]
    """How their readable names begin."""
    stable: str
    """What to use in their place; "" for nothing."""
    since: str
    """The first torch that has it; "" where none is needed."""

    @property
    def advice(self) -> str:
        """What to use, and from which PyTorch on."""
        return f"{self.stable or 'nothing is known in the stable ABI'}{self.since and f' (PyTorch {self.since})'}"


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    group: tuple[UnstableGroup, ...]


OTHERS = UnstableGroup(title="others", names=(), stable="", since="")


@cache
def unstable_groups() -> tuple[UnstableGroup, ...]:
    """All groups, in the order in which they match."""
    file = Path(__file__).with_name("stabletorch.toml")
    return msgspec.toml.decode(file.read_bytes(), type=_Table).group


def find_group(name: str) -> UnstableGroup:
    """The group of a readable name, such as `c10::TensorImpl::decref_pyobject`; OTHERS for none."""
    return next((group for group in unstable_groups() if name.startswith(group.names)), OTHERS)
