"""The section of a changelog that is about one version, in the form of Keep a Changelog; writes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from latebind.config.config import Config

_HEADING = re.compile(r"^## +\[?(?P<title>[^\]\s]+)\]?(?P<rest>.*)$", re.MULTILINE)
_NO_ENTRY = re.compile(r"<!--(?s:.*?)-->|^ {0,3}(?:#{1,6}(?:[ \t].*)?|\[[^\]]+\]:.*|[-=*+_> \t]*)$", re.MULTILINE)
"""Comments, headings, targets of links, rules and markers of lists without text."""
_DATE = re.compile(r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)")
UNRELEASED = "Unreleased"


@dataclass(frozen=True, slots=True)
class Section:
    """What a changelog has about a version: what its heading says after the version, and the text below it."""

    rest: str = ""
    body: str = ""


def find_section(text: str, title: str) -> Section | None:
    """The section below `## [title]`; None when there is none."""
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings), len(text)][1:]
    for heading, end in zip(headings, ends, strict=True):
        if heading["title"].casefold() == title.casefold():
            return Section(heading["rest"].rstrip(), text[heading.end() : end].strip())
    return None


def release_notes(config: Config, text: str) -> str:
    """The changelog of a release: the version's section, else what is not released yet, as the heading then says."""
    project = config.project
    section = find_section(text, project.version)
    if section is not None:
        return f"# {project.name} {project.version}{section.rest}\n\n{section.body}\n"
    unreleased = find_section(text, UNRELEASED) or Section()
    return f"# {project.name} {project.version}, {UNRELEASED.lower()}\n\n{unreleased.body}\n"


def find_faults(config: Config, notes: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the notes of a release, and what to do: no section, no entry, a date that does not exist."""
    project, (heading, _, body) = config.project, notes.partition("\n")
    rest = heading.removeprefix(f"# {project.name} {project.version}")
    if rest == f", {UNRELEASED.lower()}":
        yield f"has no section [{project.version}]", f"Write one: ## [{project.version}] - DATE."
        return
    if not _NO_ENTRY.sub("", body).strip():
        yield (
            f"has no entry in the section [{project.version}]",
            f"Write below ## [{project.version}] what changed for users, such as: - Adds numbers faster.",
        )
    for match in _DATE.finditer(rest):
        try:
            date(*(int(match[part]) for part in ("year", "month", "day")))
        except ValueError:
            yield (
                f"says {match[0]} in the heading of [{project.version}], a day that does not exist",
                f"Correct the date: ## [{project.version}] - YEAR-MONTH-DAY.",
            )
