"""Writes docs/bench.md from ci/bench/results/*.json.

Results are not tracked: the section of a benchmark that has none here stays as it is on the page.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parents[2]
_TITLES = {
    "audit": "The audit compared with other tools",
    "latency": "Binding the runtime",
    "main_job": "The main job of this repository",
    "pack": "Packing",
    "flood": "First calls where others fill folders",
    "startup": "Start-up",
    "stub": "The stub compared with a linked ONNX Runtime",
    "library": "A C library: linked, late, and by Implib.so",
}
_INTRODUCTION = """# Benchmarks

`python3 noxfile.py -s bench` measures again and rewrites this page. Tables show the median of several rounds, some
with the lowest and highest value in parentheses. "CPU" is the CPU time of all processes together.
"""
_ABOUT = {
    "audit": """"Peers" are `auditwheel show`, `delvewheel show`, `delocate-listdeps` and `abi3audit`, each on its
wheels. "Floor" decompresses and hashes every member in one thread.

![Times of the audit, of the floor and of the peers](img/audit.svg)""",
    "latency": """What the loader adds to the runtime.""",
    "main_job": """`python3 noxfile.py` in a fresh clone with empty caches; then the CPU time of its parts.""",
    "pack": """All packages of latenn, without the native build, and other tools' packages of the same files.""",
    "flood": """What another user's files add to the first call of a stub, in CPU time: 1,000 to 3,000 of each kind.""",
    "startup": """`latebind --help` as a process.""",
    "stub": """One C program links the runtime, the other the stub.""",
    "library": """The same programs with zlib, stripped. "Clock" and "CPU" are what it takes to make what they link
instead: `latebind stub`, or Implib.so's generator and the compiler.

![Size, a call and the first call: linked, late and by Implib.so](img/library.svg)""",
}


def main() -> None:
    """Write the sections of the results that are here; keep the others."""
    page = ROOT / "docs" / "bench.md"
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    for path in sorted((ROOT / "ci" / "bench" / "results").glob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        title = _TITLES[path.stem]
        sections[title] = f"\n{_section(path.stem, document)}\n"
    written = [f"## {title}\n{sections[title]}" for title in _TITLES.values() if title in sections]
    page.write_text("\n".join([_INTRODUCTION, *(text.strip("\n") + "\n" for text in written)]), encoding="utf-8")


def _section(name: str, document: dict[str, Any]) -> str:
    machine, versions = document["machine"], document["versions"]
    where = (
        f"Measured on {machine['system']} {machine['processor']}, {machine['processors']} CPUs, Python "
        f"{machine['python']}. Versions: " + ", ".join(f"{tool} {number}" for tool, number in versions.items()) + "."
    )
    parts = [
        _ABOUT[name],
        *([_input(document["input"])] if "input" in document else []),
    ]
    if "contenders" in document and name != "startup":
        parts.append(_contenders(document["contenders"]))
    if "table" in document:
        head, *rows = document["table"]
        parts.append(table(head, rows))
    if claims := [claim for claim in document.get("claims", ()) if name != "latency" or "lb_bind()" in claim["claim"]]:
        parts.append(_claims(claims))
    if machine["load before"][0] > machine["processors"]:
        parts.append(
            "Other programs kept the processors busy, so that clocks show more than the programs themselves take."
        )
    parts += [f"Not run: {tool}: {reason}." for tool, reason in document.get("not run", {}).items()]
    return "\n\n".join([*parts, where]) + "\n"


def _contenders(contenders: dict[str, Any]) -> str:
    rows = [(name, *(f"{row[key]['median']:.2f}" for key in ("wall", "cpu"))) for name, row in contenders.items()]
    return table(("program", "clock, s", "CPU, s"), rows)


def _claims(claims: list[dict[str, Any]]) -> str:
    missed = {True: "", False: ", **missed**"}
    lines = [(row["claim"], _measured(row), f"{row['at most']:g}{missed[row['met']]}") for row in claims]
    return table(("claim", "measured", "goal, at most"), lines)


def _measured(row: dict[str, Any]) -> str:
    spread = f" ({row['least']:.2f}-{row['most']:.2f})" if "least" in row else ""
    return f"{row['measured']:.2f}{spread}"


def _input(facts: dict[str, int]) -> str:
    noun = "wheels" if "wheels" in facts else "packages"
    text = f"Input: {facts[noun]} {noun}, {_mb(facts['bytes'])}"
    return text + (f", {_mb(facts['inflated'])} decompressed." if "inflated" in facts else ".")


def _mb(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 10**7 else f"{size / 1e6:.1f} MB"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
