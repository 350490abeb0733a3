"""A project whose sources are its root folder: what latebind writes there is never read as a source."""

import contextlib
import io
import shutil
import tarfile
import threading
import zipfile

import pytest

from latebind.backend.targets import target
from latebind.config.file import load
from latebind.config.project import Project, read_project
from latebind.errors import BuildError
from latebind.native.builds import stage_target
from latebind.native.nativerecipe import hash_sources
from latebind.pack.record import RECORD
from latebind.reproduce import reproduce
from tests.support.client import CMAKE, CONFIG, PYPROJECT, SOURCE, write_files
from tests.support.running import assert_success

FLAT = CONFIG.replace('source = "native"', 'source = "."').replace('"python/tiny"', '".", name = "tiny"')
FILES = {
    "latebind.toml": FLAT,
    "CMakeLists.txt": CMAKE,
    "tiny.c": SOURCE,
    "pyproject.toml": PYPROJECT.partition("[tool.hatch.build.targets.sdist]")[0],
    "LICENSE": "MIT\n",
    "src/tiny/__init__.py": '"""Adds numbers."""\n',
}
NAMES = {"Tiny.1.2.3.nupkg", "tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl", "tiny-1.2.3.tar.gz"}


@pytest.fixture
def flat(tmp_path):
    """The small project with everything in its root folder."""
    return write_flat(tmp_path / "tiny")


def write_flat(folder):
    return write_files(folder, FILES)


@pytest.mark.parametrize(
    ("name", "text", "is_source"),
    [
        ("latebind.toml", "# a comment\n", False),
        ("latebind.toml", '[verify]\npython = "tiny.c"\n', False),
        ("latebind.toml", "[native.define]\nWITH_MORE = true\n", True),
        ("tiny.c", "/* a comment */\n", True),
    ],
)
def test_of_the_configuration_in_the_root_only_what_the_build_uses_is_a_source(flat, name, text, is_source):
    before = hash_sources(read_project(flat / "latebind.toml", flat))
    with (flat / name).open("a", encoding="utf-8") as file:
        file.write(text)
    assert (hash_sources(read_project(flat / "latebind.toml", flat)) != before) is is_source


def packages(folder):
    return {path.name: path.read_bytes() for path in (folder / "dist").iterdir() if not path.name.startswith(".")}


@pytest.fixture(scope="module")
def undisturbed_packages(tmp_path_factory, latebind):
    """The packages of the project where nothing else is."""
    folder = write_flat(tmp_path_factory.mktemp("undisturbed"))
    assert latebind("-C", folder, "pack").returncode == 0
    assert set(packages(folder)) == NAMES
    return packages(folder)


@pytest.mark.builds
def test_an_sdist_of_one_folder_for_all_holds_files_and_no_links(undisturbed_packages):
    """The native code is in it twice: as itself, and as part of the wheel's folder."""
    with tarfile.open(fileobj=io.BytesIO(undisturbed_packages["tiny-1.2.3.tar.gz"])) as archive:
        members = {member.name.partition("/")[2]: member for member in archive}
    assert {"tiny.c", "native/tiny.c", "pyproject.toml"} <= set(members)
    assert all(member.isreg() for member in members.values())


@contextlib.contextmanager
def churn(*folders):
    """Files and folders come and go, as other threads and other runs of latebind make them."""
    stop = threading.Event()

    def write(folder):
        number = 0
        while not stop.wait(0.0005):
            number += 1
            (folder / f"made{number % 50}").mkdir(parents=True, exist_ok=True)
            (folder / f"made{number % 50}" / "x.c").write_text(str(number), encoding="utf-8")
            (folder / f".x.whl.{number % 50}.part").write_text(str(number), encoding="utf-8")
            shutil.rmtree(folder / f"made{(number + 25) % 50}", ignore_errors=True)
            (folder / f".x.whl.{(number + 25) % 50}.part").unlink(missing_ok=True)

    threads = [threading.Thread(target=write, args=[folder]) for folder in folders]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.slow
def test_files_that_come_and_go_in_output_folders_change_nothing(flat, latebind, undisturbed_packages):
    folders = [flat / name / "other" for name in ("build", "stage", "dist", "reports")]
    with churn(*folders):
        for _ in range(3):
            shutil.rmtree(flat / "build" / "linux-x64", ignore_errors=True)
            (flat / "dist" / RECORD).unlink(missing_ok=True)
            assert_success(latebind("-C", flat, "pack"))
    shutil.rmtree(flat / "dist" / "other")
    assert packages(flat) == undisturbed_packages


