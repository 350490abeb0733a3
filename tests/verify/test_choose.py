"""Which test cases this machine and others run."""

import pytest

from latebind.backend.targets import Rid, host_rid
from latebind.compilers.interpreters import own_interpreter
from latebind.config.file import load
from latebind.verify.cases.expand import expand_cases, list_lines
from latebind.verify.choose import ChosenCases, Request, _extent, able, list_cases
from latebind.verify.run.index import Answers
from latebind.verify.run.machine import Machine
from tests.support.client import SEVERAL, write_files
from tests.support.running import assert_refused, assert_success, not_run
from tests.support.thingclient import ADDON_PACKAGE

CONFIG = load(SEVERAL)
LINUX, WINDOWS, MACOS = Rid("linux-x64"), Rid("win-x64"), Rid("osx-arm64")
WINE = Machine(rid=WINDOWS, title="wine", command=("wine",), python_version="3.12.1")
GLUE = Machine(rid=MACOS, title="an emulated processor", command=("run",), level="glue")


def test_libraries_are_loaded_in_c_only_where_a_machine_runs_no_runtime_and_pythons_are_the_machines_own():
    request = Request(rids=(LINUX, WINDOWS, MACOS), machines={WINDOWS: WINE, MACOS: GLUE})

    extent = _extent(request, "3.11")

    assert extent.glue == {MACOS}
    assert extent.pythons == {LINUX: "3.11", WINDOWS: "3.12", MACOS: "3.11"}


HERE = {"tool": None, "pythons": (own_interpreter(),), "folder": None}


def choose(rid, minor="3.11"):
    """What this machine would run of the test cases for a target with a CPython."""
    request = Request(rids=(rid,))
    cases = expand_cases(list_lines(CONFIG, [rid], _extent(request, minor)), Answers())
    return ChosenCases(request=request, cases=cases, **HERE)


def test_a_list_has_each_case_with_the_reason_why_it_would_not_run_here_and_their_number():
    chosen = choose(LINUX if host_rid() == WINDOWS else WINDOWS)
    ids = [configured.case.id for configured in chosen.cases]
    missing = [name for name in ids if not name.endswith("/files")]  # files for another system are made here

    lines = list_cases(chosen).splitlines()

    assert lines[:-1] == [name + "  not run: no-machine" * (name in missing) for name in ids]
    assert lines[-1] == f"{len(ids)} test cases, {len(missing)} of them cannot run here"


def test_a_cpython_that_is_not_installed_keeps_only_what_it_would_run_from_running():
    chosen = choose(host_rid(), "3.99")
    case_by_consumer = {configured.case.consumer: configured for configured in chosen.cases}

    with not_run("no-interpreter", "CPython 3.99 is not installed here"):
        able(case_by_consumer["python3.99"], chosen)

    assert able(case_by_consumer["node"], chosen)[1] == chosen.pythons


@pytest.mark.parametrize(
    ("only", "options"),
    [
        *((["--merge", "verify.json"], options) for options in (["-k", "win"], ["--list"], ["--shard", "1/2"])),
        *((["--merge", "verify.json"], [option]) for option in ("--fresh", "--all")),
        *((["--kit", "kit"], options) for options in (["--list"], ["--fresh"], ["--format", "json"])),
        (["--list"], ["--format", "json"]),
    ],
)
def test_options_that_would_do_nothing_are_refused(latebind, only, options):
    assert_refused(latebind("verify", *only, *options), f"{options[0]} would have no effect with {only[0]}")


PROJECT = """\
<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework>
</PropertyGroup></Project>
"""
ADDON = ADDON_PACKAGE.format(exports="addon_version")


@pytest.mark.parametrize(
    ("verify", "says"),
    [
        (
            '[verify]\nnode = "verify/node"\n',
            "nothing to verify; verify.node is set, but no npm package is known to have PortAudio\n",
        ),
        ("", "there is nothing to verify\nhelp: Wheels need verify.python, "),
    ],
)
def test_that_nothing_can_be_verified_has_its_reason(latebind, tmp_path, verify, says):
    for folder in ("native", "npm", "verify/node"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "npm/index.cjs").write_text("module.exports = {};")
    (tmp_path / "LICENSE").write_text("MIT")
    (tmp_path / "verify/node/package.json").write_text('{"name": "consumer", "version": "1.0.0", "main": "main.js"}')
    (tmp_path / "latebind.toml").write_text(ADDON + verify)
    assert_refused(latebind("-C", tmp_path, "verify", "--list"), says)


@pytest.mark.parametrize(
    ("table", "verify", "case"),
    [
        ('maven = { group = "a.b", name = "addon" }', "java", "jar/linux-x64/java/portaudio-latest/path"),
        ('nuget = { id = "Addon" }', "dotnet", "nupkg/linux-x64/dotnet-build/portaudio-latest/environment"),
    ],
)
def test_a_case_without_a_supplier_of_its_runtime_says_that_it_is_not_run(latebind, tmp_path, table, verify, case):
    for folder in ("native", "verify"):
        (tmp_path / folder).mkdir()
    (tmp_path / "LICENSE").write_text("MIT")
    write_files(tmp_path / f"verify/{verify}", {"Main.java": "class Main {}", "c.csproj": PROJECT})
    config = ADDON.replace('npm = { name = "addon", source = "npm" }', table)
    (tmp_path / "latebind.toml").write_text(f'{config}[verify]\n{verify} = "verify/{verify}"\n')
    listed = assert_success(latebind("-C", tmp_path, "verify", "--list"))
    assert f"{case}  not run: no-distribution" in listed.splitlines()
