"""Audits the census's wheels with other tools, and keeps what each reports in census.csv.

    python -m accuracy.peers             every wheel without reports; census.csv is written after each wheel
    python -m accuracy.peers --only N    the next N wheels

A wheel that was not in the cache is deleted when all tools have read it. uv runs the tools of peers.txt. delocate asks
for otool and lipo on PATH, which macOS has; elsewhere `python -m ci.machines.llvm FOLDER` makes them.
Exit status: 0 all read, 1 some could not be downloaded.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy import census, downloads
from packaging.utils import parse_wheel_filename

from loadcheck import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

REQUIREMENTS = census.HERE / "peers.txt"
_SECONDS = 300
_LARGEST = 10**9
_SHOWN = 6
_LEGACY = {"manylinux1": "manylinux_2_5", "manylinux2010": "manylinux_2_12", "manylinux2014": "manylinux_2_17"}
_FLOOR = re.compile(r"(?P<family>manylinux|musllinux|macosx)_(?P<major>\d+)_(?P<minor>\d+)_(?P<arch>\w+)")
_ARCHS = {"universal2": "x86_64,arm64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool: its arguments before the wheel, the wheels that it is made for, and what reads its output."""

    name: str
    arguments: Callable[[str], tuple[str, ...]]
    system: str
    read: Callable[[str, str], Iterable[str]]

    def reads(self, name: str) -> bool:
        """Whether it is made for a wheel."""
        return self.system in (name if self.system == "abi3" else name.rpartition("-")[2])


def auditwheel(output: str, name: str) -> Iterable[str]:
    """The platform that the wheel needs, where its tag promises more; what nothing covers; unusual instructions."""
    report = json.loads(output)
    tag = report["overall_tag"]
    if _floor(tag)[0] == "":
        yield f"no tag fits: {_some(report['external_libs']) or 'versions of symbols'}"
    elif any(_floor(tag) > minimum for minimum in _floors(name) if minimum[0] == _floor(tag)[0]):
        yield f"needs {tag}"
    if report["unsupported_isa"]:
        yield "unsupported_isa"


def delocate(output: str, _name: str) -> Iterable[str]:
    """Libraries that it did not find, systems and architectures that do not fit."""
    missing = {Path(entry).name for entry in re.findall(r"(\S+) not found[,:]", output)}
    yield from [f"not found: {_some(missing)}"] if missing else []
    if newer := re.findall(r"(?m)^(\S+) has a minimum target of (\S+)", output):
        yield f"needs macOS {max(newer, key=lambda entry: tuple(map(int, entry[1].split('.'))))[1]}"
    if odd := re.search(r"(?i)(missing architectures in wheel|any binary with the required architecture.*)", output):
        yield f"architecture: {odd[1]}"


def delvewheel(output: str, _name: str) -> Iterable[str]:
    """DLLs that it did not find."""
    missing = {entry.lower() for entry in re.findall(r"(?m)^ +(\S+) \(Error: Not Found\)", output)}
    yield from [f"not found: {_some(missing)}"] if missing else []


def abi3audit(output: str, _name: str) -> Iterable[str]:
    """Modules that leave the stable ABI, or need a newer Python than their tag promises."""
    results = [
        result for spec in json.loads(output)["specs"].values() for result in spec.get("wheel", ()) if result["result"]
    ]
    if bad := {name for result in results for name in result["result"]["non_abi3_symbols"]}:
        yield f"not in the stable ABI: {_some(bad)}"
    newer = {result["result"]["computed"] for result in results if not result["result"]["is_abi3_baseline_compatible"]}
    yield from [f"needs Python {', '.join(sorted(newer))}"] if newer else []


def check_wheel_contents(output: str, _name: str) -> Iterable[str]:
    """Codes, and why it refuses a wheel."""
    yield from sorted(set(re.findall(r": (W\d{3}):", output)))
    yield from re.findall(r"(?m): (invalid wheel: .*)", output)


def _macos(name: str) -> tuple[str, ...]:
    _, major, minor, arch = min(
        match.groups() for match in map(_FLOOR.match, name[:-4].rpartition("-")[2].split(".")) if match
    )
    target = f"--require-target-macos-version={major}.{minor}"
    return ("-v", "--no-sanitize-rpaths", "--wheel-dir=out", f"--require-archs={_ARCHS.get(arch, arch)}", target)


