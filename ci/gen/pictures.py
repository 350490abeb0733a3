"""Draws what the site's tables say as pictures: SVG whose text stays text, for light and dark pages."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from ci.gen.places import read_places
from ci.gen.verified import TITLES, read_verified
from latebind.backend.targets import targets
from latebind.model import State
from latebind.verify.report.view import MARKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parents[2]
_INK, _FAINT, _GROUND, _OURS, _OTHERS = "#1f2328", "#57606a", "#f6f8fa", "#0969da", "#9198a1"
DARK = {_INK: "#e6edf3", _FAINT: "#9da7b3", _GROUND: "#161b22", _OURS: "#58a6ff", _OTHERS: "#6e7681"}
"""The colors of light pages, and what they become on dark ones."""
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _INK,
    "ytick.color": _INK,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.05,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "latebind",
}
_ROW = re.compile(r"^\| ([^|]+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)
_MEASURED = ("larger than the linked program, kB", "a call, ns", "the first call, µs")
"""The rows that are drawn of the page's table about a C library."""
_CELLS = {
    State.PASSED: (_GROUND, _OURS, "passed: the runtime itself, on the system itself"),
    State.EMULATED: (_OURS, _GROUND, "passed emulated: the runtime itself, with qemu or wine"),
    State.GLUE: (_FAINT, _GROUND, "the package's machine code, with a stand-in for the runtime"),
    State.NOT_RUN: (_FAINT, "", "not run; where nothing is drawn, there is no test case"),
}
"""How an outcome is drawn: the colors of its mark and of the box, and what it means."""
_TRUST = {
    "named": "used as it is",
    "host": "trusted as the host trusts it",
    "running": "its code runs here already",
    "judged": "only if trusted users alone can change it",
    "folder": "judged by the folder",
}
"""What the trust of a place in loader/tables/places.toml means, in a line."""


def draw_search_order() -> str:
    """The places where a runtime is looked for, from first to last, and when each is trusted."""
    places = read_places()["place"]
    figure, axes = _make_axes(3.7, 0.46 * len(places))
    axes.set(xlim=(0, 100), ylim=(len(places), 0))
    for number, place in enumerate(places):
        middle, trust = number + 0.5, place["trust"]
        box = {"boxstyle": "round,pad=0.45", "facecolor": _GROUND, "edgecolor": _OURS if trust == "named" else _OTHERS}
        axes.text(6, middle, place["source"], va="center", family="monospace", bbox=box)
        axes.text(37, middle - 0.17, place["drawn"], va="center")
        axes.text(37, middle + 0.22, _TRUST[trust], va="center", color=_FAINT, size=8)
        if number:
            line = {"arrowstyle": "->", "color": _OTHERS}
            axes.annotate("", (1, middle + 0.12), (1, middle - 0.88), arrowprops=line)
    return _write(figure)


def draw_audit_times() -> str:
    """How long the audit and its peers take for the same wheels, from docs/bench.md."""
    section = (ROOT / "docs" / "bench.md").read_text("utf-8").partition("## The audit compared")[2]
    rows = [(name, float(clock)) for name, clock, _ in _ROW.findall(section.partition("| claim")[0])]
    figure, axes = _make_axes(3, 0.34 * len(rows))
    names, clocks = [name for name, _ in rows], [clock for _, clock in rows]
    colors = [_OTHERS if name in ("floor", "peers") else _OURS for name in names]
    bars = axes.barh(names, clocks, color=colors, height=0.62)
    axes.bar_label(bars, [f"{clock:.1f} s" for clock in clocks], padding=4)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.set_axis_on()
    axes.spines[:].set_visible(False)
    axes.set_xticks([])
    axes.set_xlim(0, max(clocks) * 1.12)
    axes.invert_yaxis()
    return _write(figure)


def draw_library() -> str:
    """What binding a C library late costs beside linking it and Implib.so, from docs/bench.md."""
    section = (ROOT / "docs" / "bench.md").read_text("utf-8").partition("## A C library:")[2]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    ways = next(line for line in lines if line[0] == "linked")
    measured = {name: numbers for name, *numbers in lines if name in _MEASURED}
    figure, axes = _make_axes(3, 0.3 * len(measured) * (len(ways) + 1))
    axes.set(xlim=(0, 100), ylim=(len(measured) * (len(ways) + 1) - 0.6, -0.7))
    for group, (name, numbers) in enumerate(measured.items()):
        top, most = group * (len(ways) + 1), max(map(float, numbers))
        axes.text(0, top - 0.1, name, va="center", weight="bold")
        for row, (way, number) in enumerate(zip(ways, numbers, strict=True), top + 1):
            width = 55 * float(number) / most
            axes.text(23, row - 0.2, way, va="center", ha="right")
            axes.barh(row - 0.2, width, left=25, height=0.62, color=_OURS if way == "late" else _OTHERS)
            axes.text(26.5 + width, row - 0.2, number, va="center")
    return _write(figure)


def draw_verified() -> str:
    """On which target which version of a runtime passed, and how: a column for each target."""
    rows = read_verified()
    rids = [rid for rid in targets() if any(rid in outcomes for outcomes in rows.values())]
    lines: list[str | tuple[str, str]] = []
    for runtime, title in TITLES.items():
        lines += [title, *(row for row in rows if row[0] == runtime)]
    figure, axes = _make_axes(0.55 * len(rids) + 0.5, 0.2 * (len(lines) + len(_CELLS) + 4))
    axes.set(xlim=(-1, len(rids)), ylim=(len(lines) + len(_CELLS) + 1, -3))
    for column, rid in enumerate(rids):
        axes.text(column + 0.5, -0.4, rid.replace("-", "\n"), va="bottom", ha="center", size=8)
    for height, line in enumerate(lines):
        if isinstance(line, str):
            axes.text(-1, height, line, va="center", weight="bold")
            continue
        axes.text(-0.1, height, line[1], va="center", ha="right")
        for column, rid in enumerate(rids):
            _draw_cell(axes, column + 0.5, height, rows[line].get(rid))
    for height, (state, (_, _, meaning)) in enumerate(_CELLS.items(), len(lines) + 1):
        _draw_cell(axes, -0.5, height, state)
        axes.text(0.1, height, meaning, va="center", size=8)
    return _write(figure)


def _draw_cell(axes: Axes, x: float, y: float, state: State | None) -> None:
    """The mark of an outcome, in a box if something ran; nothing for no test case."""
    if state:
        ink, ground, _ = _CELLS[state]
        box = {"boxstyle": "round,pad=0.2", "facecolor": ground, "edgecolor": ink if ground == _GROUND else ground}
        axes.text(x, y, MARKS[state], va="center", ha="center", color=ink, size=8, bbox=box if ground else None)


def _make_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """A picture of this size in inches, which is all of it drawn on."""
    mpl.rcParams.update(_STYLE)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return figure, axes


def _write(figure: Figure) -> str:
    """The picture without a date, and with the colors of dark pages where the reader's is dark."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Creator": None, "Date": None})
    rules = "".join(
        f'[style*="{key}: {light}"]{{{key}:{dark}!important}}'
        for light, dark in DARK.items()
        for key in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style></svg>"
    return stream.getvalue().replace("</svg>", style)
