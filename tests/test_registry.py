"""What the ecosystems contribute: modules that engines import by name, so that no linter sees them."""

import ast
from pathlib import Path

import pytest

import latebind
from latebind.ecosystems.ecosystem import package_kinds
from latebind.formats import find_format, installed_kinds, package_formats
from latebind.registry import ECOSYSTEMS, load_parts
from loadcheck.facts import audited_kinds

FOLDER = Path(latebind.__file__).parent / "ecosystems"


def test_every_folder_is_an_ecosystem_of_the_registry():
    assert {path.name for path in FOLDER.iterdir() if (path / "__init__.py").is_file()} == set(ECOSYSTEMS)


@pytest.mark.parametrize("part", ["config", "files", "checks", "pack", "consumer", "programs", "publishing"])
def test_every_part_of_an_ecosystem_is_loaded(part):
    names = {path.parent.name for path in FOLDER.glob(f"*/{part}.py")} | {
        path.parent.name for path in FOLDER.glob(f"*/{part}/") if path.is_dir()
    }
    assert {module.__name__.split(".")[2] for module in load_parts(part)} == names


def test_what_is_packed_is_recognized_and_read():
    assert {kind.name for kind in package_kinds()} <= {form.kind for form in package_formats()}
    assert {form.audited_as for form in package_formats()} - {"archive"} <= set(audited_kinds())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a-1.0-py3-none-any.whl", "wheel"),
        ("a-1.0.tar.gz", "sdist"),
        ("a-1.0-linux-x64-sdk.tar.gz", "sdk"),
        ("a-1.0-win-x64-sdk.zip", "sdk"),
        ("a-1.0-linux-x64-symbols.zip", "symbols"),
        ("A.1.0.0.NUPKG", "nupkg"),
        ("A.1.0.0.snupkg", "snupkg"),
        ("a-1.0.0.tgz", "npm"),
    ],
)
def test_the_longest_suffix_decides(name, kind):
    assert find_format(name).kind == kind


def test_other_files_have_no_format():
    assert find_format("a-1.0.tar.xz") is None
    assert "symbols" not in installed_kinds()


def list_compared_kinds(folder, kinds):
    """The places outside of the ecosystems that compare something with the name of a kind.

    The build backend makes wheels alone, and hatchling's names of what it makes are the same words.
    """
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        nodes = [] if place.parts[0] in ("ecosystems", "backend") else ast.walk(ast.parse(path.read_bytes()))
        for node in nodes:
            parts = ast.walk(node) if isinstance(node, ast.Compare) else ()
            if kinds & {part.value for part in parts if isinstance(part, ast.Constant)}:
                yield f"{place.as_posix()}:{node.lineno}"


def test_only_an_ecosystem_compares_the_name_of_its_kind(tmp_path):
    kinds = {form.kind for form in package_formats()} | {"nuget", "ep"}
    assert list(list_compared_kinds(FOLDER.parent, kinds)) == []
    (tmp_path / "bad.py").write_text("def f(kind):\n    return kind in ('wheel', 'sdk')\n")
    assert list(list_compared_kinds(tmp_path, kinds)) == ["bad.py:2"]
