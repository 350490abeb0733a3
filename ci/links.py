"""Checks the links of the built site with lychee: each leads somewhere, and one leads to each page.

    python -m ci.links SITE

Before it, mkdocs checks the links in Markdown. This reads the HTML: also links that were written as HTML, those that
the theme, the hooks and mkdocstrings make, images, styles and scripts. It asks no server: addresses elsewhere are
counted as not checked. Exit status: 0, or 1 with faults.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPTIONS = (
    *("--offline", "--extensions", "html", "--index-files", "index.html", "--include-fragments=anchor-only"),
    "--include-verbatim",  # scripts
    *("--no-progress", "--format", "json", "--verbose"),  # also what is there
)
_DEAD_LINKS = 2
"""An exit status of lychee."""
_SENT_UNASKED = "404.html"
"""The page to which no link has to lead."""


class _Status(msgspec.Struct):
    text: str


class _Link(msgspec.Struct):
    url: str
    status: _Status


class _Answer(msgspec.Struct):
    """The links of each page, by the page's path in the site."""

    success_map: dict[str, list[_Link]]
    error_map: dict[str, list[_Link]]
    excluded_map: dict[str, list[_Link]]


@dataclass(frozen=True)
class LinkReport:
    """What is wrong, how many pages and links were read, and how many addresses elsewhere were not checked."""

    faults: tuple[str, ...]
    pages: int
    links: int
    unchecked: int


def check_links(site: Path) -> LinkReport:
    """Check the pages in the folder of a site. Raises SystemExit where lychee cannot read them."""
    site = site.resolve()
    answer = _ask_lychee(site)
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")}
    found = {(page, _locate(link, site)) for page, link in _list_links(answer.success_map)}
    linked = {target for page, target in found if target != page}
    dead = _list_links(answer.error_map)
    faults = [
        *(f"{page}: {link.url.removeprefix(f'{site.as_uri()}/')}: {link.status.text}" for page, link in dead),
        *(f"{page}: {target}: outside the site" for page, target in found if target.startswith("..")),
        *(f"{page}: no other page links to it" for page in pages - linked - {_SENT_UNASKED}),
    ]
    elsewhere = {link.url for _, link in _list_links(answer.excluded_map) if link.url.startswith("http")}
    links = len(dead) + len(_list_links(answer.success_map))
    return LinkReport(tuple(sorted(faults)), len(pages), links, len(elsewhere))


def _ask_lychee(site: Path) -> _Answer:
    program = Path(sysconfig.get_path("scripts")) / "lychee"
    command = (program, *_OPTIONS, "--root-dir", site, ".")
    done = subprocess.run(command, cwd=site, check=False, capture_output=True, encoding="utf-8")
    if done.returncode not in {0, _DEAD_LINKS}:
        raise SystemExit(f"lychee ended with {done.returncode}: {done.stderr}")
    return msgspec.json.decode(done.stdout, type=_Answer)


def _list_links(links_of: Mapping[str, list[_Link]]) -> list[tuple[str, _Link]]:
    """Each link after its page."""
    return [(Path(page).as_posix(), link) for page, links in links_of.items() for link in links]


def _locate(link: _Link, site: Path) -> str:
    """The path of a file from the folder of the site."""
    return Path(os.path.relpath(url2pathname(urlsplit(link.url).path), site)).as_posix()


def main() -> int:
    """Check, and print what is wrong."""
    report = check_links(Path(sys.argv[1]))
    print("\n".join([*report.faults, ""]), end="")
    summary = f"{report.pages} pages with {report.links} links: {len(report.faults)} faults"
    print(f"{summary}; {report.unchecked} addresses elsewhere not checked")
    return 1 if report.faults or not report.pages else 0


if __name__ == "__main__":
    raise SystemExit(main())
