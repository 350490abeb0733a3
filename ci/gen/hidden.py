"""Makes the loader's table of characters that are not shown as they are, from loader/tables/hidden.toml."""

from __future__ import annotations

from pathlib import Path

import msgspec

TABLE = Path(__file__).resolve().parents[2] / "loader" / "tables" / "hidden.toml"
_HEADER = """\
/* hidden.h: characters that are not shown as they are. Made by ci/gen/hidden.py from loader/tables/hidden.toml. */
#ifndef LATEBIND_HIDDEN_H
#define LATEBIND_HIDDEN_H

#include <stdint.h>

static const uint32_t lb_hidden[][2] = {{
{rows}
}};

#endif
"""


class Range(msgspec.Struct, frozen=True):
    """Code points from the first to the last."""

    first: int
    last: int
    what: str


def ranges() -> list[Range]:
    """The rows of the table."""
    return msgspec.toml.decode(TABLE.read_bytes(), type=dict[str, list[Range]])["hidden"]


def header() -> str:
    """loader/src/hidden.h."""
    codes = [f"    {{0x{row.first:04X}, 0x{row.last:04X}}}," for row in ranges()]
    width = max(map(len, codes))
    return _HEADER.format(
        rows="\n".join(f"{code:{width}} /* {row.what} */" for code, row in zip(codes, ranges(), strict=True))
    )
