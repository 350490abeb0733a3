"""The reference names everything that is public, and a page that lacks one of them is caught."""

import re

import msgspec
import pytest

from ci.gen import docs_site, reference_c, reference_cli
from ci.gen.reference_checks import check_index, check_pages
from latebind.cli import _parser
from latebind.config import described as ownruntime
from latebind.config import document
from latebind.release.headers import declarations
from loadcheck.api import checks
from tests.conftest import ROOT

PAGES = ROOT / "docs"
HEADERS = [*(ROOT / "loader/include/latebind").glob("*.h"), *(ROOT / "latenn/native/include").glob("*.h")]
NOT_OURS = re.compile(
    r"Ort|ORT(?!ED)|ONNX(?!RUNTIME)|Graph|lb_ort_(path_char|table|base)$|_TEXT_?$|#LATENN_API|_file_(names|globs)$|_check$"
)
"""Names of ONNX Runtime's own, and what headers have for themselves."""


def words(parser):
    return {option for action in parser._actions for option in action.option_strings or [action.metavar] if option}


def commands_and_options():
    parser = _parser()
    yield from (("latebind", option) for option in words(parser) if option != "COMMAND")
    for name, command in reference_cli.commands(parser).items():
        yield from ((f"latebind {name}", option) for option in words(command))


def section(page, title):
    """What is below a heading, and the common options that stand once."""
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


def missing_options(page):
    common = section(page, "Before the command")
    return [
        (command, option)
        for command, option in commands_and_options()
        if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", section(page, command) + common)
    ]


def keys():
    kinds = [kind for module in (document, ownruntime) for kind in vars(module).values() if isinstance(kind, type)]
    written = [kind for kind in kinds if kind.__module__ in (document.__name__, ownruntime.__name__)]
    tables = [kind for kind in written if issubclass(kind, msgspec.Struct)]
    return {field.encode_name for table in tables for field in msgspec.structs.fields(table)} - {"options"}


def public_c():
    """By another reading than the page's: that which compares the headers of two releases."""
    for header in HEADERS:
        text = header.read_text("utf-8")
        yield from (name.removeprefix("#") for name in declarations(text) if not NOT_OURS.search(name))
        yield from re.findall(r"^static inline [^(]*?\b(lb_ort_\w+)\(", text, re.MULTILINE)


def public_dotnet():
    for path in (ROOT / "latenn/dotnet/Latenn").glob("*.cs"):
        text = path.read_text("utf-8")
        yield from re.findall(r"^    public [\w ]*(?:class|struct|enum|interface) (\w+)", text, re.MULTILINE)


def lacking(page, names, form):
    return [name for name in names if not re.search(form.format(re.escape(name)), page, re.MULTILINE)]


PARTS = {
    "configuration*.md": (keys, r"^(?:\| |## )`\[*{}(?:`| |[.\]])"),
    "checks/index.md": (checks, r"^\| {0} \|"),
    "reference/c.md": (public_c, r"(?<!\w){}(?!\w)"),
    "reference/dotnet.md": (public_dotnet, r"^## {}$"),
}


def text_of(part):
    if page := docs_site.generate_pages().get(part):
        return page
    return "".join(path.read_text("utf-8") for path in sorted(PAGES.glob(part)))


@pytest.mark.parametrize("part", PARTS)
def test_everything_public_is_in_the_reference(part):
    names, form = PARTS[part]
    page = text_of(part)
    assert len(list(names())) >= 10
    assert lacking(page, names(), form) == []


def test_every_command_and_option_is_in_the_reference():
    page = text_of("reference/cli.md")
    assert len(list(commands_and_options())) > 80
    assert missing_options(page) == []


def test_a_comment_stays_with_its_declaration():
    (part, first, second) = reference_c.items(
        "/* ---- a part ---- */\n\n/* Says\n * more. */\nint lb_one(int a); /* 1 */\n\n"
        "/* gone */\n\nint lb_two(\n    int b);\n"
    )
    assert (part.name, part.text) == ("A part", "")
    assert (first.name, first.comment, first.text) == ("lb_one", "Says\nmore.", "int lb_one(int a); /* 1 */")
    assert (second.name, second.comment) == ("lb_two", "")


def test_every_check_has_a_page_and_the_index_names_it():
    pages, index = check_pages(), check_index()
    for code, check in checks().items():
        assert check.rationale in pages[f"checks/{code}.md"]
        assert check.fix in pages[f"checks/{code}.md"]
        assert f"| {code} |" in index
    assert len(pages) == len(checks())
