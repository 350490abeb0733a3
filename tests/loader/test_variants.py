"""One program that uses several major versions of a library: the best one that is installed is bound, or named."""

import os
import shutil
from pathlib import Path

import pytest

from ci.machines import wine
from ci.machines.emulator import Limits
from latebind.backend.targets import host_rid, target
from tests.support.building import LOADER_TESTS as HERE
from tests.support.emulated import cache
from tests.support.needs import available, zig
from tests.support.running import run_checked

DESCRIBED = """\
name = "pair"
entry = "pair_version"
version = "two-numbers"
built = "3.1"
roots = ["PAIR_HOME/lib"]

[[variants]]
minimum = "3.0"
files.linux = ["libpair.so.3"]
files.windows = ["pair3.dll"]
companions.linux = ["libpart.so", "libpart.so.{major}.{minor}"]
companions.windows = ["part.dll", "part{major}{minor}.dll"]
signs = ["three/libthree.so.3"]
python = { folder = ["three/lib", "three/bin"], extras = { three = "pair-three" } }

[[variants]]
minimum = "2.1"
files.linux = ["libpair.so.2"]
files.windows = ["pair2.dll"]
companions.linux = ["libpart.so", "libpart.so.{major}.{minor}"]
companions.windows = ["part.dll", "part{major}{minor}.dll"]
signs = ["two/libtwo.so.2"]
python = { folder = "two/lib", extras = { two = "pair-two" } }

[stub]
functions = ["pair_version", "pair_status"]
failures.pair_status = 7
"""
NAMES = {
    "linux": ("libpair.so.{}", "libpart.so", "libpart.so.{}.{}"),
    "windows": ("pair{}.dll", "part.dll", "part{}{}.dll"),
}
FOLDERS = {2: "two/lib", 3: "three/lib", 4: "four/lib"}
TWO, THREE, BOTH = '"pair-two>=2.1"', '"pair-three>=3.0"', '"pair-three>=3.0", or with: pip install "pair-two>=2.1"'


def compile_c(rid, *arguments):
    run_checked(*zig(rid), "-std=c99", "-Wall", "-Werror", "-g0", *arguments)


class Site:
    """A site-packages folder with the program, into which versions are installed."""

    def __init__(self, folder, rid, program):
        self.folder, self.rid = folder, rid
        self.system = target(rid).system
        (folder / "app").mkdir(parents=True)
        self.program = shutil.copy(program, folder / "app")

    def install(self, major, minor, *flags, below=""):
        library, *parts = NAMES[self.system]
        place = self.folder / (below or FOLDERS[major])
        place.mkdir(parents=True)
        for name in (part.format(major, minor) for part in parts):
            soname = [f"-Wl,-soname,{name}"] if self.system == "linux" else []
            compile_c(self.rid, "-shared", *soname, "-x", "c", os.devnull, "-o", place / name)
        part = parts[-1].format(major, minor)
        defines = [f"-DMAJOR={major}", f"-DMINOR={minor}", f'-DPART="{part}"', *flags]
        compile_c(self.rid, "-shared", "-fPIC", *defines, HERE / "stub" / "pair.c", "-o", place / library.format(major))
        return place

    def run(self, *words, **env):
        environment = {"PATH": os.environ["PATH"], **{key: str(value) for key, value in env.items()}}
        return run_checked(self.program, *words, env=environment).splitlines()


def build_program(latebind, folder, rid, described=DESCRIBED):
    (folder / "pair.toml").write_text(described)
    ended = latebind("stub", folder / "pair.toml", "--target", rid, "--output", folder)
    assert ended.returncode == 0, ended.stderr
    prefix, suffix = folder / rid, ".exe" if target(rid).system == "windows" else ""
    links = [] if suffix else ["-ldl", "-pthread"]
    program = folder / f"user{suffix}"
    source = HERE / "stub" / "pair_user.c"
    compile_c(rid, f"-I{prefix / 'include'}", source, f"-L{prefix / 'lib'}", "-lpair", *links, "-o", program)
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory, latebind):
    if target(host_rid()).system != "linux":
        pytest.skip("not run: the libraries here are Linux's")
    return build_program(latebind, tmp_path_factory.mktemp("pair"), host_rid())


@pytest.fixture
def site(program, tmp_path):
    return Site(tmp_path / "site", host_rid(), program)


def test_the_best_version_that_is_installed_is_bound(site):
    two = site.install(2, 1)
    assert site.run() == ["2 2.1", str(two / "libpair.so.2")]
    three = site.install(3, 9)
    assert site.run() == ["3 3.9", str(three / "libpair.so.3")]
    assert site.run(PAIR_LIB_PATH=two) == ["2 2.1", str(two / "libpair.so.2")]


def test_a_folder_below_an_environment_variable_is_searched(site):
    below = site.install(2, 5, below="../home/lib")
    assert site.run(PAIR_HOME=below.parent) == ["2 2.5", str(below / "libpair.so.2")]


def test_a_file_that_a_user_names_says_nothing_of_the_others_in_its_folder(site):
    three = site.install(3, 9)
    three.chmod(0o1777)
    _, message = site.run(PAIR_LIB_PATH=three / "libpair.so.3")
    assert "it opens libpart.so, which cannot be used: " in message
    assert "write" in message
    three.chmod(0o755)
    assert site.run(PAIR_LIB_PATH=three / "libpair.so.3")[0] == "3 3.9"


