"""The picture of latebind's rooms, from the layers in pyproject.toml: docs/img/rooms.svg."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
_WITHOUT_PROCESSES = ("audit", "binary")
_NOTES = {
    ("cli", "release"): ("the edge", "arguments, printing,", "exit status"),
    ("build", "plan"): ("the work", "rooms of one layer do not", "know each other; those", "in blue start no program"),
    ("config", "config"): (
        "what is asked for",
        "latebind.toml, read and checked;",
        "binaries as one Image",
    ),
    ("tables", "model"): (
        "the ground floor",
        "platforms and runtimes as tables,",
        "processes and files,",
        "frozen nouns, errors with advice",
    ),
}
"""From the layer of one room to that of another: a heading, and lines."""
_LEFT, _WIDTH, _TOP, _HEIGHT, _STEP = 8, 520, 8, 44, 68
_NARROW = 96
_GREY, _BLUE, _INK = "#768390", "#1f6feb", "#1f2328"
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" width="760" height="{height}" role="img" '
    "aria-labelledby=\"title desc\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\" "
    'font-size="14">'
)
_TOLD = (
    '  <desc id="desc">{count} layers. Each imports only from layers below it; rooms of one layer do not know each '
    "other. {rooms} never import run.</desc>"
)
_ARROWS = f"""  <defs>
    <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10"
            markerUnits="userSpaceOnUse" orient="auto">
      <path d="M0 0 8 4 0 8z" fill="{_GREY}"/>
    </marker>
  </defs>"""


def outputs() -> dict[str, str]:
    """The picture, by its path in the repository."""
    project = msgspec.toml.decode((ROOT / "pyproject.toml").read_bytes())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    return {"docs/img/rooms.svg": picture([[_short(name) for name in layer.split("|")] for layer in layers])}


def picture(layers: list[list[str]]) -> str:
    """The layers from the top down, each with its rooms side by side, as SVG."""
    height = _TOP * 2 + _STEP * (len(layers) - 1) + _HEIGHT
    parts = [
        _HEAD.format(height=height),
        '  <title id="title">The rooms of latebind and who may import whom</title>',
        _TOLD.format(count=len(layers), rooms=" and ".join(_WITHOUT_PROCESSES)),
        _ARROWS,
        f'  <g fill="none" stroke="{_GREY}" stroke-width="2" marker-end="url(#head)">',
        *(f'    <path d="M268 {_y(row) + _HEIGHT}V{_y(below) - 4}"/>' for row, below in pairwise(range(len(layers)))),
        "  </g>",
        f'  <g fill="#f6f8fa" stroke="{_GREY}" stroke-width="1.5">',
        *(_room(name, *place) for name, *place in _places(layers)),
        *(_frame(*_span(layers, *ends)) for ends in _NOTES),
        "  </g>",
        f'  <g fill="{_INK}" text-anchor="middle" font-weight="600">',
        *(_label(name, *place) for name, *place in _places(layers)),
        "  </g>",
        f'  <g fill="{_INK}" font-size="13">',
        *(line for ends, texts in _NOTES.items() for line in _note(_span(layers, *ends)[0], texts)),
        "  </g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _short(name: str) -> str:
    return name.strip().removeprefix("latebind.")


def _y(row: int) -> int:
    return _TOP + _STEP * row


def _places(layers: list[list[str]]) -> Iterator[tuple[str, int, int, int]]:
    """Each room with its left edge, top and width."""
    for row, names in enumerate(layers):
        gap = 10 if len(names) < 6 else 5  # noqa: PLR2004  # many are narrow
        width = (_WIDTH - gap * (len(names) - 1)) // len(names)
        for column, name in enumerate(names):
            yield name, _LEFT + column * (width + gap), _y(row), width


def _room(name: str, left: int, top: int, width: int) -> str:
    marked = f' stroke="{_BLUE}" stroke-width="2.5"' if name in _WITHOUT_PROCESSES else ""
    return f'    <rect x="{left}" y="{top}" width="{width}" height="{_HEIGHT}" rx="6"{marked}/>'


def _label(name: str, left: int, top: int, width: int) -> str:
    size = ' font-size="11"' if width < _NARROW else ""
    return f'    <text x="{left + width // 2}" y="{top + 27}"{size}>{escape(name)}</text>'


def _span(layers: list[list[str]], first: str, last: str) -> tuple[int, int]:
    """Top and bottom of the layers from that of one room to that of another."""
    rows = [next(row for row, names in enumerate(layers) if name in names) for name in (first, last)]
    return _y(rows[0]), _y(rows[1]) + _HEIGHT


def _frame(top: int, bottom: int) -> str:
    return f'    <rect x="552" y="{top}" width="200" height="{bottom - top}" rx="6"/>'


def _note(top: int, texts: tuple[str, ...]) -> Iterator[str]:
    for line, text in enumerate(texts):
        weight = "" if line else ' font-weight="600"'
        yield f'    <text x="564" y="{top + 26 + line * 20 + (4 if line else 0)}"{weight}>{escape(text)}</text>'
