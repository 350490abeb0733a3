"""Advice of the loader: a fault is made in an environment of Python or Node.js, and the printed command repairs it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.advice.following import list_commands
from tests.conftest import ROOT
from tests.loader.conftest import plain
from tests.loader.places import USER, make_site, run
from tests.support.client import MODEL
from tests.support.needs import require_programs
from tests.support.running import assert_success, run_program

__all__ = ["plain"]

pytestmark = [pytest.mark.slow, pytest.mark.builds]

HEADER = (ROOT / "loader/include/latebind/latebind.h").read_text("utf-8")
OUTCOMES = set(re.findall(r"^  LB_OUTCOME_(\w+) = \d+", HEADER, re.MULTILINE))
"""What a place may be; each has words of its own in message.c."""
TRIED = {"NOT_FOUND", "NOT_A_LIBRARY", "WRONG_ARCHITECTURE", "TOO_OLD", "REFUSED", "BOUND_OLDER"}
UNTRIED = {
    "BOUND": "no fault",
    "INVALID_ARGUMENT": "a mistake in the host's code",
    "MISSING_DEPENDENCY": "names the missing library, which may be the driver of a device that is not here",
    "NO_ENTRY": "names the file: another library with the runtime's name",
    "NO_VERSION": "as above",
    "LOAD_FAILED": "quotes the system's loader",
    "TRY_AGAIN": "names no command: tests/loader/test_passing.py holds that the next call binds",
    "OTHER_MAJOR": "needs a runtime with two major versions on the index",
    "OTHER_MINOR": "as above",
    "INCOMPLETE": "needs a runtime for CUDA; tests/loader/test_variants.py holds that the command repairs",
}


def test_each_outcome_is_tried_or_has_a_reason():
    assert TRIED | UNTRIED.keys() == OUTCOMES
    assert not TRIED & UNTRIED.keys()


@pytest.fixture(scope="module")
def site():
    """An environment with pip, and a packed project that binds ONNX Runtime. Every user can enter its folder."""
    with tempfile.TemporaryDirectory(prefix="latebind-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield set_up(folder)


def set_up(folder):
    assert_success(run_program(sys.executable, "-m", "latebind.cli", "new", "engine", cwd=folder))
    project = folder / "engine"
    assert_success(run_program(sys.executable, "-m", "latebind.cli", "pack", "--target", "linux-x64", cwd=project))
    assert_success(run_program(sys.executable, "-m", "venv", folder / "venv"))
    return Site(folder / "venv/bin", project / "dist")


class Site:
    def __init__(self, programs, dist):
        self.programs = programs
        self.dist = dist

    def run(self, *words, **more):
        """Run a program of the environment, as in a shell that has activated it."""
        path = f"{self.programs}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PIP_FIND_LINKS": str(self.dist), "PIP_QUIET": "1", **more}
        environment = {key: value for key, value in environment.items() if value is not None}
        return subprocess.run(
            [self.programs / words[0], *words[1:]], env=environment, cwd="/", capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip

    def install(self, *requirements):
        assert_success(self.run("pip", "install", *requirements))

    def open(self, *, code="import engine; engine.open_runtime({})", argument="", **more):
        return self.run("python", "-c", code.format(argument), **more)

    def find_library(self):
        [file] = self.programs.parent.glob("lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*")
        return file

    def follow(self, ended):
        """Run the command that the message names."""
        assert ended.returncode, "no error"
        message = ended.stderr.splitlines()[-1]
        text = message.partition("Get it with: ")[2] or message.partition("Run: ")[2]
        [command] = list_commands(text.partition(" (or ")[0])
        assert_success(self.run(*command))
        assert_success(self.open())


@pytest.fixture
def whole(site):
    """The environment, with everything in it."""
    site.install("engine", "onnxruntime")
    assert_success(site.open())
    return site


def truncate(file):
    os.truncate(file, 100_000)


def zeros(file):
    file.write_bytes(bytes(1000) + file.read_bytes()[1000:])


def text(file):
    file.write_text("version https://git-lfs.github.com/spec/v1\n", encoding="ascii")


def other_processor(file):
    with file.open("r+b") as opened:
        opened.seek(18)  # e_machine
        opened.write((183 if os.uname().machine == "x86_64" else 62).to_bytes(2, "little"))


@pytest.mark.parametrize("spoil", [truncate, zeros, text, other_processor])
def test_a_damaged_copy(whole, spoil):
    spoil(whole.find_library())
    whole.follow(whole.open())


def test_no_runtime(whole):
    assert_success(whole.run("pip", "uninstall", "--yes", "onnxruntime"))
    whole.follow(whole.open())


def test_no_runtime_for_a_program_that_searches_no_packages(whole, plain):
    message = plain.probe("--no-system")["report"]["message"]
    command, variable = message.partition("Get it with: ")[2].split(", and name its file in ")
    assert_success(whole.run("pip", "uninstall", "--yes", "onnxruntime"))
    [words] = list_commands(command)
    assert_success(whole.run(*words))
    assert plain.probe("--no-system")["report"]["message"] == message
    found = plain.probe("--no-system", environment={variable: str(whole.find_library())})
    assert (found["outcome"], found["report"]["bound"]) == ("bound", True)


def test_an_old_runtime(whole):
    whole.install("onnxruntime==1.20.1")
    refused = whole.open(argument="minimum='1.22'")
    assert "too old" in refused.stderr
    whole.follow(refused)
    assert_success(whole.open(argument="minimum='1.22'"))


def test_the_process_has_bound_an_older_one(whole):
    whole.install("onnxruntime==1.20.1")
    code = "import engine; engine.open_runtime(); engine.open_runtime(minimum='1.22')"
    refused = whole.open(code=code)
    assert "A process keeps the runtime" in refused.stderr
    whole.follow(refused)
    assert_success(whole.open(argument="minimum='1.22'"))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="not run: only root can make files of several users")
@pytest.mark.parametrize("stand_in", ["good", "newer"])
def test_a_place_that_others_may_change(plain, stand_in):
    with make_site(plain) as site:
        program = site.install("service", "app")
        file = site.add_runtime("app", owner=USER, stand_in=stand_in)
        file.chmod(0o666)
        refused = run(program)
        variable = re.search(r"If you trust [^,]+, name it in (\w+)\.", refused.splitlines()[0])[1]
        bound = run(program, **{variable: str(file)})
    assert bound.splitlines()[0] == str(file)
    assert "If you trust" not in bound


@pytest.mark.parametrize("named", ["/nosuch/libonnxruntime.so", "/etc/hostname"])
def test_a_variable_that_names_no_runtime(whole, named):
    variable = "ONNXRUNTIME_LIB_PATH"
    refused = whole.open(**{variable: named})
    assert re.findall(r"Correct the environment variable (\w+) or unset it", refused.stderr) == [variable]
    assert_success(whole.open(**{variable: None}))
    assert_success(whole.open(**{variable: str(whole.find_library())}))


@pytest.mark.parametrize("named", ["/nosuch/libonnxruntime.so", "/etc/hostname"])
def test_a_path_that_is_no_runtime(whole, named):
    refused = whole.open(argument=f"path={named!r}")
    assert "Correct the path or leave it out" in refused.stderr
    assert_success(whole.open())
    assert_success(whole.open(argument=f"path={str(whole.find_library())!r}"))


NODE = f"""
try {{ require('@latenn/core').load(Buffer.from('{MODEL}', 'base64')); }}
catch (error) {{ console.error(error.message); process.exit(1); }}
"""


@pytest.fixture(scope="module")
def application(latenn_here, tmp_path_factory):
    """An application with latenn's npm packages and the runtime; npm finds latenn's in the folder of packages."""
    require_programs("node", "npm")
    folder = tmp_path_factory.mktemp("application")
    (folder / "package.json").write_text('{"name": "app", "private": true}', encoding="utf-8")
    (folder / "app.cjs").write_text(NODE, encoding="utf-8")
    names = ("core", "core-linux-x64", "onnxruntime", "onnxruntime-linux-x64")
    packages = {name: next(latenn_here.glob(f"latenn-{name}-[0-9]*.tgz")) for name in names}
    start_npm(folder, "install", "onnxruntime-node", *packages.values())
    return folder, packages


def start_npm(folder, *words):
    command = ("npm", *words, "--ignore-scripts", "--no-audit", "--no-fund")
    assert_success(run_program(*command, cwd=folder))


def start_node(folder):
    return run_program("node", "app.cjs", cwd=folder)


@pytest.mark.parametrize("spoil", [truncate, zeros, text, other_processor])
def test_a_damaged_copy_in_node_modules(application, spoil):
    folder, _ = application
    assert_success(start_node(folder))
    [file] = (folder / "node_modules/onnxruntime-node").glob("bin/napi-*/linux/x64/libonnxruntime.so.1")
    spoil(file)
    refused = start_node(folder)
    assert refused.returncode
    advice = refused.stderr.partition("Get it with: ")[2].partition(" (or ")[0]
    command, _, deleted = advice.partition(", after you delete ")
    shutil.rmtree(folder / deleted)
    start_npm(folder, *shlex.split(command)[1:])
    assert_success(start_node(folder))


@pytest.mark.parametrize("lacks", ["onnxruntime-linux-x64", "onnxruntime"])
def test_a_backend_that_npm_left_out(application, lacks):
    folder, packages = application
    shutil.rmtree(folder / "node_modules/@latenn" / lacks)
    refused = start_node(folder)
    assert refused.returncode
    assert "pip install" not in refused.stderr
    [[*words, package]] = list_commands(refused.stderr.partition("Get it with: ")[2].splitlines()[0])
    name, _, version = package.removeprefix("@latenn/").partition("@")
    assert words == ["npm", "install"]
    assert packages[name].name.endswith(f"-{version}.tgz" if version else ".tgz")
    start_npm(folder, "install", packages[name])  # it is on no registry
    assert_success(start_node(folder))
