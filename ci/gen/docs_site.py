"""Adds to the documentation site the pages that are not in docs/, and points links that leave it at the repository.

It also adds questions to the search (asked.py), names the columns in the cells of wide tables, for phones, makes no
head of an empty cell, and marks short code.

A hook of mkdocs (mkdocs.yml). A relative link means the same in the repository and on the site: to a page it stays a
link between pages, to any other file it leads to the repository. What leads nowhere is a warning: it fails the build.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from ci.gen import (  # noqa: E402
    clients_page,
    reference_c,
    reference_cli,
    reference_dotnet,
    sabotage_page,
)
from ci.gen.asked import add_messages, add_questions  # noqa: E402
from ci.gen.pictures import draw_audit_times, draw_library, draw_search_order, draw_verified  # noqa: E402
from ci.gen.reference_checks import check_pages  # noqa: E402
from ci.gen.reference_scenarios import scenarios_page  # noqa: E402
from ci.gen.session import draw_session  # noqa: E402
from latebind.verify.report.data import verify_schema  # noqa: E402
from loadcheck.api import audit_schema  # noqa: E402

sys.path.insert(0, str(ROOT / "loadcheck"))
from accuracy import census, peers_page, rounds  # noqa: E402

REPOSITORY = "https://github.com/latebind/latebind"
PLACED = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "latenn/docs/onnxruntime-options.md": "howto/onnxruntime-options.md",
    "latenn/docs/python.md": "reference/python.md",
    "loadcheck/docs/truth.md": "truth.md",
    "loader/README.md": "loader.md",
}
"""Files of the repository that are pages of the site, and where."""

_RECORDS = "decisions/0"
_EVIDENCE = ("census.md", "clients.md", "compare.md", "sabotage.md", "truth.md")  # tables with words of messages
CHECKS = "checks/index.md"
"""The list of checks. A link `[LB101](checks/index.md)` leads to the check's own page on the site."""
_CHECK = re.compile(r"\[(LB\d{3})\]\(")
_CHECK_ROW = re.compile(r"^\| (LB\d{3}) \|", re.MULTILINE)
_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
_BLOCK = re.compile(r"^(`{3,})[^\n]*\n.*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"`[^`\n]+`|<([a-z]+)>")  # a place to be filled in: no page holds HTML
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_EMPTY_HEAD = re.compile(r"<th\b([^>]*)>\s*</th>")
_CELL = re.compile(r"<td\b")
_SHORT_CODE = re.compile(r"(?<!<pre>)<code>(?=[^<]{1,24}</code>)")
_TAG = re.compile(r"<[^>]+>")
_LOG = logging.getLogger("mkdocs.hooks.latebind")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are elsewhere in the repository, and the reference."""
    placed = {path: (ROOT / source).read_text("utf-8") for source, path in PLACED.items()}
    for path, text in {**placed, **generate_pages()}.items():
        if files.get_file_from_path(path) is None:
            files.append(File.generated(config, path, content=text))
    return files


@cache
def generate_pages() -> Mapping[str, str]:
    """The pages, schemas and pictures that only the site has, by their path on it."""
    modules = {"c": reference_c, "cli": reference_cli, "dotnet": reference_dotnet}
    measured = {
        "census.md": census.page() + rounds.page(),
        "compare.md": peers_page.page(),
        "clients.md": clients_page.page(),
        "sabotage.md": sabotage_page.page(),
    }
    reference = {f"reference/{name}.md": module.page().rstrip() + "\n" for name, module in modules.items()}
    schemas = {"audit": audit_schema(), "verify": verify_schema()}
    texts = {
        f"schema/{name}.schema.json": json.dumps(schema, indent=2, sort_keys=True) for name, schema in schemas.items()
    }
    drawn = {
        "audit": draw_audit_times(),
        "library": draw_library(),
        "search-order": draw_search_order(),
        "session": draw_session(),
        "verified": draw_verified(),
    }
    pictures = {f"img/{name}.svg": text for name, text in drawn.items()}
    return {**reference, **measured, "scenarios.md": scenarios_page(), **check_pages(), **texts, **pictures}


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """The page with every link right for the site. The search leaves out decisions, and finds evidence last."""
    here = page.file.src_uri
    if here.startswith(_RECORDS):
        page.meta["search"] = {"exclude": True}
    elif here in _EVIDENCE:
        page.meta["search"] = {"boost": 0.4}
    placed = placed_links(markdown, here, lambda why: _LOG.warning("%s: %s", here, why))
    return _CHECK_ROW.sub(r"| [\1](\1.md) |", placed) if here == CHECKS else placed


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """The page whose wide tables name the column in each cell: on a phone a row is a block, without the head.

    An empty head is a plain cell: a screen reader would announce a column without a name. A line does not break in
    short code, such as an option after its hyphens.
    """
    labelled = _TABLE.sub(lambda table: _EMPTY_HEAD.sub(r"<td\1></td>", label_cells(table[0])), html)
    return _SHORT_CODE.sub('<code class="short">', labelled)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Add to the search what people ask. mkdocs calls hooks after plugins, so the index is there."""
    file = Path(config.site_dir) / "search" / "search_index.json"
    index = json.loads(file.read_text("utf-8"))
    try:
        add_questions(index)
    except KeyError as error:
        _LOG.warning("asked.json has questions about sections that are gone: %s", error.args[0])
    file.write_text(json.dumps(index, separators=(",", ":")), "utf-8")
    script = Path(config.site_dir) / "search.js"
    script.write_text(add_messages(script.read_text("utf-8")), "utf-8")


def label_cells(table: str) -> str:
    """A table with the head of its column as `data-label` of each cell after the first, if it has three or more."""
    heads = [_TAG.sub("", text) for text in _HEAD.findall(table)]
    if len(heads) < 3:  # noqa: PLR2004  # a name and what it is need no label
        return table

    def row(match: re.Match[str]) -> str:
        names = iter(["", *heads[1:]])
        return _CELL.sub(lambda cell: f'<td data-label="{name}"' if (name := next(names, "")) else cell[0], match[0])

    return _ROW.sub(row, table)


def placed_links(markdown: str, here: str, warn: Callable[[str], object]) -> str:
    """Replace the links outside blocks of code, and show `<rid>` as it is; `here` is the page's path on the site."""
    origin = next((source for source, path in PLACED.items() if path == here), f"docs/{here}")

    def replace_link(match: re.Match[str]) -> str:
        link = _place_link(match[2], origin, here, warn)
        if (check := _CHECK.fullmatch(match[1])) and link.endswith(CHECKS):
            link = link.removesuffix("index.md") + f"{check[1]}.md"
        return f"{match[1]}{link}{match[3]}"

    def prose(text: str) -> str:
        linked = _LINK.sub(replace_link, text)
        return _WORD.sub(lambda match: f"&lt;{match[1]}>" if match[1] else match[0], linked)

    parts, end = [], 0
    for code in _BLOCK.finditer(markdown):
        parts += [prose(markdown[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, prose(markdown[end:])])


def _place_link(link: str, origin: str, here: str, warn: Callable[[str], object]) -> str:
    """One link of the file `origin`, whose page is `here`."""
    path, mark, anchor = link.partition("#")
    if re.match(r"[a-z]+:", link) or not path:
        return link
    target = os.path.normpath(os.path.join(os.path.dirname(origin), path)).replace(os.sep, "/")  # noqa: PTH118, PTH120
    if not (ROOT / target).exists() and target.removeprefix("docs/") not in generate_pages():
        warn(f"the link {link} leads to {target}, which is not there")
        return link
    if target in PLACED or target.startswith("docs/"):
        page = PLACED.get(target, target.removeprefix("docs/"))
        return os.path.relpath(page, os.path.dirname(here) or ".").replace(os.sep, "/") + mark + anchor  # noqa: PTH120
    kind = "tree" if (ROOT / target).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{target}{mark}{anchor}"
