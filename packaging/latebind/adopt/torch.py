"""Advises extensions of PyTorch: what they call that fits one release, and what its stable ABI has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.tables.stabletorch import find_group
from latebind.text import DOCS, plural
from loadcheck.facts import demangle, find_first_versions, floors, list_unstable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.adopt.product import Product
    from latebind.tables.stabletorch import UnstableGroup

_SHOWN = 3
PORT_ADVICE = f"next: use the stable ABI in their place, then a stub: {DOCS}/howto/torch.md#port-an-extension"
"""A stub has functions of C only, so nothing else can be done first."""


def find_unstable(product: Product) -> dict[str, list[str]]:
    """For each native file that needs functions of PyTorch's C++ interface: their readable names, sorted."""
    needed = {
        file.name: list_unstable({symbol.name for symbol in image.imports}) for file, image in product.contents.images
    }
    return {file: sorted(set(map(demangle, names))) for file, names in needed.items() if names}


def describe_unstable(product: Product) -> Iterator[str]:
    """For each such file, how many there are, and for each group what there is in its place."""
    for file, names in find_unstable(product).items():
        count = plural(len(names), "name")
        yield (
            f"{file.rpartition('/')[2]}: needs {count} of PyTorch's C++ interface, which may change with each minor "
            "release"
        )
        groups: dict[UnstableGroup, list[str]] = {}
        for name in names:
            groups.setdefault(find_group(name), []).append(name)
        for group, members in sorted(groups.items(), key=lambda pair: -len(pair[1])):
            shown = ", ".join(members[:_SHOWN]) + (", …" if len(members) > _SHOWN else "")
            yield f"  {group.title} ({shown}): {group.advice}"


def describe_oldest(product: Product) -> Iterator[str]:
    """For each file that uses the stable ABI alone: the oldest PyTorch that has all that it calls, and why."""
    for file, image in product.contents.images:
        names = {symbol.name for symbol in image.imports}
        first = find_first_versions(names)
        if first and not list_unstable(names):
            newest = max(first.values())
            because = ", ".join([name for name, since in first.items() if since == newest][:_SHOWN])
            short = file.name.rpartition("/")[2]
            yield f"{short}: uses PyTorch's stable ABI alone, from {floors.version_text(newest)} on: {because}"
