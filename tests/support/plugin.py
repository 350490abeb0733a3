"""A plugin of pytest for the tests of latebind and of latenn: their environment, the check of skips, shared folders."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import hypothesis
import msgspec
import pytest

from latebind.compilers.zig import find_zig, zig_variables
from tests.support.building import runtime_library

ROOT = Path(__file__).resolve().parents[2]
_SKIPPED = []

# Tests that call zig themselves take its standard libraries from where latebind's builds keep them.
if zig := find_zig():
    os.environ.update(zig_variables(zig, ROOT / ".latebind"))

# Programs that color what they print when CI is set, or FORCE_COLOR, print the same words everywhere.
os.environ.pop("FORCE_COLOR", None)
os.environ["NO_COLOR"] = "1"

# nohup and background shells ignore these signals, and so would each program that a test ends by one.
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long one case takes says nothing where other workers keep the processors busy.
hypothesis.settings.register_profile("latebind", deadline=None)
hypothesis.settings.load_profile("latebind")


MARKERS = {
    "advice": "tries this advice of messages",
    "browser": "in a headless Chromium",
    "builds": "builds, packs or installs: not one of the quick tests, but of those before a commit",
    "emulated": "under wine or qemu",
    "libraries": "with PyTorch and JAX; a session of its own",
    "slow": "takes more than a few seconds",
    "workflows": "the jobs of the workflows, run here",
}
"""Of these, the sessions of tests run `browser` alone."""


def pytest_configure(config):
    """Declare the markers."""
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_runtest_logreport(report):
    """Keep the reason of every skip."""
    if report.skipped and isinstance(report.longrepr, tuple):
        _SKIPPED.append((report.nodeid, str(report.longrepr[2]).removeprefix("Skipped: ")))


def pytest_collectreport(report):
    """A module that is skipped as a whole."""
    pytest_runtest_logreport(report)


def unexpected_skips(skipped, table):
    """The skips whose reason is not in the table."""
    allowed = [re.compile(skip["reason"], re.DOTALL) for skip in msgspec.toml.decode(table.read_bytes())["skip"]]
    return [(name, why) for name, why in skipped if not any(form.fullmatch(why) for form in allowed)]


def pytest_sessionfinish(session):
    """With LATEBIND_STRICT_SKIPS=1, fail when a test that should run on this machine was skipped."""
    if not os.environ.get("LATEBIND_STRICT_SKIPS") or hasattr(session.config, "workerinput") or sys.platform != "linux":
        return
    unexpected = unexpected_skips(_SKIPPED, ROOT / "tests" / "skips.toml")
    for name, why in unexpected:
        sys.stderr.write(f"\nskipped, and not in tests/skips.toml: {name}: {why}\n")
    if unexpected and session.exitstatus == 0:
        session.exitstatus = 1


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    """The folder that all workers of a run have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base


@pytest.fixture(scope="session")
def kept_builds():
    """A folder for what knows by itself whether it must be made again; every worker of every run has it in common."""
    folder = ROOT / ".latebind" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def onnxruntime():
    """The shared library of the installed ONNX Runtime."""
    library = runtime_library()
    if library is None:
        pytest.skip("not run: no onnxruntime distribution with a shared library is installed: pip install onnxruntime")
    return library


@pytest.fixture(scope="session")
def latebind():
    """The command line as a user runs it: in a process of its own."""

    def run(*arguments, env=None, timeout=300):
        command = [sys.executable, "-m", "latebind.cli", *map(str, arguments)]
        environment = {**os.environ, "NO_COLOR": "1", **(env or {})}
        captured = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        return subprocess.run(command, env=environment, timeout=timeout, check=False, **captured)

    return run
