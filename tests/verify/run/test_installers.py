"""uv, for real: clean environments, what the index has, and what is not there."""

import json
import os
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from latebind.backend.targets import Rid, targets
from latebind.backend.toolchain import BUILD_PROGRAMS
from latebind.backend.zig import ZIG_REQUIREMENT
from latebind.errors import NotRun, ToolError
from latebind.system.run import run
from latebind.verify.run import installers as environments
from latebind.verify.run.installers import (
    UV_REQUIREMENT,
    consumer_environment,
    installer,
    installer_environment,
    python_of,
)
from tests.conftest import ROOT
from tests.support.running import not_run
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
def test_a_wheel_that_only_other_pythons_get_is_unpacked_for_its_library(tool, tmp_path):
    wanted = ("msgspec==0.9.0", tmp_path / "out", Rid("linux-x64"), tmp_path / "log")  # for CPython 3.8 to 3.10
    if sys.version_info >= (3, 11):
        with not_run("no-distribution"):
            tool.unpack(*wanted)
    tool.unpack(*wanted, for_any=True)
    assert list((tmp_path / "out" / "msgspec").glob("*x86_64*.so"))


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


@pytest.mark.parametrize(
    ("given", "is_writable", "where"),
    [
        ({"UV_CACHE_DIR": "/own"}, True, "/own"),
        ({"UV_CACHE_DIR": "/own"}, False, "/own"),
        ({"XDG_CACHE_HOME": "/xdg"}, True, "/xdg/uv"),
        ({"XDG_CACHE_HOME": "/xdg"}, False, "/home/of/latebind/cache/uv"),
        ({}, True, "/caller/.cache/uv"),
        ({"XDG_CACHE_HOME": ""}, False, "/home/of/latebind/cache/uv"),
    ],
)
def test_downloads_are_cached_where_the_callers_uv_caches_them_if_it_can(monkeypatch, given, is_writable, where):
    monkeypatch.setattr(os, "environ", given)
    monkeypatch.setattr(environments, "callers_home", lambda: Path("/caller"))
    monkeypatch.setattr(environments, "is_writable", lambda _: is_writable)
    assert Path(installer_environment(Path("/home/of/latebind"))["UV_CACHE_DIR"]) == Path(where)


def test_a_folder_that_is_to_be_made_is_as_writable_as_the_one_that_exists_above_it(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert environments.is_writable(tmp_path)
    assert environments.is_writable(tmp_path / "new/and/deep")
    assert not environments.is_writable(tmp_path / "file/below")


@pytest.mark.parametrize("word", ["1", "on", "t", "TRUE", "y", "Yes", "0", "off", "false", "", None])
def test_uv_offline_is_what_uv_takes_for_true(tmp_path, monkeypatch, word):
    monkeypatch.setattr(os, "environ", {} if word is None else {"UV_OFFLINE": word})
    is_set = word not in ("0", "off", "false", "", None)
    tool = environments.Installer(tmp_path / "uv", tmp_path)
    assert tool.offline.is_set() is is_set
    tool.offline.clear()
    error = ToolError("Failed to fetch: `http://x/simple/`")
    monkeypatch.setattr(environments, "run", fail_with(error))
    with not_run("no-index", "UV_OFFLINE is set" if is_set else "^http://x/simple/ gave no usable answer"):
        tool.install(tmp_path, ["x"], log=tmp_path / "log")


def fail_with(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("error: Failed to fetch: `https://x/`", "no-index"),
        ("error: Request failed after 3 retries", "no-index"),
        ("uv ran past its limit of 120 s", "no-index"),
        ("https://x/ returned a 403 Forbidden", "no-index"),
        ("No solution found when resolving dependencies", "no-distribution"),
        ("x was not found in the package registry", "no-distribution"),
        ("Failed to fetch: No solution found", "no-index"),  # the index did not answer: that is what counts
        ("the disk is full", ""),
    ],
)
def test_why_uv_failed_is_told_by_its_words(tmp_path, monkeypatch, words, reason):
    monkeypatch.delenv("UV_OFFLINE", raising=False)
    tool = environments.Installer(tmp_path / "uv", tmp_path)
    monkeypatch.setattr(environments, "run", fail_with(ToolError(words)))
    if reason:
        with not_run(reason):
            tool.install(tmp_path, ["x"], log=tmp_path / "log")
    else:
        with pytest.raises(ToolError, match=words):
            tool.install(tmp_path, ["x"], log=tmp_path / "log")
    # Whoever only asks has no disk to fill: what is no answer is an index that gave none.
    with not_run(reason or "no-index"):
        tool.resolve("x", BASE)


