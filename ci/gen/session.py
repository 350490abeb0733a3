"""Draws the session that the README shows as a picture of a terminal, for the first page of the site."""

from __future__ import annotations

import io

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from ci.tutorial import README, commands, find_recording

_THEME = TerminalTheme(
    (22, 27, 34), (230, 237, 243),
    [(22, 27, 34), (255, 123, 114), (86, 211, 100), (227, 179, 65), (88, 166, 255), (188, 140, 255), (57, 197, 207),
     (230, 237, 243)],
)  # fmt: skip
_FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {terminal_width} {terminal_height}" role="img">
<title>latebind in a terminal</title>
<style>
text {{ font: {char_height}px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }}
{styles}
</style>
<rect width="{terminal_width}" height="{terminal_height}" rx="8" fill="#161b22"/>
<g transform="translate(9, 9)">{backgrounds}{matrix}</g>
</svg>
"""
"""Rich's own format loads a font from a server."""


def draw_session() -> str:
    """The commands of the README and what they print, as SVG: text on a dark ground, with the prompts in bold."""
    readme = README.read_text("utf-8")
    [created] = [line for block in commands(readme) for line in block.splitlines() if line.startswith("latebind new")]
    lines = [f"$ {created}", "", *find_recording(readme).splitlines(), ""]  # Rich leaves no room for the last line
    console = Console(record=True, width=max(map(len, lines)) + 2, file=io.StringIO())
    for line in lines:
        text = Text(line, style="bold" if line.startswith("$ ") else "")
        text.highlight_regex(r"^\$", "bold cyan")
        text.highlight_regex(r"^passed|\b\d+ passed|0 errors", "green")
        console.print(text)
    return console.export_svg(theme=_THEME, code_format=_FORMAT, unique_id="session")
