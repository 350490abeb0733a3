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
    "audit": "The audit, its peers, and bare reading",
    "latency": "latenn's runs compared with onnxruntime's own",
    "pack": "Packing",
    "startup": "Start-up",
    "stub": "The stub compared with a linked ONNX Runtime",
}
_INTRODUCTION = """# Benchmarks

`python3 noxfile.py -s bench` measures again and rewrites this page.

The contenders of a table run in turns, round by round. Each run is a whole process from start to exit unless the text
says otherwise, and the medians count. "Clock" is the time that a user waits; "CPU" is the CPU time of all processes
together (user and system), which a busy machine distorts less.
"""
_ABOUT = {
    "audit": """`latebind audit` of all wheels at once, by default and with all checks, compared with `auditwheel show`,
`delvewheel show`, `delocate-listdeps` and `abi3audit`, each on the wheels that it is made for, and with plain Python
that inflates every member with `zipfile` and hashes it with `hashlib`, in one thread. The memory is
the peak of a fresh worker for each wheel; the member in flight is the largest of the wheel.""",
    "latency": """Chains of 1, 5 and 10 Relu, small (16 floats) and large (600 KB), of fixed and of open shapes, each
by `latenn.Model.run` and by `InferenceSession.run` of the same runtime in one process, in short turns, on inputs that
change with every call; "bound" is compared with `run_with_iobinding`; "one thread" means that the runtime uses only the
thread that called it. The ratio of a round is the median of those of its turns, that of a row the median of the rounds;
the spread is that of the rounds. The worst model and runtime of a row counts.""",
    "pack": """latenn's packages for all staged targets: `latebind pack` with an empty `dist/`, and again with nothing
changed. Plain hatchling makes each of the same wheels from the same files by `python -m build --wheel
--no-isolation`: no sdist, no nupkg, no SBOM. `dotnet pack` makes each nupkg of the same files, where
there is an SDK.""",
    "startup": """`import latebind`, as `python -X importtime` reports it, and `latebind --help` as a whole process,
compared with one of the same Python that does nothing.""",
    "stub": """A C program, linked with the runtime and with `latebind::onnxruntime`: the best of 20 turns of a million
calls of `GetAllocatorWithDefaultOptions`; and the time until the first has returned, compared with `dlopen()`,
`dlsym()` and the same call. Each round runs both, one after the other.""",
}

_LARGE = """Each of the large models by itself, as a share of `InferenceSession.run`. The floor is a run with everything
bound for good, in which nothing is left but the runtime's computing: no caller of this runtime gets below it."""


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
        f"Taken on {machine['system']} {machine['processor']}, {machine['processors']} processors, Python "
        f"{machine['python']}, load before the start {machine['load before'][0]}; "
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
            f"Nearest to its memory: {worst['wheel']}, a peak of {_mb(worst['peak'])} with a member of "
            f"{_mb(worst['largest'])}."
        )
    parts += [f"Not run: {tool}: {reason}." for tool, reason in document.get("not run", {}).items()]
    return "\n\n".join([*parts, where]) + "\n"


def _contenders(contenders: dict[str, Any]) -> str:
    rows = [
        (name, *(_spread(row[key]) for key in ("wall", "cpu")), str(len(row["samples"])))
        for name, row in contenders.items()
    ]
    return table(("what", "clock, s", "CPU, s", "rounds"), rows)


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
    return text + (f", {_mb(facts['inflated'])} inflated." if "inflated" in facts else ".")


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
