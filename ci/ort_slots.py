"""Write loader/src/ort_slots.h from the official headers of ONNX Runtime: each slot with its version and its result.

    python -m ci.ort_slots onnxruntime_c_api.h onnxruntime_ep_c_api.h

Give it the newest headers. A header says since when a function exists only for some, so versions that are known stay.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SLOTS = Path(__file__).resolve().parent.parent / "loader" / "src" / "ort_slots.h"
TABLES = {"OrtApi": 14, "OrtModelEditorApi": 22, "OrtCompileApi": 22, "OrtInteropApi": 24, "OrtEpApi": 22}
"""The tables, and the version that has each first (or before which nothing is of interest)."""
_STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{(.*?)^\}", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(
    r"/\*.*?\*/|//[^\n]*"
    r"|ORT_API2_STATUS\(\s*(?P<status>\w+)"
    r"|ORT_CLASS_RELEASE\(\s*(?P<release>\w+)"
    r"|ORT_API_T\((?P<type>[^,]+),\s*(?P<called>\w+)"
    r"|(?P<result>[\w ]+[\w*])\s*\(\s*ORT_API_CALL\s*\*\s*(?P<name>\w+)\)\s*\(",
    re.DOTALL,
)
_SINCE = re.compile(r"[\\@]since\s+(?:[Vv]ersion|ORT)?\s*1\.(\d+)")
_ROW = re.compile(r"^  ROW\((\w+), (\w+), (\d+)\)", re.MULTILINE)


class Slot(NamedTuple):
    """One entry of a table: its function, what it gives back, and the API version that has it first."""

    name: str
    kind: str
    since: int


def slots(header: str) -> dict[str, list[Slot]]:
    """The tables of an official header. A version that it doesn't say is that of the slot before."""
    bodies = dict(_STRUCT.findall(header))
    return {table: list(_slots(bodies[table], first)) for table, first in TABLES.items() if table in bodies}


def _slots(body: str, last: int) -> Iterator[Slot]:
    stated = 0
    for match in _FIELD.finditer(body):
        if match[0].startswith("/"):
            since = _SINCE.search(match[0])
            stated = int(since[1]) if since else 0
            continue
        last = max(last, stated)
        if match["status"]:
            yield Slot(match["status"], "STATUS", last)
        elif match["release"]:
            yield Slot("Release" + match["release"], "RELEASE", last)
        elif match["name"] != "fn":  # a function that GetExperimentalFunction gives
            result = (match["type"] or match["result"]).strip()
            name = match["called"] or match["name"]
            yield Slot(name, _kind(name, result), last)
        stated = 0


def _kind(name: str, result: str) -> str:
    """RELEASE and CREATE are functions without a result that take an object, or write one to their first argument."""
    if result.removeprefix("_In_ ") == "void":
        return next((verb.upper() for verb in ("Release", "Create") if name.startswith(verb)), "VOID")
    if result == "const char*":
        return "TEXT"
    return "POINTER" if result.endswith(("*", "Ptr")) else "NUMBER"


def read_tables() -> dict[str, list[Slot]]:
    """The tables as they are written down, by the name of their C macro."""
    text = SLOTS.read_text("utf-8") if SLOTS.exists() else ""
    parts = re.split(r"^#define (\w+)\(ROW\)", text, flags=re.MULTILINE)[1:]
    tables = [[Slot(name, kind, int(since)) for name, kind, since in _ROW.findall(body)] for body in parts[1::2]]
    return dict(zip(parts[::2], tables, strict=True))


def render(tables: Mapping[str, list[Slot]], versions: Mapping[str, int]) -> str:
    """The C header: a list of rows for each table."""
    parts = ["/* ort_slots.h: ONNX Runtime's function tables, written by ci/ort_slots.py from its official headers. */"]
    for table, entries in tables.items():
        macro = re.sub(r"(?<!^)(?=[A-Z])", "_", table).upper()
        lines = [f"  ROW({slot.name}, {slot.kind}, {versions.get(slot.name, slot.since)})" for slot in entries]
        parts.append(" \\\n".join([f"#define LB_{macro}(ROW)", *lines]))
    return "\n\n".join([parts[0], "/* clang-format off */", *parts[1:]]) + "\n"


def main() -> int:
    """Write the table from the headers that are named."""
    header = "".join(Path(name).read_text("utf-8") for name in sys.argv[1:])
    versions = {slot.name: slot.since for entries in read_tables().values() for slot in entries}
    SLOTS.write_text(render(slots(header), versions), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
