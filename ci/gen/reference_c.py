"""The reference page of the C headers: declarations with the comments above them, as the headers have them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.gen.reference_text import escape_markdown
from latebind.tables.presets import presets

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
LOADER = ROOT / "loader" / "include" / "latebind"
LATENN = ROOT / "latenn" / "native" / "include"

_HEAD = """\
<!-- Made by ci/gen/docs_site.py from the headers. -->

# C headers

What each function promises is above it, here as in the headers. What is not on this page is not public, but for
`latebind/latebind.hpp`, which wraps the loader for C++11.

"""
_DIVIDER = re.compile(r"/\* -{4,} (.+?) -{4,} \*/")
_NAMES = (
    re.compile(r"^typedef [^{]*?\(\s*(?:\w+\s*)?\*\s*(\w+)\s*\)"),
    re.compile(r"^enum \{\s*([A-Z]+_[A-Z]+)"),  # without a name: what its members begin with
    re.compile(r"^typedef (?:struct|enum|union) (\w+)"),
    re.compile(r"^typedef .*?(\w+);$", re.DOTALL),
    re.compile(r"^#define (\w+)"),
    re.compile(r"^[^({]*?(\w+)\s*\("),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A declaration with its comment; or the title of a part, which has no text."""

    name: str
    text: str = ""
    comment: str = ""


def page() -> str:
    """The page."""
    headers = (LOADER / "latebind.h", LOADER / "stub.h", LATENN / "latenn.h", LATENN / "latenn_backend.h")
    return "\n".join([_HEAD, *map(_header, headers), _runtimes(), _ort()])


def items(text: str) -> Iterator[Item]:
    """The declarations of a header, in order. A header is well-formed: clang-format and the compiler have seen it."""
    comment: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if divider := _DIVIDER.fullmatch(line):
            yield Item(name=divider[1][:1].upper() + divider[1][1:])
            comment = []
        elif line.startswith("/*"):
            comment = [line]
            while "*/" not in line:
                line = next(lines)  # noqa: PLW2901  # the comment's own lines
                comment.append(line)
        elif line.startswith("#") and line.endswith("\\"):
            while line.endswith("\\"):
                line = next(lines)  # noqa: PLW2901
        elif not line.strip() or line.startswith(("}", 'extern "C"')) or _is_directive(line):
            comment = []
        else:
            block = [line]
            while not _is_whole(block):
                block.append(next(lines))
            source = "\n".join(block)
            yield Item(name=_name(source), text=source, comment=_plain(comment))
            comment = []


def _header(path: Path) -> str:
    text = path.read_text("utf-8")
    lines = [f"## {path.name}", "", _plain(text[: text.index("*/") + 2].splitlines(), skip=path.name), ""]
    for item in items(text[text.index("*/") + 2 :]):
        if not item.text:
            lines += [f"**{item.name}**", ""]
            continue
        lines += [f"### {item.name}", "", *([item.comment, ""] if item.comment else []), "```c", item.text, "```", ""]
    return "\n".join(lines)


def _runtimes() -> str:
    lines = ["## Runtimes", "", "`latebind_add_runtime()` provides the header that describes a runtime to `lb_bind()`."]
    lines += ["", "| header | description | reads the version | file or folder | floor |", "|---|---|---|---|---|"]
    for name, runtime in presets().items():
        cells = [f"latebind/{name}.h", f"lb_{name}", f"lb_{name}_read_version()", runtime.environment]
        lines.append(f"| {' | '.join(f'`{cell}`' for cell in cells)} | {runtime.floor} |")
    lines += ["", "The floor that holds, as a text and in parts, for calls that depend on it:", ""]
    for name in presets():
        macro = f"LATEBIND_{name.upper()}_MINIMUM"
        lines.append(f"- `{macro}`: `{macro}_MAJOR`, `{macro}_MINOR`, `{macro}_PATCH`")
    lines += [
        "",
        "`LB_DLOPEN_NOTE(runtime, json)` of `latebind/note.h` names the runtime in the section `.note.dlopen`:",
        "",
    ]
    for name in presets():
        macro = f"LATEBIND_{name.upper()}"
        lines.append(f"- `{macro}_NOTE`: the text, with `{macro}_PRIORITY`, by default `recommended`")
    return "\n".join([*lines, ""])


def _ort() -> str:
    """The functions of ORT's table are ORT's to describe: their names, and the version that added each."""
    text = (LOADER / "ort_api.h").read_text("utf-8")
    lines = ["## ort_api.h", "", _plain(text[: text.index("*/") + 2].splitlines(), skip="ort_api.h"), ""]
    for item in items(text[text.index("*/") + 2 :]):
        if item.text.startswith("static inline") or not re.match(r"lb_ort_(?!path_char|table|base)", item.name):
            continue
        code = item.text if item.name != "lb_ort_function" else "typedef enum lb_ort_function lb_ort_function;"
        lines += [f"### {item.name}", "", *([item.comment, ""] if item.comment else []), "```c", code, "```", ""]
    functions = re.findall(r"^ +X\((\w+), \d+, (\d+)\)", text, re.MULTILINE)
    lines += ["### Functions", "", "As in ONNX Runtime's own documentation; first comes the table.", ""]
    lines += ["| function | API version |", "|---|---|"]
    lines += [f"| `lb_ort_{name}()` | {since} |" for name, since in functions]
    return "\n".join([*lines, ""])


def _is_directive(line: str) -> bool:
    return line.startswith("#") and not re.match(r"#define [A-Z]+_\w+ +(\"|\d|\{|offsetof)", line)


def _is_whole(block: list[str]) -> bool:
    source = re.sub(r"/\*.*?\*/", "", "\n".join(block), flags=re.DOTALL)
    if source.startswith("#"):
        return not source.endswith("\\")
    if source.count("{") != source.count("}") or "/*" in source:
        return False
    return source.rstrip().endswith((";", "}"))


def _name(source: str) -> str:
    plain = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL).strip()
    return next(match[1] for pattern in _NAMES if (match := pattern.match(plain)))


def _plain(lines: list[str], skip: str = "") -> str:
    """A comment as paragraphs; lines that are set in, as tables are, keep their form."""
    stripped = [re.sub(r"^ ?(/\*+|\*/|\*)", "", line).removesuffix("*/").rstrip() for line in lines]
    text = "\n".join(text_line.removeprefix(" ") for text_line in stripped).strip()
    text = text.removeprefix(f"{skip}: ")
    text = text[:1].upper() + text[1:]
    return re.sub(r"^ {2}(?=\S)", "    ", escape_markdown(text), flags=re.MULTILINE)
