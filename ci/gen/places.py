"""Makes from loader/tables/places.toml the table and the enum of places, and the page about the search order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "loader" / "tables" / "places.toml"
PUBLIC = ROOT / "loader" / "include" / "latebind" / "latebind.h"
_ENUM = re.compile(r"(?<=typedef enum lb_source \{\n).*?(?=\} lb_source;)", re.DOTALL)
_HEADER = """\
/* places.h: where a runtime is looked for, in this order. Made by ci/gen/places.py from loader/tables/places.toml. */
#ifndef LATEBIND_PLACES_H
#define LATEBIND_PLACES_H

/* X(step, source, name, trust) */
{rows}

#endif
"""
_PAGE = """\
<!-- Made by ci/gen/places.py from loader/tables/places.toml. -->

# Where a runtime is looked for

The loader and the stubs look in these places, in this order, and bind the first usable runtime. The report names the
source of each place that was tried.

![Seven places, tried from first to last](img/search-order.svg)

{places}

- **named**: used as it is; a failure in `explicit` or `environment` ends the search. A process with raised privileges
  reads no environment variable.
- **host**: the host runs code from there anyway. In a process with raised privileges, the place is judged.
- **running**: its code runs in this process already.
- **judged**: refused unless [only trusted users can change the way to it](threats.md#trusted-places).
- **folder**: see the system's search.

After [`chroot()`, `setns()` or `pivot_root()`](threats.md#after-chroot-setns-or-pivot_root), all but `running` is
judged.

## Packages around a stub

{packages}

## The system's search

The current folder and relative entries are never searched.

{systems}
"""


def read_places() -> dict[str, list[dict[str, Any]]]:
    """The rows of the table: places, packages and systems."""
    return msgspec.toml.decode(TABLE.read_bytes(), type=dict[str, list[dict[str, Any]]])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def header() -> str:
    """loader/src/places.h."""
    rows = ["#define LB_PLACES(X)"] + [
        f'  X({row["source"]}, {row["source"].upper()}, "{row["source"]}", {row["trust"].upper()})'
        for row in read_places()["place"]
    ]
    width = max(map(len, rows))
    lines = [row.ljust(width) + " \\" for row in rows[:-1]] + rows[-1:]
    return _HEADER.format(rows="\n".join(lines))


def public_header() -> str:
    """latebind.h with the enum of the table: the number of a source is its place in the order."""
    rows = [
        (f"LB_SOURCE_{row['source'].upper()} = {number}", row["short"])
        for number, row in enumerate(read_places()["place"], 1)
    ]
    names = [f"{name}," for name, _ in rows[:-1]] + [rows[-1][0]]
    width = max(map(len, names))
    lines = [f"  {name.ljust(width)} /* {short} */\n" for name, (_, short) in zip(names, rows, strict=True)]
    return _ENUM.sub("".join(lines), PUBLIC.read_text("utf-8"))


def page() -> str:
    """docs/search-order.md."""
    table = read_places()
    return _PAGE.format(
        places=_table(
            ("Source", "Place", "Trust"), [(f"`{row['source']}`", row["where"], row["trust"]) for row in table["place"]]
        ),
        packages=_table(("Folder", "Installed by"), [(row["where"], row["who"]) for row in table["package"]]),
        systems=_table(
            ("System", "Folders", "Judged"), [(row["name"], row["where"], row["judged"]) for row in table["system"]]
        ),
    )
