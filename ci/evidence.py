"""The evidence behind docs/truth.md: what other tools report on the same files.

Each row of docs/truth/evidence.toml names a wheel, a code, one command and what its output shows or lacks. A row whose
verdict is "clear" says that the audit is right not to report that code.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "truth" / "evidence.toml"
# What may be run, and the options that it may be given: nothing here writes or runs anything else.
TOOLS: Mapping[str, frozenset[str]] = {
    "readelf": frozenset({"-d", "-h", "-l", "-S", "-V", "-W", "--dyn-syms"}),
    "objdump": frozenset({"-h", "-p"}),
    "strings": frozenset({"-a"}),
    "unzip": frozenset({"-l", "-p", "-v", "-Z1"}),
    "llvm-nm": frozenset({"-a", "-g", "-U", "-u"}),
    "llvm-otool": frozenset({"-L", "-l"}),
    "llvm-readobj": frozenset({"--coff-debug-directory", "--coff-exports", "--coff-imports", "--file-headers"}),
}


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One command and what its output proves."""

    wheel: str
    code: str
    verdict: Literal["found", "clear"] = "found"
    files: tuple[str, ...] = ()
    """Members of the wheel that stand for {files}; {wheel} is the wheel itself."""
    command: tuple[str, ...]
    shows: tuple[str, ...] = ()
    """Each is part of a line of the output, blanks counted as one."""
    lacks: tuple[str, ...] = ()
    """None is part of any line, in capitals or small letters."""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    evidence: tuple[Evidence, ...]


def rows() -> tuple[Evidence, ...]:
    """The recorded evidence. Raises SystemExit for a command that is not allowed, and for a row that proves nothing."""
    try:
        found = msgspec.toml.decode(TABLE.read_bytes(), type=_Table).evidence
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise SystemExit(f"{TABLE.name}: {error}") from error
    for row in found:
        if problem := _problem(row):
            raise SystemExit(f"{TABLE.name}: {row.wheel} {row.code}: {problem}")
    return found


def _problem(row: Evidence) -> str:
    tool, *words = row.command
    allowed = TOOLS.get(tool)
    if allowed is None:
        return f"{tool} is none of {', '.join(TOOLS)}"
    if strange := [word for word in words if word.startswith("-") and word not in allowed]:
        return f"{tool} may not be given {strange[0]}"
    if not any(place in words for place in ("{files}", "{wheel}")) or ("{files}" in words) != bool(row.files):
        return "the command names no file of the wheel, or other files than it uses"
    return "" if row.shows or row.lacks else "it neither shows nor lacks anything"


def gaps(document: Mapping[str, Any], found: Sequence[Evidence]) -> list[str]:
    """Verdicts without evidence, and evidence without its verdict, each in one sentence."""
    verdicts = {(wheel["file"], row["code"]) for wheel in document["wheels"] for row in wheel["verdicts"]}
    files = {wheel["file"] for wheel in document["wheels"]}
    proved = {(row.wheel, row.code) for row in found if row.verdict == "found"}
    cleared = {(row.wheel, row.code) for row in found if row.verdict == "clear"}
    return [
        *(f"{wheel}: {code} has no evidence" for wheel, code in sorted(verdicts - proved)),
        *(
            f"{wheel}: there is evidence of {code}, which the audit does not report"
            for wheel, code in proved - verdicts
        ),
        *(
            f"{wheel}: is reported to be clear of {code}, which the audit reports"
            for wheel, code in sorted(cleared & verdicts)
        ),
        *(f"{wheel} is in no row of the table" for wheel in sorted({row.wheel for row in found} - files)),
    ]


def confirm(found: Sequence[Evidence], wheels: Sequence[Path]) -> tuple[list[str], list[str]]:
    """Run every command again: what is not as recorded, and what was not run, with the reason."""
    paths = {path.name: path for path in wheels}
    wrong: list[str] = []
    missing: list[str] = []
    for row in found:
        name = f"{row.wheel} {row.code}"
        program = programs.find(row.command[0])
        if program is None:
            missing.append(f"{name}: {row.command[0]} is not on this machine")
        elif row.wheel not in paths:
            wrong.append(f"{name}: the wheel is not pinned")
        else:
            wrong += [
                f"{name}: {' '.join(row.command)}: {text}" for text in _differences(row, program, paths[row.wheel])
            ]
    return wrong, missing


def _differences(row: Evidence, program: str, wheel: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        members = [_extract(wheel, member, Path(folder) / str(place)) for place, member in enumerate(row.files)]
        values = {"{files}": members, "{wheel}": [str(wheel)]}
        words = [value for word in row.command[1:] for value in values.get(word, [word])]
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
        ended = subprocess.run([program, *words], check=False, capture_output=True, env=environment)
    if ended.returncode:
        yield f"ended with {ended.returncode}: {ended.stderr.decode('utf-8', 'replace')[:200]}"
        return
    text = "\n".join(" ".join(line.split()) for line in ended.stdout.decode("utf-8", "replace").splitlines())
    yield from (f"does not show {line!r}" for line in row.shows if line not in text)
    yield from (f"shows {word!r}" for word in row.lacks if word.lower() in text.lower())


def _extract(wheel: Path, member: str, folder: Path) -> str:
    folder.mkdir()
    path = folder / Path(member).name
    with zipfile.ZipFile(wheel) as archive:
        path.write_bytes(archive.read(member))
    return str(path)
