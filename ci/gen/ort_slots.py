"""Write loader/src/ort_slots.h: each slot of ONNX Runtime's function tables with its version and its result.

    python -m ci.gen.ort_slots                        # what the newest release adds
    python -m ci.gen.ort_slots 1.31.1 1.32.0          # these releases, from the oldest on
    python -m ci.gen.ort_slots onnxruntime_c_api.h onnxruntime_ep_c_api.h

A release's library for macOS has the names of its own functions, so it says which ones its tables have. An official
header says, too, what a function gives back and since when it exists. Rows that are written down already stay: of a new
one that no header has, find out what it gives back, and correct its row.
"""

from __future__ import annotations

import re
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from latebind.system.run import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SLOTS = Path(__file__).resolve().parents[2] / "loader" / "src" / "ort_slots.h"
TABLES = {
    "OrtApi": 14, "OrtModelEditorApi": 22, "OrtCompileApi": 22, "OrtInteropApi": 24, "OrtEpApi": 22,
    "OrtModelPackageApi": 31,
}  # fmt: skip
"""The tables, and the version that has each first (or before which nothing is of interest)."""
_SYMBOLS = {
    "OrtApi": r"^__ZL\d+ort_api_1_to_\d+$", "OrtModelEditorApi": "ort_model_editor_apiE?$",
    "OrtCompileApi": "ort_compile_apiE?$", "OrtInteropApi": "ort_interop_apiE?$", "OrtEpApi": "ort_ep_apiE?$",
    "OrtModelPackageApi": "ort_model_package_apiE?$",
}  # fmt: skip
"""What the library for macOS calls them."""
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


def fetch_library(release: str) -> tuple[bytes, int]:
    """The library for macOS of a release ("" for the newest), and the release's API version."""
    wanted = f"onnxruntime=={release}" if release else "onnxruntime"
    with tempfile.TemporaryDirectory() as folder:
        options = ("--no-deps", "--only-binary=:all:", "--platform", "macosx_14_0_arm64", "--dest", folder)
        run([sys.executable, "-m", "pip", "download", "--quiet", *options, wanted])
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (name for name in archive.namelist() if re.search(r"libonnxruntime\.[\d.]+dylib$", name))
            return archive.read(name), int(wheel.name.split(".")[1])


def slots_in(library: bytes, version: int) -> dict[str, list[Slot]]:
    """The tables of a release's library for macOS. What a function gives back is what most of its kind do.

    Raises SystemExit for a file that is no such library.
    """
    import lief  # noqa: PLC0415  # only who writes the table has it

    universal: Any = lief.MachO.parse(list(library))  # half of its types are too wide
    image = universal.at(0) if universal else None
    if image is None:
        raise SystemExit("this is no library for macOS")
    functions = {symbol.value: symbol.name for symbol in image.symbols if symbol.value}
    pointers = {relocation.address: relocation.target for relocation in image.relocations}
    tables: dict[str, list[Slot]] = {}
    for table, pattern in _SYMBOLS.items():
        start = next((address for address, symbol in functions.items() if re.search(pattern, symbol)), 0)
        rows = [Slot(name, _usual_kind(name), version) for name in _names_from(start, pointers, functions)]
        tables |= {table: rows} if rows else {}
    if "OrtApi" not in tables:
        raise SystemExit("this library has no names of its functions, or another table than OrtApi")
    return tables


def _names_from(address: int, pointers: Mapping[int, int], functions: Mapping[int, str]) -> Iterator[str]:
    """The functions at an address and after it, as far as they are of one class; none of OrtApiBase."""
    first = ""
    while address in pointers:
        scope, name = _read_symbol(functions.get(pointers[address], ""))
        if not scope or scope != (first or scope) or name == "GetApi":
            return
        first = scope
        yield name
        address += 8


def _read_symbol(symbol: str) -> tuple[str, str]:
    """The class and the name of a C++ function: OrtApis and CreateEnv of __ZN7OrtApis9CreateEnvE15OrtLoggingLevel…."""
    parts, rest = [], symbol.removeprefix("__ZN")
    while digits := re.match(r"\d+", rest):
        end = digits.end() + int(digits[0])
        parts.append(rest[digits.end() : end])
        rest = rest[end:]
    return (parts[0], parts[1]) if len(parts) == 2 else ("", "")  # noqa: PLR2004 - a class and a function


def _usual_kind(name: str) -> str:
    if name.startswith("Release"):
        return "RELEASE"
    return "POINTER" if re.fullmatch("Get[A-Z][a-z]+([A-Z][a-z]+)*Api", name) else "STATUS"


def read_tables() -> dict[str, list[Slot]]:
    """The tables as they are written down, by the name of their C macro."""
    text = SLOTS.read_text("utf-8") if SLOTS.exists() else ""
    parts = re.split(r"^#define (\w+)\(ROW\)", text, flags=re.MULTILINE)[1:]
    tables = [[Slot(name, kind, int(since)) for name, kind, since in _ROW.findall(body)] for body in parts[1::2]]
    return dict(zip(parts[::2], tables, strict=True))


def macro(table: str) -> str:
    """The name of a table's C macro: LB_ORT_EP_API of OrtEpApi."""
    return "LB_" + re.sub(r"(?<!^)(?=[A-Z])", "_", table).upper()


def render(tables: Mapping[str, list[Slot]]) -> str:
    """The C header: a list of rows for each table."""
    parts = ["/* ort_slots.h: ONNX Runtime's function tables, written by ci/gen/ort_slots.py from its own releases. */"]
    for table, entries in tables.items():
        lines = [f"  ROW({slot.name}, {slot.kind}, {slot.since})" for slot in entries]
        parts.append(" \\\n".join([f"#define {macro(table)}(ROW)", *lines]))
    return "\n\n".join([parts[0], "/* clang-format off */", *parts[1:]]) + "\n"


def extend(known: list[Slot], release: Iterable[Slot], table: str) -> list[Slot]:
    """A table with the slots that a release adds. Raises SystemExit where it has others than are known."""
    rows = list(known)
    for place, slot in enumerate(release):
        if place == len(rows):
            rows.append(slot)
            print(f"new: {table} {place} {slot.name}, {slot.kind}, 1.{slot.since}")
        elif rows[place].name != slot.name:
            raise SystemExit(f"{table} has {slot.name} at {place}, where {rows[place].name} is known")
    return rows


def write_slots(sources: Sequence[str] = ("",)) -> None:
    """Write the table, with what the headers and releases that are named add, or the newest release."""
    tables = {table: read_tables().get(macro(table), []) for table in TABLES}
    for source in sources:
        is_header = source.endswith(".h")
        found = slots(Path(source).read_text("utf-8")) if is_header else slots_in(*fetch_library(source))
        tables |= {table: extend(tables[table], rows, table) for table, rows in found.items()}
    SLOTS.write_text(render(tables), encoding="utf-8")


if __name__ == "__main__":
    write_slots(sys.argv[1:] or [""])