def test_each_step_asks_uv_for_binaries_of_the_interpreter_that_is_meant(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", {"PATH": "/bin"})
    asked = []

    def note(argv, **how):
        asked.append((" ".join(map(str, argv[1:])).replace(str(tmp_path), ""), how["env"]))
        return SimpleNamespace(output="x==1.0 ; marker\n")

    monkeypatch.setattr(environments, "run", note)
    monkeypatch.setattr(environments, "host_rid", lambda: Rid("linux-x64"))
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_FIND_LINKS", "/mine /more")  # the option replaces the variable, so it repeats it
    tool, log, env = environments.Installer(tmp_path / "uv", tmp_path, link_mode="copy"), tmp_path / "log", "/env"
    python = str(python_of(tmp_path / "env")).removeprefix(str(tmp_path))
    binary = "--only-binary :all:"

    def last():
        return asked[-1][0]

    tool.create(tmp_path / "env", Path("/python"), log)
    assert last() == f"venv --no-project --no-config --python /python {env}"
    tool.install(tmp_path / "env", ["a", "b==1"], log=log)
    assert last() == f"pip install {binary} --python {python} a b==1"
    tool.install(tmp_path / "env", ["a"], into=tmp_path / "t", links=tmp_path / "l", ours=["o", "p"], log=log)
    assert last() == (
        f"pip install {binary} --python {python} --target /t --find-links /l --find-links /mine --find-links /more "
        "--refresh-package o --refresh-package p a"
    )
    tool.unpack("a==1", tmp_path / "u", Rid("win-x64"), log)
    platform = "--python-platform x86_64-pc-windows-msvc"
    assert last() == f"pip install --no-deps {binary} --target /u {platform} --python {sys.executable} a==1"
    tool.install_from("http://r", tmp_path / "env", ["a"], log)
    assert last() == f"pip install --python {python} --index http://r a"
    assert "UV_LINK_MODE" not in asked[-1][1]
    for rid, minor, words in [
        (None, "", ""),
        ("linux-x64", "", ""),  # this machine's own
        ("linux-x64", "3.12", "--python-version 3.12 "),
        ("osx-arm64", "3.12", "--python-platform aarch64-apple-darwin --python-version 3.12 "),
    ]:
        assert tool.resolve("x", Path("/python"), rid and Rid(rid), minor) == "1.0"
        start, _, _ = last().rpartition(" ")
        assert f"{start} " == f"pip compile --no-deps --no-header --no-annotate {binary} {words}--python /python "
    settings = asked[-1][1]
    assert (settings["UV_LINK_MODE"], settings["MACOSX_DEPLOYMENT_TARGET"]) == ("copy", environments.NEWEST_MACOS)
    assert "UV_OFFLINE" not in settings
    tool.offline.set()
    tool.install(tmp_path / "env", ["a"], ours=["o"], log=log)
    assert [words for words, _ in asked[-2:]] == ["cache clean o", f"pip install {binary} --python {python} a"]
    assert asked[-1][1]["UV_OFFLINE"] == "1"


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("manylinux_2_34_aarch64", "aarch64-manylinux_2_34"),
        ("manylinux_2_17_x86_64", "x86_64-manylinux_2_17"),
        *((platform.wheel_tag, platform.uv_platform) for platform in targets().values()
          if platform.uv_platform and not platform.wheel_tag.startswith("manylinux")),
    ],
)  # fmt: skip
def test_a_machine_gets_wheels_for_its_newest_tag(tag, name):
    assert environments.uv_platform(SimpleNamespace(platforms=(tag, "older"), title="It")) == name


def test_a_tag_that_uv_has_no_name_for_is_not_run():
    with not_run("no-machine", "uv knows no platform for haiku_1, the newest wheel tag of It"):
        environments.uv_platform(SimpleNamespace(platforms=("haiku_1",), title="It"))


@pytest.mark.parametrize("program", ["python", "python.exe"])
def test_an_environment_of_another_machine_is_written_with_its_own_interpreter(tmp_path, program):
    (base := tmp_path / "base").mkdir()
    for name in (program, "python3.dll", "readme.txt"):
        (base / name).write_text(name, encoding="utf-8")
    machine = SimpleNamespace(
        python=base / program,
        python_version="3.12.1",
        platforms=("manylinux_2_34_aarch64",),
        constraints=("numpy<2", "x!=1"),
        path=lambda path: f"Z:{path.relative_to(tmp_path).as_posix()}",
        python_of=lambda folder: folder / "bin" / program,
        site_packages=lambda folder: folder / "lib/site-packages",
    )
    tool = environments.foreign_installer(machine, environments.Installer(tmp_path / "uv", tmp_path))
    assert (tool.uv, tool.home) == (tmp_path / "uv", tmp_path)
    env = tmp_path / "env"
    tool.create(env, BASE, tmp_path / "log")
    assert (env / "pyvenv.cfg").read_text("utf-8").splitlines() == [
        "home = Z:base", "include-system-site-packages = false", "version = 3.12.1",
    ]  # fmt: skip
    assert (env / "lib/site-packages").is_dir()
    made = {path.name for path in (env / "bin").iterdir()}
    assert made == ({"python.exe", "python3.dll"} if program == "python.exe" else {"python"})
    assert (env / "bin/python").is_symlink() is (program == "python")
