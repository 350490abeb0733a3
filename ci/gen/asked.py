"""Adds to the site's search what people ask whose answer is a section, in words that the section doesn't use.

asked.json has, for each page and section, questions by people who had read the section, but not the queries by which
the search is judged (tests/ci/queries.json). They are searched and not shown.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latebind.tables.messages import sections

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = Path(__file__).with_name("asked.json")
_WHOLE_PAGE = 0.4
"""The weight of a page's beginning, which the theme's search counts for up to five times a section."""
_ASKED = 5
"""The weight of the questions, beside those of titles and texts in mkdocs.yml."""
_TAG = re.compile(r"<[^>]+>")


def questions() -> Mapping[str, list[str]]:
    """The questions by the section's place on the site: `howto/audit.html#see-what-loads-what`."""
    pages = json.loads(_FILE.read_text("utf-8"))
    return {
        f"{page.removesuffix('.md')}.html{'#' if section else ''}{section}": asked
        for page, sections in pages.items()
        for section, asked in sections.items()
    }


def add_questions(index: dict[str, Any]) -> None:
    """Give each entry of the index its questions, in a field of their own: the theme's search takes any fields.

    An entry has its title there as well, so that a title counts with the questions. A page whose sections are
    answers has none: its introduction answers nothing. Raises KeyError for questions about a section that is gone.
    """
    asked = dict(questions())
    collections = {place.partition("#")[0] for place in asked} - asked.keys()
    fields = index["config"]["fields"]
    fields["asked"] = {"boost": _ASKED}
    for entry in index["docs"]:
        place = entry["location"]
        if "#" not in place:
            entry["boost"] = entry.get("boost", 1) * _WHOLE_PAGE
        if place not in collections:
            entry["asked"] = " . ".join([html.unescape(_TAG.sub("", entry["title"])), *asked.pop(place, [])])
    if asked:
        raise KeyError(", ".join(asked))


def add_messages(script: str) -> str:
    """search.js with the expressions by which `latebind doctor --message` finds a section: they find it here, too."""
    rows = [(section.patterns, section.title.replace("`", "")) for section in sections()]
    return script.replace("const MESSAGES = [];", f"const MESSAGES = {json.dumps(rows)};")
