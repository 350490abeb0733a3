"""Makes the loader's table of places, and the page about the search order, from loader/tables/places.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "loader" / "tables" / "places.toml"
_HEADER = """\
/* places.h: where a runtime is looked for, in this order. Made by ci/places.py from loader/tables/places.toml. */
#ifndef LATEBIND_PLACES_H
#define LATEBIND_PLACES_H

/* X(step, source, name, trust) */
{rows}

#endif
"""
_PAGE = """\
<!-- Made by ci/places.py from loader/tables/places.toml. -->

# Where a runtime is looked for

The loader and the stubs look in these places, in this order. The first usable runtime is bound. The report has an
attempt for each place that was tried, with the name in the first column as `source`.

{places}

- **named**: the user or the administrator named the place. It is used as it is, whatever was refused before. A failure
  in `explicit` or `environment` ends the search. A process with raised privileges reads no environment variable.
- **host**: the host runs code from there anyway, so that a user who can put a library there can run code already. In a
  process with raised privileges, the place is judged.
- **running**: its code runs in this process already.
- **judged**: the file is refused unless only trusted users can change the way to it: see
  [the rule](threats.md#trusted-places). An error message names the variable in which you can name a refused file.
- **folder**: depends on the folder, as the last table shows.

## Packages around a stub

A stub knows no host. It looks for the packages in which runtimes are published:

{packages}

## The system's search

The current folder and relative entries are never searched.

{systems}

## What hosts find

A package for one of these hosts finds the runtime with the host's own rule, and hands the folder to the loader or opens
the library:

{hosts}
"""


def _read() -> dict[str, list[dict[str, Any]]]:
    return msgspec.toml.decode(TABLE.read_bytes(), type=dict[str, list[dict[str, Any]]])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def header() -> str:
    """loader/src/places.h."""
    rows = ["#define LB_PLACES(X)"] + [
        f'  X({row["source"]}, {row["source"].upper()}, "{row["source"]}", {row["trust"].upper()})'
        for row in _read()["place"]
    ]
    width = max(map(len, rows))
    lines = [row.ljust(width) + " \\" for row in rows[:-1]] + rows[-1:]
    return _HEADER.format(rows="\n".join(lines))


def page() -> str:
    """docs/search-order.md."""
    table = _read()
    return _PAGE.format(
        places=_table(
            ("Source", "Place", "Trust"), [(f"`{row['source']}`", row["where"], row["trust"]) for row in table["place"]]
        ),
        packages=_table(("Folder", "Installed by"), [(row["where"], row["who"]) for row in table["package"]]),
        systems=_table(
            ("System", "Folders", "Judged"), [(row["name"], row["where"], row["judged"]) for row in table["system"]]
        ),
        hosts=_table(("Host", "Place", "Trust"), [(row["name"], row["where"], row["trust"]) for row in table["host"]]),
    )
