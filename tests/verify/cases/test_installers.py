"""uv, for real: clean environments, what the index has, and what is not there."""

import json
import os
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from latebind.compilers.choose import BUILD_PROGRAMS
from latebind.compilers.zig import ZIG_REQUIREMENT
from latebind.errors import NotRun, ToolError
from latebind.system.run import run
from latebind.tables.targets import targets
from latebind.verify.cases import installers as environments
from latebind.verify.cases.installers import (
    UV_REQUIREMENT,
    consumer_environment,
    installer,
    installer_environment,
    python_of,
)
from loadcheck.model import Rid
from tests.conftest import ROOT
from tests.programs import not_run
from tests.verify.release_index import write_wheel

BASE = Path(getattr(sys, "_base_executable", sys.executable))


@pytest.fixture
def tool(tmp_path):
    chosen = installer(tmp_path / "home")
    (tmp_path / "home").mkdir()
    try:
        chosen.resolve("iniconfig", BASE)
    except NotRun as error:
        pytest.skip(f"not run: {error.reason}")
    return chosen


def test_uv_knows_the_platform_of_each_target(tmp_path):
    uv = installer(tmp_path).uv
    asked = run([uv, "pip", "compile", "--python-platform", "none", "x"], check=False).output
    assert "possible values: " in asked
    names = {target.uv_platform for target in targets().values() if target.uv_platform}
    assert {name for name in names if not re.search(rf"[\[ ]{re.escape(name)}[,\]]", asked)} == set()


def test_a_uv_that_is_too_old_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "UV_REQUIREMENT", "uv>=999")
    with pytest.raises(ToolError, match=r"is \d+\.\S+, but uv>=999 is needed") as caught:
        installer(tmp_path)
    assert (caught.value.where.rpartition("/")[2], caught.value.advice) == ("uv", 'Run: pip install "uv>=999"')


def test_the_extras_install_what_is_asked_for():
    extras = msgspec.toml.decode((ROOT / "pyproject.toml").read_bytes())["project"]["optional-dependencies"]
    assert {UV_REQUIREMENT, *BUILD_PROGRAMS.values(), ZIG_REQUIREMENT} <= {*extras["native"], *extras["verify"]}


def test_two_test_cases_do_not_download_the_same_at_the_same_time(tmp_path, monkeypatch):
    tool = environments.Installer(tmp_path / "uv", tmp_path)

    def meet(seconds):
        together, met = threading.Barrier(2), []

        def install(*_):
            try:
                together.wait(seconds)
                met.append(True)
            except threading.BrokenBarrierError:
                together.reset()

        monkeypatch.setattr(environments, "_install", install)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda name: tool.install(tmp_path, [name], log=tmp_path / "log"), ["a", "b"]))
        return met

    assert meet(0.1) == []
    assert meet(20) == [True, True]  # all of it is in the cache


@pytest.mark.slow
def test_an_environment_sees_nothing_of_ours(tool, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/somewhere")
    (tmp_path / "ours.py").write_text("", encoding="utf-8")
    folder, log = tmp_path / "an environment", tmp_path / "log"

    tool.create(folder, BASE, log)
    tool.install(folder, ["iniconfig==2.0.0"], log=log)

    code = (
        "import importlib.util as u, json, os, iniconfig, importlib.metadata as m;"
        "print(json.dumps([bool(u.find_spec('ours')), bool(u.find_spec('latebind')), m.version('iniconfig'),"
        "sorted(os.environ)]))"
    )
    done = run([python_of(folder), "-I", "-c", code], env=consumer_environment(python_of(folder), tmp_path))
    ours, latebind, version, variables = json.loads(done.output)
    assert (ours, latebind, version) == (False, False, "2.0.0")
    # The last finds what is left running.
    assert set(variables) <= {"PATH", "HOME", "LANG", "LC_CTYPE", "LATEBIND_TREE"}


@pytest.mark.slow
def test_the_index_is_asked_for_versions(tool):
    assert tool.resolve("iniconfig==2.0.*", BASE) == "2.0.0"
    with not_run("no-distribution"):
        tool.resolve("iniconfig<0.0.1", BASE)


@pytest.mark.slow
def test_a_wheel_for_another_processor_is_unpacked(tool, tmp_path):
    tool.unpack("msgspec==0.20.0", tmp_path / "out", Rid("linux-arm64"), tmp_path / "log")
    assert list((tmp_path / "out" / "msgspec").glob("*aarch64*.so"))


@pytest.mark.slow
def test_what_the_index_does_not_have_is_not_run(tool, tmp_path):
    tool.create(tmp_path / "env", BASE, tmp_path / "log")
    with not_run("no-distribution"):
        tool.install(tmp_path / "env", ["iniconfig==0.0.0.1"], log=tmp_path / "log")


def test_without_uv_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "which", lambda _: None)
    monkeypatch.setattr(environments.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ToolError, match="uv is not installed") as caught:
        installer(tmp_path)
    assert "latebind[verify]" in caught.value.advice


def test_uv_offline_of_the_caller_is_named_and_own_packages_install(tmp_path, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "true")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    for key in ("UV_FIND_LINKS", "PIP_FIND_LINKS", "UV_DEFAULT_INDEX", "PIP_INDEX_URL", "UV_INDEX"):
        monkeypatch.delenv(key, raising=False)
    links = tmp_path / "links"
    write_wheel(links, "thing", "1.0", "py3-none-any", {})
    tool, folder, log = installer(tmp_path / "home"), tmp_path / "env", tmp_path / "log"

    with not_run("no-index", "UV_OFFLINE is set, and uv's cache has no iniconfig"):
        tool.resolve("iniconfig", BASE)
    tool.create(folder, BASE, log)
    tool.install(folder, ["thing==1.0"], links=links, ours=["thing"], log=log)

    assert list(folder.rglob("thing-1.0.dist-info"))
    with not_run("no-index", "UV_OFFLINE is set"):
        tool.install(folder, ["iniconfig"], log=log)


def test_settings_for_the_index_reach_the_installer_and_nothing_else_does(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "environ", {"PIP_INDEX_URL": "x", "HTTPS_PROXY": "p", "SECRET": "s", "PYTHONPATH": "y"})
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    environment = installer_environment(tmp_path)
    assert (environment["UV_DEFAULT_INDEX"], environment["HTTPS_PROXY"]) == ("x", "p")
    assert not {"SECRET", "PYTHONPATH"} & set(environment)