def test_what_a_refused_copy_opens_is_closed_before_the_next_one(site):
    site.install(2, 0)
    good = site.install(2, 5, below="../home/lib")
    number, library, part = site.run("libpart.so", PAIR_HOME=good.parent)
    assert (number, library) == ("2 2.5", str(good / "libpair.so.2"))
    assert part == str((good / "libpart.so").resolve())


def test_a_link_without_the_other_files_does_not_hide_the_folder_that_has_them(site):
    good = site.install(2, 5, below="../home/lib")
    link = site.folder / "two/lib/libpair.so.2"
    link.parent.mkdir(parents=True)
    link.symlink_to(good / link.name)
    assert site.run(PAIR_HOME=good.parent) == ["2 2.5", str(good / link.name)]


def test_a_folder_in_the_working_folder_is_not_searched(site):
    below = site.install(2, 5, below="../home/lib")
    status, message = run_checked(site.program, env={"PAIR_HOME": "."}, cwd=below.parent).splitlines()
    assert status == "7 "
    assert "lib/libpair" not in message


WRONG = [
    pytest.param((), "", BOTH, "pair was not found in", "version 2.1 or newer is needed", id="absent"),
    pytest.param((), "two/libtwo.so.2", TWO, "pair was not found in", "", id="absent-but-others-need-two"),
    pytest.param((2, 0), "", TWO, "pair 2.0 at", "is too old; version 2.1 or newer is needed", id="too-old"),
    pytest.param((4, 0), "", BOTH, "is of another major version; version 3 or 2 is needed.", "", id="another-major"),
]


@pytest.mark.parametrize(("installed", "sign", "advice", "headline", "more"), WRONG)
def test_the_message_names_the_packages_that_would_do(site, installed, sign, advice, headline, more):
    env = {"PAIR_LIB_PATH": site.install(*installed) / f"libpair.so.{installed[0]}"} if installed else {}
    if sign:
        (site.folder / sign).parent.mkdir()
        (site.folder / sign).touch()
    status, message = site.run(**env)
    assert status == "7 "
    assert headline in message
    assert more in message
    assert f"Get it with: pip install {advice}" in message.replace(" (or name its file in PAIR_LIB_PATH)", "")


@pytest.mark.parametrize(
    ("part", "subject", "advice"),
    [
        ("libpart.so.3.1", "pair 3.1 at", '--force-reinstall "pair-three>=3.0"'),
        ("libpart.so", "pair at", '--force-reinstall "pair-three>=3.0", or with: pip install --force-reinstall'),
    ],
)
def test_a_library_without_what_it_opens_is_not_called_and_the_next_one_is_tried(site, part, subject, advice):
    three = site.install(3, 1, '-DNEEDS="libpart.so"' if part == "libpart.so" else "-DWHOLE")
    (elsewhere := site.folder / "elsewhere").mkdir()
    shutil.move(three / part, elsewhere)
    status, message = site.run()
    assert status == "7 "
    assert message.startswith(f"{subject} {three / 'libpair.so.3'} is incomplete: it opens {part}, which is missing")
    assert f"Get it with: pip install {advice}" in message
    if part != "libpart.so":
        assert site.run(LD_LIBRARY_PATH=elsewhere)[0] == "3 3.1"
    two = site.install(2, 1)
    assert site.run() == ["2 2.1", str(two / "libpair.so.2")]
    (two / "libpart.so").write_text("damaged")
    assert "it opens libpart.so, which cannot be used: a text file" in site.run(PAIR_LIB_PATH=two)[1]


@pytest.mark.slow
@pytest.mark.emulated
def test_windows_gets_what_a_library_opens_from_its_folder(latebind, tmp_path):
    prefix = cache() / f"wine-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    emulator = available(wine.prepare, prefix, Limits(seconds=120))
    site = Site(tmp_path / "site", "win-x64", build_program(latebind, tmp_path, "win-x64"))
    three = site.install(3, 1)

    def answer():
        done = emulator.run(Path(site.program), env={}, cwd=None, feed=b"")
        return done.stdout.decode().replace("\r\n", "\n").splitlines()

    assert answer()[0] == "3 3.1"
    (three / "part31.dll").unlink()
    assert "is incomplete: it opens part31.dll, which is missing" in answer()[1]


@pytest.mark.slow
@pytest.mark.emulated
def test_windows_finds_a_driver_in_the_system_folder_and_nothing_else(latebind, tmp_path):
    prefix = cache() / f"wine-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    emulator = available(wine.prepare, prefix, Limits(seconds=120))
    made = Site(tmp_path / "made", "win-x64", build_program(latebind, tmp_path, "win-x64")).install(2, 1)
    answers = []
    for is_driver in ("true", "false"):
        (folder := tmp_path / is_driver).mkdir()
        program = build_program(latebind, folder, "win-x64", f"driver = {is_driver}\n{DESCRIBED}")
        inside = emulator.system_folder() / "pair2.dll"
        shutil.copy(made / "pair2.dll", inside)
        for part in ("part.dll", "part21.dll"):
            shutil.copy(made / part, emulator.system_folder())
        answers.append(emulator.run(program, env={}, cwd=None, feed=b"").stdout.decode())
        inside.unlink()
    assert answers[0].startswith("2 2.1")
    assert "it is in the system folder, whose copy is another program's" in answers[1]
