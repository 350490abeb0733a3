"""The reference page of latenn for .NET: public members with their summaries, from the C# sources as text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "latenn" / "dotnet" / "Latenn"
_HEAD = """\
<!-- Made by ci/gen/docs_site.py from the sources. -->

# latenn for .NET

Namespace `Latenn`, package `Latenn`. What is marked *netstandard2.1* is in the newer of the two assemblies alone.

"""
_TYPE = re.compile(
    r"^    (?P<access>public|internal) (?P<rest>[\w ]*\b(?P<kind>class|struct|enum|interface) (?P<name>\w+).*)$"
)
_MEMBER = re.compile(r"^        public (?P<rest>.+)$")
_VALUE = re.compile(r"^        (?P<rest>\w+(?: = [\w-]+)?),?$")
_FRAMEWORK = re.compile(r"^#if .*(NETSTANDARD2_1|NETCOREAPP)")


@dataclass(slots=True)
class PublicType:
    """A public type and its members: (declaration, comment)."""

    name: str
    declaration: str
    summary: str
    members: list[tuple[str, str]] = field(default_factory=list)


def page() -> str:
    """The page."""
    lines = [_HEAD]
    for public_type in types().values():
        lines += [f"## {public_type.name}", "", "```csharp", public_type.declaration, "```", ""]
        lines += [public_type.summary, ""]
        for declaration, comment in public_type.members:
            lines += ["```csharp", declaration, "```", "", *([comment, ""] if comment else [])]
    return "\n".join(lines)


def types() -> dict[str, PublicType]:
    """The public types by name, partial ones put together."""
    public_types: dict[str, PublicType] = {}
    for path in sorted(SOURCES.glob("*.cs")):
        _read(path.read_text("utf-8"), public_types)
    return dict(sorted(public_types.items()))


def _read(text: str, public_types: dict[str, PublicType]) -> None:
    comment: list[str] = []
    current: PublicType | None = None
    newer = False
    is_enum = False
    for line in text.splitlines():
        if line.startswith("#"):
            newer = bool(_FRAMEWORK.match(line)) if line.startswith("#if") else newer and not line.startswith("#endif")
        elif line.lstrip().startswith("///"):
            comment.append(line.lstrip().removeprefix("///").strip())
        elif match := _TYPE.match(line):
            current = _add_type(match, comment, public_types) if match["access"] == "public" else None
            is_enum, comment = match["kind"] == "enum", []
        elif current and (match := _VALUE.match(line) if is_enum else _MEMBER.match(line)):
            mark = " *netstandard2.1*" if newer else ""
            current.members.append((_declaration(match["rest"]), _prose(comment) + mark))
            comment = []
        elif not line.strip().startswith("["):
            comment = []


def _add_type(match: re.Match[str], comment: list[str], public_types: dict[str, PublicType]) -> PublicType:
    public_type = public_types.setdefault(
        match["name"], PublicType(match["name"], f"public {_declaration(match['rest'])}", "")
    )
    public_type.summary = public_type.summary or _prose(comment)
    return public_type


def _declaration(rest: str) -> str:
    """A declaration without what it does."""
    return re.split(r"\s*(?:=>| = new | : base|\{(?! get))", rest)[0].rstrip(" ;")


def _prose(comment: list[str]) -> str:
    """The summary and the exceptions of an XML comment, as Markdown."""
    text = " ".join(comment)
    text = re.sub(r'<(?:see|paramref|typeparamref|seealso) \w+="(?:\w:)?([^"]+)"\s*/>', r"`\1`", text)
    text = re.sub(r"<c>(.*?)</c>", r"`\1`", text)
    summary = re.search(r"<summary>(.*?)</summary>", text)
    lines = [summary[1].strip()] if summary else []
    raised = re.findall(r'<exception cref="([^"]+)">(.*?)</exception>', text)
    lines += [f"- `{name}`: {why.strip()}" for name, why in raised]
    return "\n".join(lines[:1] + ([""] if len(lines) > 1 else []) + lines[1:])