@pytest.mark.slow
def test_a_second_run_makes_nothing(flat, latebind):
    assert latebind("-C", flat, "pack").returncode == 0
    before = {path.name: path.stat().st_mtime_ns for path in (flat / "dist").iterdir()}
    assert latebind("-C", flat, "pack").returncode == 0
    assert {path.name: path.stat().st_mtime_ns for path in (flat / "dist").iterdir()} == before
    with tarfile.open(flat / "dist" / "tiny-1.2.3.tar.gz") as sdist:
        names = {name.split("/")[1] for name in sdist.getnames()}
    assert names >= {"tiny.c", "CMakeLists.txt", "pyproject.toml"}
    assert not names & {"build", "stage", "dist", "reports"}


@pytest.mark.slow
@pytest.mark.parametrize("first", [".", "out", "deep/er"])
def test_the_place_of_the_working_folder_changes_no_package(flat, latebind, undisturbed_packages, tmp_path, first):
    """A working folder inside the sources that an earlier run had is none of the sources either."""
    inside, outside = flat / first, tmp_path / "outside"
    for workdir in (inside, outside, inside):
        assert_success(latebind("-C", flat, "--workdir", workdir, "pack"))
        assert packages(workdir) == undisturbed_packages
    with zipfile.ZipFile(inside / "dist" / "Tiny.1.2.3.nupkg") as nupkg:
        assert not [name for name in nupkg.namelist() if "part" in name]


def test_sources_have_one_hash_for_every_working_folder(flat, tmp_path):
    config = load(flat / "latebind.toml")
    before = hash_sources(Project(config=config, workdir=tmp_path / "elsewhere"))
    for file in ("build/a.c", "wheelhouse/a.whl", ".nox/a.c", ".a.c.17.part", "out/dist/a.c", "sub/.mypy_cache/a"):
        (flat / file).parent.mkdir(parents=True, exist_ok=True)
        (flat / file).write_text("1", encoding="utf-8")
    assert hash_sources(Project(config=config, workdir=flat / "out")) == before
    (flat / "sub" / "dist").mkdir()
    (flat / "sub" / "dist" / "a.c").write_text("1", encoding="utf-8")
    assert hash_sources(Project(config=config, workdir=flat / "out")) != before


def test_a_link_to_an_output_folder_is_one(flat, tmp_path):
    config = load(flat / "latebind.toml")
    before = hash_sources(Project(config=config, workdir=flat))
    (tmp_path / "elsewhere").mkdir()
    (flat / "stage").symlink_to(tmp_path / "elsewhere")
    (flat / "src" / "libraries").symlink_to("../stage")
    (tmp_path / "elsewhere" / "a.c").write_text("1", encoding="utf-8")
    assert hash_sources(Project(config=config, workdir=flat)) == before
    assert (tmp_path / "elsewhere").resolve() in Project(config=config, workdir=flat).outputs


@pytest.mark.builds
def test_a_header_that_the_hash_would_miss_is_refused(flat, tmp_path):
    """A working folder elsewhere leaves the project's own build/ free, but a stage would not notice its changes."""
    (flat / "build").mkdir()
    (flat / "build" / "more.h").write_text("#define MARK 1\n", encoding="utf-8")
    (flat / "tiny.c").write_text('#include "build/more.h"\n' + SOURCE, encoding="utf-8")
    with pytest.raises(BuildError, match=r"build/more\.h"):
        stage_target(read_project(flat / "latebind.toml", tmp_path / "elsewhere"), target("linux-x64"))


@pytest.mark.builds
def test_a_linked_file_counts_as_the_file_that_it_is(flat):
    (flat.parent / ".git").mkdir()
    (flat.parent / "more.h").write_text("#define MARK 1\n", encoding="utf-8")
    (flat / "more.h").symlink_to("../more.h")
    (flat / "tiny.c").write_text('#include "more.h"\n' + SOURCE, encoding="utf-8")
    assert stage_target(read_project(flat / "latebind.toml", flat), target("linux-x64")).manifest.files


@pytest.mark.slow
def test_reproducing_copies_no_working_folder(flat, latebind):
    assert latebind("-C", flat, "--workdir", flat / "out", "pack").returncode == 0
    (flat / "out" / "stage" / "gone").symlink_to("nowhere")
    result = reproduce(read_project(flat / "latebind.toml", flat / "out"), ["linux-x64"])
    assert set(result.equal) == NAMES
    assert not result.differences
