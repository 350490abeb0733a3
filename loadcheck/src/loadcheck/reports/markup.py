"""Makes HTML of elements, so that no text of a package can be markup, and one page that runs its own scripts alone."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # written here, never parsed

from loadcheck.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

_ASSETS = Path(__file__).with_name("assets")
_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
$title
<style>
$style</style>
</head>
$body
$data
$scripts
</html>
""")
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*\n?", re.MULTILINE)


def element(tag: str, *children: ET.Element | str | None, **attributes: str) -> ET.Element:
    """An element with texts and elements in it; None adds nothing. `class_` is the attribute `class`."""
    made = ET.Element(tag, {name.rstrip("_").replace("_", "-"): printable(text) for name, text in attributes.items()})
    for child in children:
        if isinstance(child, ET.Element):
            made.append(child)
        elif child and len(made):
            made[-1].tail = f"{made[-1].tail or ''}{printable(child)}"
        elif child:
            made.text = f"{made.text or ''}{printable(child)}"
    return made


def listed(items: Iterable[ET.Element | str], **attributes: str) -> ET.Element:
    """A list."""
    return element("ul", *(element("li", item) for item in items), **attributes)


def folded(summary: str, *children: ET.Element | None, is_open: bool = False) -> ET.Element:
    """What a click shows."""
    return element("details", element("summary", summary), *children, **({"open": ""} if is_open else {}))


def render_document(title: str, body: ET.Element, data: object) -> str:
    """The page. `data` is what its script reads; it has the stylesheet and the scripts of `assets/` in it."""
    scripts = [_read_dagre(), _read("report.js")]
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return _PAGE.substitute(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}",
        title=_serialize(element("title", title)),
        style=_read("report.css"),
        body=_serialize(body),
        data=f'<script type="application/json" id="data">{script_json(data)}</script>',
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def script_json(data: object) -> str:
    """JSON that is safe inside a script element.

    Only `<` could end the element or begin a comment in it (HTML, "Restrictions for contents of script elements").
    """
    return json.dumps(_clean(data)).replace("<", "\\u003c")


def _clean(data: object) -> object:
    """The same without control characters, and without what is no character at all."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, dict):
        return {key: _clean(value) for key, value in data.items()}
    return [_clean(value) for value in data] if isinstance(data, (list, tuple)) else data


def _serialize(tree: ET.Element) -> str:
    return ET.tostring(tree, encoding="unicode", method="html")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _read(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


def _read_dagre() -> str:
    """The library that arranges the graph, with its license. A browser may change control characters in a page."""
    license_text = _read("dagre.LICENSE.txt").strip()
    code = _SOURCE_MAP.sub("", _read("dagre.min.js")).replace("\x01", "\\x01")
    return f"\n/* @dagrejs/dagre\n\n{license_text}\n*/\n{code}"
