"""What packages are made from and git does not track is known by name, in each kind of package."""

import os
import shutil

import pytest

from latebind.config.project import read_project
from latebind.pack.record import read_record
from latebind.pack.untracked import list_untracked
from tests.support.client import CONFIG, PYPROJECT, pack_project, write_client, write_files
from tests.support.running import run_checked

TABLES = """\
nuget = { id = "Tiny", managed = "dotnet" }
npm = { name = "@acme/tiny", source = "javascript" }
maven = { group = "io.github.acme", name = "tiny", source = "java" }
sdk = true
"""
TRACKED = {
    ".gitignore": "/build/\n/stage/\n/dist/\n/reports/\n/out/\n*.key.h\nlocal_*\n_made.py\n",
    "dotnet/Tiny.csproj": "<Project/>",
    "javascript/index.js": "",
    "javascript/index.d.ts": "",
    "java/Tiny.java": "class Tiny {}",
    "python/tiny/src/tiny/empty.py": "",
}


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return run_checked(shutil.which("git"), *who, *arguments, cwd=folder)


def make_repository(folder, **changed):
    """The project `tiny` with more kinds of packages, in a repository that tracks all its files."""
    write_client(folder, **changed)
    write_files(folder, TRACKED)
    git(folder, "init", "-q")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "One")
    return folder


def find_untracked(folder, packages=()):
    return list_untracked(read_project(folder / "latebind.toml", folder), (), packages)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    config = CONFIG.replace('nuget = { id = "Tiny" }\n', TABLES)
    return make_repository(tmp_path_factory.mktemp("tracked") / "tiny", latebind=config)


@pytest.fixture
def tree(repository, tmp_path):
    return shutil.copytree(repository, tmp_path / "tiny")


@pytest.mark.parametrize(
    "name",
    [
        "native/more.c", "native/my.key.h", "native/model.onnx", "native/local_flags.cmake", "dotnet/Local.cs",
        "javascript/local_settings.js", "java/acme/Local.java",
    ],
)  # fmt: skip
def test_a_file_that_is_compiled_or_packed_is_named_if_it_is_new_or_ignored(tree, name):
    assert find_untracked(tree) == ()
    write_files(tree, {name: "mine"})
    assert find_untracked(tree) == (name,)
    git(tree, "add", "--force", name)
    assert find_untracked(tree) == ()


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt", "verify/local.py", "build/my.key.h", "out/1.2.3/index.html", "dotnet/obj/made.cs",
        "javascript/node_modules/a/index.js", "native/__pycache__/a.pyc", "python/tiny/local_settings.py",
    ],
)  # fmt: skip
def test_a_file_that_no_package_is_made_from_may_be_untracked(tree, name):
    write_files(tree, {name: "mine"})
    assert find_untracked(tree) == ()


def test_a_named_file_must_be_tracked(tree):
    edited = (
        (tree / "latebind.toml").read_text("utf-8").replace("[project]\n", '[project]\nreadme = "local_page.md"\n', 1)
    )
    write_files(tree, {"latebind.toml": edited, "local_page.md": "# Tiny\n"})
    assert find_untracked(tree) == ("local_page.md",)


@pytest.mark.skipif(os.name == "nt", reason="not run: links need rights on Windows")
def test_a_tracked_link_to_a_file_that_is_not_tracked_is_named(tree):
    write_files(tree, {"local_model.onnx": "model"})
    (tree / "native/model.onnx").symlink_to("../local_model.onnx")
    git(tree, "add", "native/model.onnx")
    assert find_untracked(tree) == ("native/model.onnx",)
    git(tree, "add", "--force", "local_model.onnx")
    assert find_untracked(tree) == ()


def test_files_of_a_submodule_are_tracked(tree, tmp_path):
    other = write_files(tmp_path / "other", {"other.c": "int other;"})
    git(other, "init", "-q")
    git(other, "add", "--all")
    git(other, "commit", "-qm", "One")
    git(tree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "native/other")
    assert find_untracked(tree) == ()
    write_files(tree, {"native/other/local.c": "int local;"})
    assert find_untracked(tree) == ("native/other/local.c",)


def test_nothing_is_known_without_a_repository(tree):
    shutil.rmtree(tree / ".git")
    write_files(tree, {"native/more.c": "mine"})
    assert find_untracked(tree) == ()


@pytest.mark.builds
def test_of_a_wheel_and_its_sdist_what_they_contain_is_named(tmp_path):
    backend = PYPROJECT.replace('only-include = ["src", "LICENSE"]', 'include = ["src", "LICENSE", "notes"]')
    backend = backend.replace("ignore-vcs = true", 'artifacts = ["_made.py"]')
    forced = '\n[tool.hatch.build.targets.wheel.force-include]\n"src/table.csv" = "tiny/numbers.csv"\n'
    tree = make_repository(tmp_path / "tiny", pyproject=backend + forced)
    write_files(
        tree / "python/tiny",
        {
            "src/tiny/settings.py": "KEY = 1\n",  # new: hatchling packs it
            "src/tiny/local_settings.py": "KEY = 1\n",  # ignored: hatchling leaves it out
            "src/tiny/_made.py": "MADE = 1\n",  # ignored, and declared as made by a build
            "src/tiny/again/empty.py": "",  # another file that is tracked has these bytes and this name
            "notes/todo.md": "nothing\n",  # in the sdist alone
            "other/todo.txt": "nothing\n",  # in neither
            "src/table.csv": "1\n",  # new, and named by force-include
        },
    )
    packed = pack_project(tree)
    expected = ("notes/todo.md", "src/table.csv", "src/tiny/settings.py")
    assert read_record(tree / "dist").untracked == tuple(f"python/tiny/{name}" for name in expected)
    git(tree, "add", "--force", "--all", "python")
    assert pack_project(tree).record.untracked == ()
    assert packed.record.files == read_record(tree / "dist").files