TOOLS = (
    Tool(name="auditwheel", arguments=lambda _: ("show", "--json"), system="linux", read=auditwheel),
    Tool(name="delocate-wheel", arguments=_macos, system="macosx", read=delocate),
    Tool(name="delvewheel", arguments=lambda _: ("show",), system="win", read=delvewheel),
    Tool(name="abi3audit", arguments=lambda _: ("--report",), system="abi3", read=abi3audit),
    Tool(name="check-wheel-contents", arguments=lambda _: ("--no-config",), system="", read=check_wheel_contents),
)


def main() -> int:
    """Run what the table lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, help="how many wheels")
    wheels = {wheel.file: wheel for wheel in census.read_table()}
    missing = [wheel for wheel in wheels.values() if not wheel.reports]
    lost = 0
    for wheel in missing[: parser.parse_args().only]:
        was_cached = (downloads.make_folder("wheels") / wheel.file).is_file()
        try:
            path = downloads.find_pinned(wheel.file, wheel.sha256)
        except InputError as reason:
            print(reason, file=sys.stderr)
            lost += 1
            continue
        wheels[wheel.file] = replace(wheel, reports=compare(path))
        write_table(wheels.values())
        if not was_cached:
            path.unlink()
    return int(lost > 0)


def compare(path: Path) -> dict[str, str]:
    """What each tool that is made for the wheel reports, and latebind: short codes or sentences, "" for nothing."""
    size = path.stat().st_size
    if size > _LARGEST:
        return {"latebind": f"not run: {size // 10**6} MB"}
    reports = {tool.name: _run(tool, path) for tool in TOOLS if tool.reads(path.name)}
    return {**reports, "latebind": "; ".join(latebind(path))}


def latebind(path: Path) -> Iterable[str]:
    """The codes of each severity, with all checks: `error LB301 LB304`."""
    severities = census.codes(path, "all")
    for severity, codes in severities.items():
        yield f"{severity} {' '.join(sorted(codes))}"


def _run(tool: Tool, path: Path) -> str:
    if tool.read is delocate and not shutil.which("otool"):
        raise SystemExit("delocate needs otool and lipo on PATH: python -m ci.machines.llvm FOLDER makes FOLDER/bin")
    room = downloads.make_folder("room")
    (room / "codesign").write_text("#!/bin/sh\n", encoding="utf-8")  # delocate signs what it changed; nothing is kept
    (room / "codesign").chmod(0o755)
    program = ("uv", "run", "--no-project", "--quiet", f"--with-requirements={REQUIREMENTS}", tool.name)
    command = [*program, *tool.arguments(path.name), str(path)]
    search = f"{room}:{os.environ['PATH']}"
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
            timeout=_SECONDS, cwd=room, env={**os.environ, "PATH": search},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"not finished in {_SECONDS} s"
    try:
        findings = list(
            tool.read(done.stdout if tool.read in {auditwheel, abi3audit} else done.stdout + done.stderr, path.name)
        )
    except (ValueError, KeyError, TypeError):
        findings = []
    if not findings and done.returncode:
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "")
        findings = [f"failed: {re.sub(r'(?:/[^/ ]+)*/', '', last)[:120]}"]
    for leftover in room.rglob("*.whl"):
        leftover.unlink()
    return "; ".join(findings)


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join([*ordered[:_SHOWN], *([f"{len(ordered) - _SHOWN} more"] if len(ordered) > _SHOWN else [])])


def _floors(name: str) -> list[tuple[str, int, int]]:
    _, _, _, tags = parse_wheel_filename(name)
    return [_floor(tag.platform) for tag in tags]


def _floor(platform: str) -> tuple[str, int, int]:
    old, _, arch = platform.partition("_")
    match = _FLOOR.match(f"{_LEGACY[old]}_{arch}" if old in _LEGACY else platform)
    return (match["family"], int(match["major"]), int(match["minor"])) if match else ("", 0, 0)


def write_table(wheels: Iterable[census.Wheel]) -> None:
    """All rows: a column for each tool, empty where it is not made for the wheel."""
    tools = (*(tool.name for tool in TOOLS), "latebind")
    aside = census.TABLE.with_suffix(".part")
    with aside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("file", "part", "sha256", *tools))
        for wheel in wheels:
            reports = {tool: text or census.NOTHING for tool, text in wheel.reports.items()}
            writer.writerow((wheel.file, wheel.part, wheel.sha256, *(reports.get(tool, "") for tool in tools)))
    aside.replace(census.TABLE)


if __name__ == "__main__":
    sys.exit(main())
