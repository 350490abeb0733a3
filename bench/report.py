"""Writes docs/bench.md from bench/results/*.json.

Results are not tracked: the section of a benchmark that has none here stays as it is on the page.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parent.parent
_TITLES = {
    "audit": "The audit compared with other tools",
    "latency": "latenn's runs compared with onnxruntime's own",
    "pack": "Packing",
    "startup": "Start-up",
    "stub": "The stub compared with a linked ONNX Runtime",
}
_INTRODUCTION = """# Benchmarks

`python3 noxfile.py -s bench` measures again and rewrites this page.

The programs in a table run one after the other, in several rounds. Unless the text says otherwise, each run is a
whole process from start to exit. The tables show the median, and the lowest and highest value in parentheses. "Clock"
is the time that a user waits. "CPU" is the CPU time of all processes together (user and system). Other load on the
machine affects it less than the clock time.
"""
_ABOUT = {
    "audit": """This benchmark runs `latebind audit` on all wheels at once, with the default checks and with all checks.
It compares the audit with:

- "peers": `auditwheel show`, `delvewheel show`, `delocate-listdeps` and `abi3audit`, each on the wheels that it
  supports;
- "floor": plain Python code that decompresses every member with `zipfile` and hashes it with `hashlib`, in one
  thread.

To measure memory, the benchmark audits each wheel in a new worker process, and takes the peak of this process. The
"member in flight" is the largest member of the wheel.""",
    "latency": """The models are chains of 1, 5 and 10 Relu nodes. They are small (16 floats) or large (600 KB),
and have fixed or open shapes. In one process, `latenn.Model.run` and `InferenceSession.run` of the same runtime take
short turns to run each model, with different inputs in every call. "Bound" compares with `run_with_iobinding`. With
"one thread", the runtime uses only the thread that calls it. The ratio of a round is the median of its turns, and the
ratio of a row is the median of its rounds. Each row shows the model and runtime with the worst ratio.""",
    "pack": """This benchmark makes latenn's packages for all its targets; the native build is not timed.
`latebind pack` runs with an empty `dist/`, and again without changes. hatchling makes wheels with the same files by
`python -m build --wheel --no-isolation`, but no sdists, nupkgs or SBOMs. If the machine has a .NET SDK, `dotnet pack`
makes nupkgs with the same files.""",
    "startup": """This benchmark measures `import latebind` with `python -X importtime`, and `latebind --help` as
a whole process. It compares them with a process of the same Python that does nothing.""",
    "stub": """One C program is linked with the runtime, and the other with the stub `latebind::onnxruntime`.
For the first row, each program calls `GetAllocatorWithDefaultOptions` a million times in each of 20 turns, and the row
compares the fastest turns. The other rows compare the time until the stub's first call returns with the time of
`dlopen()`, `dlsym()` and the same call. Each round runs both programs.""",
}

_LARGE = """The next table shows each large model's time relative to `InferenceSession.run`. The "floor" is a run with
all values bound in advance, which measures the computation in the runtime alone. Apart from noise, no program can be
faster with this runtime."""


def main() -> None:
    """Write the sections of the results that are here; keep the others."""
    page = ROOT / "docs" / "bench.md"
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    for path in sorted((ROOT / "bench" / "results").glob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        title = _TITLES[path.stem]
        sections[title] = f"\n{_section(path.stem, document)}\n"
    written = [f"## {title}\n{sections[title]}" for title in _TITLES.values() if title in sections]
    page.write_text("\n".join([_INTRODUCTION, *(text.strip("\n") + "\n" for text in written)]), encoding="utf-8")


def _section(name: str, document: dict[str, Any]) -> str:
    machine, versions = document["machine"], document["versions"]
    where = (
        f"Measured on {machine['system']} {machine['processor']}, {machine['processors']} CPUs, Python "
        f"{machine['python']}, system load before the start {machine['load before'][0]}. Versions: "
        + ", ".join(f"{tool} {number}" for tool, number in versions.items())
        + "."
    )
    parts = [
        _ABOUT[name],
        *([_input(document["input"])] if "input" in document else []),
    ]
    if "contenders" in document:
        parts.append(_contenders(document["contenders"]))
    if claims := document.get("claims"):
        parts.append(_claims(claims))
    if name == "latency":
        parts += [_LARGE, _large(document["rows"])]
    if memory := document.get("memory"):
        worst = memory["worst"]
        parts.append(
            f"The worker for {worst['wheel']} came nearest to its memory limit: its peak was {_mb(worst['peak'])}, "
            f"and the largest member of the wheel is {_mb(worst['largest'])} in size."
        )
    parts += [f"Not run: {tool}: {reason}." for tool, reason in document.get("not run", {}).items()]
    return "\n\n".join([*parts, where]) + "\n"


def _contenders(contenders: dict[str, Any]) -> str:
    rows = [
        (name, *(_spread(row[key]) for key in ("wall", "cpu")), str(len(row["samples"])))
        for name, row in contenders.items()
    ]
    return table(("program", "clock, s", "CPU, s", "rounds"), rows)


def _claims(claims: list[dict[str, Any]]) -> str:
    lines = [(row["claim"], _measured(row), f"{row['at most']:g}", "yes" if row["met"] else "**no**") for row in claims]
    return table(("claim", "measured", "at most", "met"), lines)


def _large(rows: Sequence[dict[str, Any]]) -> str:
    """Of large models: the share of each, and what it would be if a run were nothing but the runtime's computing."""
    shares = {(row["what"], row["shape"], row["nodes"], row["runtime"]): row["wall"] for row in rows}
    found = sorted((runtime, shape, nodes) for what, shape, nodes, runtime in shares if what == "floor")
    lines = [
        (
            runtime,
            shape,
            str(nodes),
            *(_spread(shares[what, kind, nodes, runtime]) for what, kind in _columns(shape)),
        )
        for runtime, shape, nodes in found
    ]
    return table(("onnxruntime", "model", "nodes", "run", "run, open shape", "floor"), lines)


def _columns(shape: str) -> tuple[tuple[str, str], ...]:
    return ("run", shape), ("run", f"open, {shape}"), ("floor", shape)


def _measured(row: dict[str, Any]) -> str:
    spread = f" ({row['least']:.2f}-{row['most']:.2f})" if "least" in row else ""
    return f"{row['measured']:.2f}{spread}"


def _input(facts: dict[str, int]) -> str:
    noun = "wheels" if "wheels" in facts else "packages"
    text = f"Input: {facts[noun]} {noun}, {_mb(facts['bytes'])}"
    return text + (f", {_mb(facts['inflated'])} decompressed." if "inflated" in facts else ".")


def _mb(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 10**7 else f"{size / 1e6:.1f} MB"


def _spread(row: dict[str, float]) -> str:
    return f"{row['median']:.2f} ({row['least']:.2f}-{row['most']:.2f})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
