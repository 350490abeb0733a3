"""The documents say what is so: names, links, commands and examples are held against the code, and examples run."""

import importlib.metadata
import itertools
import json
import os
import re
import shlex
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

from ci.gen import docs_site
from latebind.cli import _parser
from latebind.ecosystems.nuget.dotnet_project import DotnetConsumer, _properties
from latebind.ecosystems.nuget.layouts import LAYOUTS
from latebind.system.resources import cmake_dir
from latebind.verify.cases import scenarios
from latebind.verify.report.data import list_reasons
from tests.conftest import ROOT
from tests.support.building import build, configure, needed_compiler
from tests.support.needs import runtime_folder
from tests.support.running import run_program

DOCS = ROOT / "docs"
# What people wrote; docs/checks and docs/configuration*.md are generated.
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "loader/README.md")),
        *DOCS.glob("*.md"),
        *(path for room in ("decisions", "howto") for path in (DOCS / room).glob("*.md")),
        ROOT / "latenn" / "CONTRIBUTING.md",
        *(ROOT / "latenn" / "docs").glob("*.md"),
    ]
)
PROJECT = msgspec.toml.decode((ROOT / "pyproject.toml").read_bytes())
LOADCHECK = msgspec.toml.decode((ROOT / "loadcheck/pyproject.toml").read_bytes())
SITE = docs_site.generate_pages()
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`([^`\n]+)`[^\n]*:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


def text_of(path):
    return path.read_text("utf-8")


def prose(path):
    """A page without its fenced blocks."""
    return FENCE.sub("", text_of(path))


def shown_commands():
    """Every command after a prompt in a console block, with its page."""
    for page in PAGES:
        for kind, block in FENCE.findall(text_of(page)):
            lines = [line[2:] for line in block.splitlines() if line.startswith("$ ")] if kind == "console" else []
            lines = [part for line in lines for part in line.split(" && ")]
            yield from ((page, shlex.split(line.partition(" > ")[0], comments=True)) for line in lines)


def write_files(page, folder):
    """The files that a page shows, each under its own name."""
    shown = FILE.findall(text_of(page))
    assert shown, page
    for name, text in shown:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# ---- links and names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(page):
    targets = [link.partition("#")[0] for link in LINK.findall(prose(page)) if not re.match(r"[a-z]+:|#", link)]
    assert [target for target in targets if not (page.parent / target).exists() and not is_made(page, target)] == []


def is_made(page, target):
    """Whether a page of docs/ leads to one that only the site has."""
    path = Path(os.path.normpath(page.parent / target))
    return page.is_relative_to(DOCS) and path.is_relative_to(DOCS) and path.relative_to(DOCS).as_posix() in SITE


def test_every_decision_is_listed():
    records = {path.name for path in (DOCS / "decisions").glob("[0-9]*.md")}
    assert set(LINK.findall(text_of(DOCS / "decisions/README.md"))) == records


def test_dependencies_that_users_install_or_that_are_pinned_have_a_row():
    rows = re.findall(r"^\| (`[^|]+`) \|.*\| ([^|]+) \|$", text_of(DOCS / "dependencies.md"), re.MULTILINE)
    listed = {name: reason.startswith("pinned") for names, reason in rows for name in re.findall(r"`([^`]+)`", names)}
    project = PROJECT["project"]
    installed = [
        *project["dependencies"],
        *LOADCHECK["project"]["dependencies"],
        *(entry for group in project["optional-dependencies"].values() for entry in group),
    ]
    developed = [entry for group in PROJECT["dependency-groups"].values() for entry in group if "==" in entry]
    assert listed == {Requirement(entry).name: "==" in entry for entry in installed + developed}


def test_hooks_have_the_pins_of_the_lint_session():
    groups = PROJECT["dependency-groups"]
    pins = {entry for name in ("headers", "lint", "workflows") for entry in groups[name] if "==" in entry}
    hooked = re.findall(r"additional_dependencies: \[([^\]]+)\]", text_of(ROOT / ".pre-commit-config.yaml"))
    assert set(hooked) == pins


def test_the_layers_are_those_that_the_linter_checks():
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    shown = text_of(DOCS / "architecture.md").partition("```text\n")[2].partition("\n```")[0]
    assert [line.split() for line in shown.splitlines()] == [
        [name.strip().removeprefix("latebind.") for name in layer.split("|")] for layer in layers
    ]


def test_every_place_in_the_architecture_is_there():
    table = prose(DOCS / "architecture.md").partition("## Folders and layers")[2]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    for cell in cells:
        names = re.findall(r"`([^`]+)`", cell)
        first = Path(names[0]).parent if "/" in names[0] else Path()
        for name in names:
            paths = list(ROOT.glob(name)) or list((ROOT / first).glob(name.rstrip("/")))
            assert paths, f"{name} of {cell}"


# ---- verification ----------------------------------------------------------------------------------------------------


def test_every_dotnet_consumer_has_its_row():
    texts = dict(
        re.findall(r"^\| `(mono|dotnet-[a-z0-9.-]+)` \| (.*?) \|", text_of(DOCS / "consumers.md"), re.MULTILINE)
    )
    assert list(texts) == [layout.name for layout in LAYOUTS]
    assert [layout.name for layout in LAYOUTS if layout.title not in texts[layout.name]] == []


def test_every_reason_and_property_of_verification_is_named():
    text = text_of(DOCS / "verify.md") + text_of(DOCS / "consumers.md")
    assert [reason for reason in list_reasons() if f"`{reason}`" not in text] == []
    consumer = DotnetConsumer(project=ROOT, packages=[], version="1.0", environment={})
    assert [name for name in _properties(consumer, "net8.0") if f"`{name}`" not in text] == []


# ---- commands --------------------------------------------------------------------------------------------------------


def test_sessions_that_are_shown_exist():
    noxfile = text_of(ROOT / "noxfile.py")
    declared = re.findall(r'^@nox\.session(?:.*name="([\w-]+)")?.*\ndef (\w+)', noxfile, re.MULTILINE)
    sessions = {name or function for name, function in declared}
    shown = [command[3:] for _, command in shown_commands() if command[:3] == ["python3", "noxfile.py", "-s"]]
    assert len(shown) >= 4
    named = {word for words in shown for word in itertools.takewhile(lambda word: word != "--", words)}
    assert named <= sessions, named - sessions


def test_latebind_commands_that_are_shown_are_understood():
    shown = [command[1:] for _, command in shown_commands() if command[0] == "latebind"]
    assert len(shown) >= 7
    for command in shown:
        _parser().parse_args(command)


# ---- examples --------------------------------------------------------------------------------------------------------


def test_no_page_shows_a_configuration_that_nothing_loads():
    pages = [page for page in PAGES for kind, block in FENCE.findall(text_of(page)) if "\n[native]" in f"\n{block}"]
    assert pages == []


OF_OTHER_PROJECTS = (
    "a package that another one loads",
    "an execution provider",
    "a runtime of several major versions",
    "a runtime that opens more libraries",
)


@pytest.mark.slow
def test_every_test_case_of_a_new_project_passes(latebind, tmp_path):
    assert latebind("-C", tmp_path, "new", "lowvoice").returncode == 0
    project = tmp_path / "lowvoice"
    lines = (project / "latebind.toml").read_text("utf-8").splitlines(keepends=True)
    every = [line for line in lines if not line.startswith(("own.", "c = "))]  # all scenarios, not the usual ones
    (project / "latebind.toml").write_text("".join(every), encoding="utf-8")

    ended = latebind("-C", project, "verify", "--format", "json")

    outcomes = json.loads(ended.stdout)["cases"]
    if any(cell["reason"] == "no-index" for cell in outcomes):
        pytest.skip("not run: the package index cannot be reached")
    assert {cell["scenario"] for cell in outcomes} - {"from-sdist"} == {
        scenario.name
        for scenario in scenarios.SCENARIOS
        if "python" in scenario.consumers and "linux" in scenario.systems and not scenario.rare
        if scenario.needs not in OF_OTHER_PROJECTS
    }
    # The newest Pythons have no wheel of the oldest runtime. Tests run in folders that nobody else can enter.
    tried = [cell for cell in outcomes if cell["reason"] not in ("no-distribution", "no-access")]
    assert len(tried) >= 30
    assert [cell for cell in tried if cell["outcome"] != "passed"] == []
    assert ended.returncode == 0


def configured_and_built(folder):
    """The CMake project of a folder, built below it."""
    configure(folder, folder / "build", needed_compiler(folder), f"-Dlatebind_DIR={cmake_dir()}")
    build(folder / "build")
    return folder / "build"


def test_the_loader_alone_builds_and_binds_as_its_page_shows(tmp_path):
    capi = runtime_folder()
    if not list(capi.glob("libonnxruntime.so.*")):
        pytest.skip("not run: the runtime's shared library is not here: pip install onnxruntime")
    write_files(ROOT / "loader/README.md", tmp_path)
    tree = configured_and_built(tmp_path)
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_LIB_PATH")}
    version = importlib.metadata.version("onnxruntime")

    ended = run_program(tree / "which_runtime", capi, env=environment)
    absent = run_program(tree / "which_runtime", env=environment)

    assert ended.stdout.startswith(f"ONNX Runtime {version} is bound from {capi.resolve()}/libonnxruntime.so."), ended
    assert "(source: host)" in ended.stdout
    assert "API version " in ended.stdout
    assert (ended.returncode, ended.stderr) == (0, "")
    assert absent.stdout.startswith("ONNX Runtime was not found in ")
    assert "version 1.20 or newer is needed. Get it with: pip install" in absent.stdout
    assert (absent.returncode, absent.stderr) == (1, "")
