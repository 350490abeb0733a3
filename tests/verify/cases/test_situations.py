"""Ways to make a library unusable, on a real one; and what each scenario sets up around a consumer."""

from dataclasses import fields
from types import SimpleNamespace

import pytest

from corpus.packages import Compiler
from latebind.backend.targets import Rid
from latebind.config.file import load
from latebind.errors import InputError, NotRun
from latebind.model import Case
from latebind.verify.cases import situations as spoil
from latebind.verify.cases.scenarios import SCENARIOS, scenario
from latebind.verify.cases.situations import ODD
from latebind.verify.declared import ORDINARY, ConfiguredCase, Situation, find_consumer
from latebind.verify.run.trial import Trial
from tests.support.client import SEVERAL
from tests.support.epclient import write_ep
from tests.support.running import not_run

SOURCE = """\
#include <stdio.h>
const char* v(void) { puts("called"); return "1.31.1"; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return Compiler(tmp_path_factory.mktemp("spoil")).library(SOURCE)


def test_halves_noughts_and_texts(library):
    data = library.read_bytes()
    cut = spoil.truncate(data)
    assert data.startswith(cut)
    assert 64 < len(cut) <= len(data) // 2
    assert spoil.truncate(data + bytes(len(data) * 8)) == cut  # what is not loaded, such as names for debuggers
    assert spoil.truncate(b"MZ" + bytes(98)) == b"MZ" + bytes(48)
    assert len(spoil.corrupt(data)) == len(data)
    assert not spoil.corrupt(data).startswith(b"\x7fELF")
    assert spoil.text(data).startswith(b"This is not a library")


def test_a_name_is_changed_in_place(library):
    data = library.read_bytes()
    changed = spoil.rename(data, "1.31.1", "2.31.1")
    assert len(changed) == len(data)
    assert b"\x002.31.1\x00" in changed


@pytest.mark.parametrize(("old", "new"), [("9.99.9", "8.88.8"), ("1.31.1", "10.31.1")])
def test_a_name_that_is_not_there_or_of_another_length_is_refused(library, old, new):
    with pytest.raises(InputError, match=r"does not contain"):
        spoil.rename(library.read_bytes(), old, new)


def test_a_needed_library_gets_a_name_that_no_system_has(library):
    needed, gone = spoil.dependency_of(library)
    assert needed.startswith("lib")
    assert len(gone) == len(needed)
    assert gone != needed


def test_a_file_that_needs_nothing_is_refused(tmp_path):
    (tmp_path / "text.so").write_bytes(b"no library")
    with pytest.raises(InputError, match="has no dependency that this test can rename"):
        spoil.dependency_of(tmp_path / "text.so")


def test_breaking_a_library_leaves_the_file_that_other_test_cases_have_a_link_to(tmp_path):
    shared, linked = tmp_path / "shared.so", tmp_path / "linked.so"
    shared.write_bytes(b"good")
    linked.hardlink_to(shared)
    spoil.Situation(spoil=spoil.truncate).break_files([linked])
    assert (shared.read_bytes(), linked.read_bytes()) == (b"good", b"go")


def test_a_minimum_is_raised_above_the_version_of_the_test_case():
    trial = SimpleNamespace(case=SimpleNamespace(version="1.31.1"))

    situation = spoil.too_old(trial, None)

    assert (situation.arguments, situation.values) == (("--runtime-minimum", "1.32"), {"raised": "1.32"})


def test_a_copy_of_a_runtime_has_its_neighbours(tmp_path):
    (tmp_path / "lib").mkdir()
    for name in ("libonnxruntime.so.1", "libonnxruntime_providers_shared.so"):
        (tmp_path / "lib" / name).write_text(name)
    library = tmp_path / "lib/libonnxruntime.so.1"
    trial = SimpleNamespace(library=lambda *_: library, case=SimpleNamespace(version="1.31.1"), work=tmp_path / "work")

    copy = spoil.copy_runtime(trial, None, "decoy")

    assert copy == tmp_path / "work/decoy/libonnxruntime.so.1"
    assert {path.name: path.read_text() for path in copy.parent.iterdir()} == {
        path.name: path.name for path in library.parent.iterdir()
    }


# ---- what each scenario sets up

CONFIG = load(SEVERAL)
RUNTIME = CONFIG.document.runtime[0]
INDEX = {"onnxruntime-gpu": "1.30.0", "thing-cu12": "12.9", "thing-cu11": "11.8"}
"""The newest version of each distribution."""


def read_text(runtime, version, rid):
    """What the libraries hold here: which they are, and a version as ONNX Runtime's has it."""
    return f"{runtime.name} {version} {rid}\0{version}\0"


def make_trial(
    folder, name="works", *, rid="linux-x64", version="1.31.1", consumer="python3.11", config=CONFIG, **more
):
    """A trial with shared libraries that are small files, on a machine that has other paths than this one."""

    def supply_library(runtime, wanted, target):
        where = folder / f"cache/{target}/{wanted}"
        where.mkdir(parents=True, exist_ok=True)
        (where / "libneighbour.so").write_text("neighbour", encoding="utf-8")
        library = where / f"libonnxruntime.so.{wanted}"
        library.write_text(read_text(runtime, wanted, target), encoding="utf-8")
        return library

    (work := folder / "work").mkdir(exist_ok=True)
    case = Case(kind="wheel", target=Rid(rid), consumer=consumer, runtime="onnxruntime", version=version, scenario=name)
    runtime = config.document.runtime[0]
    rest = {"bound_runtime": runtime, "package": config.package_of(runtime), "oldest": "1.19.2", "stands_in": False}
    rest |= {"python": "3.11", "trouble": None, "native_only": False, **more}
    return Trial(
        configured=ConfiguredCase(case=case, **rest), scenario=scenario(case.scenario),
        config=config, artifacts=(), log=work / "log", work=work,
        shared=SimpleNamespace(
            library=supply_library,
            installer=SimpleNamespace(resolve=lambda wanted, python: INDEX[wanted] if python == "python" else ""),
        ),
        machine=SimpleNamespace(path=lambda path: f"Z:{path.relative_to(folder).as_posix()}"),
        interpreters=(SimpleNamespace(path="python"),),
    )  # fmt: skip


def tell(situation, folder):
    """The fields that differ from an ordinary situation's; folders without what is above the test's."""
    told = {field.name: getattr(situation, field.name) for field in fields(situation)}
    told = {name: value for name, value in told.items() if value != getattr(ORDINARY, name)}
    if "roots" in told:
        told["roots"] = [path.relative_to(folder / "work").as_posix() for path in told["roots"]]
    return {name: dict(value) if name in ("environment", "values") else value for name, value in told.items()}


def list_files(folder):
    """What was made below the test case's folder: the version in each file, and nothing for a neighbour."""
    files = (path for path in (folder / "work").rglob("*") if path.is_file())
    texts = {path.relative_to(folder / "work").as_posix(): path.read_text("utf-8") for path in files}
    return {name: text.split()[1] if "\0" in text else "" for name, text in sorted(texts.items())}


def copy_in(name, version):
    """The files that a copy of the runtime consists of."""
    return {f"{name}/libneighbour.so": "", f"{name}/libonnxruntime.so.{version}": version}


def give_path(path, root):
    """What a situation has whose consumer is given an explicit path, below a root of the test case."""
    return {"arguments": ("--runtime-path", path), "roots": [root], "values": {"path": path}}


NEW, OLD, VARIABLE = "1.31.1", "1.19.2", "ONNXRUNTIME_LIB_PATH"
PLAIN = ("libonnxruntime.so", "libonnxruntime.so.1")
SET_UPS = {
    "with-gpu": ({"also": ("onnxruntime-gpu==1.30.0",), "binds": (NEW, "1.30.0")}, {}),
    "upgraded": ({"first": OLD}, {}),
    "imported-before": ({"action": ("--import-before", "onnxruntime")}, {}),
    "imported-after": ({"action": ("--import-after", "onnxruntime")}, {}),
    "odd-folder": ({"folder": ODD}, {}),
    "unsupported": ({"arguments": ("--module", "several_onnxruntime")}, {}),
    "too-old": ({"arguments": ("--runtime-minimum", "1.32"), "values": {"raised": "1.32"}}, {}),
    "older-loaded": (
        {
            "arguments": ("--runtime-minimum", "1.31"),
            "action": ("--preload", f"Z:work/older/libonnxruntime.so.{OLD}"),
            "roots": ["older"],
        },
        copy_in("older", OLD),
    ),
    "two-runtimes": (
        {
            "action": ("--preload", f"Z:work/other/libonnxruntime.so.{OLD}"),
            "roots": ["other"],
            "binds": (OLD,),
            "copies": 1,
        },
        copy_in("other", OLD),
    ),
    "path": (give_path(f"Z:work/given/libonnxruntime.so.{NEW}", "given"), copy_in("given", NEW)),
    "path-folder": (give_path("Z:work/given", "given"), copy_in("given", NEW)),
    "path-relative": (give_path(f"given/libonnxruntime.so.{NEW}", "home/given"), copy_in("home/given", NEW)),
    "path-odd": (give_path(f"Z:work/{ODD}/libonnxruntime.so.{NEW}", ODD), copy_in(ODD, NEW)),
    "environment": (
        {"environment": {VARIABLE: f"Z:work/given/libonnxruntime.so.{NEW}"}, "roots": ["given"]},
        copy_in("given", NEW),
    ),
    "decoy": ({"environment": {"LD_LIBRARY_PATH": "Z:work/decoy"}}, {f"decoy/{name}": OLD for name in PLAIN}),
    "decoy-system": ({"action": ("--plant", f"Z:cache/linux-x64/{OLD}/libonnxruntime.so.{OLD}")}, {}),
    "path-wrong": (give_path("Z:work/nowhere/libonnxruntime.so", "nowhere"), {}),
    "not-a-library": (give_path("Z:work/given/libonnxruntime.so", "given"), {"given/libonnxruntime.so": ""}),
    "environment-wrong": (
        {
            "environment": {VARIABLE: "Z:work/nowhere/libonnxruntime.so"},
            "values": {"path": "Z:work/nowhere/libonnxruntime.so", "variable": VARIABLE},
        },
        {},
    ),
    "missing-backend": (
        {"without": "onnxruntime", "values": {"backend": "several-onnxruntime", "runtime": "onnxruntime"}},
        {},
    ),
}
"""By scenario: the fields of its situation, and the files that it makes, with the version that each holds."""
ELSEWHERE = {"two-packages", "other-majors", "companion-missing", "other-major", "wrong-architecture",
             "dependency-missing"}  # fmt: skip
"""Those with a test of their own below."""


def test_each_set_up_has_a_test():
    assert {one.name for one in SCENARIOS if callable(one.set_up)} == {*SET_UPS, *ELSEWHERE}


@pytest.mark.parametrize("name", SET_UPS)
def test_what_a_scenario_sets_up(tmp_path, name):
    situation = make_trial(tmp_path, name).situation
    assert (tell(situation, tmp_path), list_files(tmp_path)) == SET_UPS[name]


def test_an_ordinary_situation_differs_in_nothing():
    values = {field.name: getattr(ORDINARY, field.name) for field in fields(ORDINARY)}
    assert {name: value for name, value in values.items() if value} == {"folder": "env", "layout": "venv"}


def test_a_scenario_without_a_set_up_is_what_the_table_says_and_one_without_a_runtime_is_ordinary(tmp_path):
    threads = make_trial(tmp_path, "threads")
    assert threads.situation is scenario("threads").set_up
    assert make_trial(tmp_path, "path", bound_runtime=None).situation is ORDINARY
    assert list_files(tmp_path) == {}


@pytest.mark.parametrize("oldest", ["", NEW, "1.32.0"])
@pytest.mark.parametrize("name", ["upgraded", "older-loaded", "two-runtimes", "decoy", "decoy-system"])
def test_without_an_older_version_nothing_is_set_up(tmp_path, name, oldest):
    with not_run("no-distribution", f"no supported version below {NEW}"):
        _ = make_trial(tmp_path, name, oldest=oldest).situation
    assert list_files(tmp_path) == {}


def test_two_packages_use_two_copies_of_one_version(tmp_path):
    trial = make_trial(tmp_path, "two-packages")
    beside = tmp_path / "cache/libbeside.so"
    object.__setattr__(trial, "library_beside", lambda: beside)
    assert tell(trial.situation, tmp_path) == {
        "action": ("--beside", "Z:cache/libbeside.so", f"Z:work/other/libonnxruntime.so.{NEW}"),
        "roots": ["other"],
        "copies": 1,
    }
    assert list_files(tmp_path) == copy_in("other", NEW)


THING = SimpleNamespace(
    name="thing",
    traits=SimpleNamespace(
        title="The Thing",
        python=SimpleNamespace(extras={"cu13": "thing-cu13", "cu12": "thing-cu12", "cu11": "thing-cu11"}),
        list_companions=lambda system, version: (f"libfirst.{system}", f"liblast.{system}.{version}"),
    ),
)
"""A runtime of several major versions, which opens more libraries."""


def test_the_other_major_versions_are_installed_besides(tmp_path):
    trial = make_trial(tmp_path, "other-majors", bound_runtime=THING)
    assert tell(trial.situation, tmp_path) == {"also": ("thing-cu12==12.9", "thing-cu11==11.8")}


def test_the_last_library_that_a_runtime_opens_is_lost(tmp_path):
    situation = make_trial(tmp_path, "companion-missing", bound_runtime=THING).situation
    gone = f"liblast.linux.{NEW}"
    assert tell(situation, tmp_path) == {"lost": gone, "values": {"gone": gone}}
    names = (gone, "libfirst.linux", "libthing.so")
    for name in names:
        (tmp_path / name).write_text("whole", encoding="utf-8")
    situation.break_files([tmp_path / "libthing.so"])
    assert {path.name: path.read_text("utf-8") for path in tmp_path.glob("*.*")} == dict.fromkeys(names[1:], "whole")


@pytest.mark.parametrize(("version", "major"), [("1.31.1", "2.31.1"), ("2.0.3", "3.0.3"), ("2025.1.0", "2026.1.0")])
def test_another_major_version_is_stated_by_the_same_file(tmp_path, version, major):
    trial = make_trial(tmp_path, "other-major", version=version)
    situation = trial.situation
    assert situation.values == {"major": major}
    assert situation.spoil(b"\0%b\0 1.31" % version.encode()) == b"\0%b\0 1.31" % major.encode()


def test_another_processor_has_the_same_version_of_its_own(tmp_path):
    situation = make_trial(tmp_path, "wrong-architecture").situation
    assert situation.values == {"own": "x86_64", "other": "aarch64"}
    assert situation.spoil(b"") == read_text(RUNTIME, NEW, "linux-arm64").encode()


def test_a_processor_without_a_runtime_or_a_sibling_is_not_run(tmp_path, monkeypatch):
    trial = make_trial(tmp_path, "wrong-architecture")

    def lack(_runtime, _version, _rid):
        raise NotRun("no-distribution", "the index has none")

    trial.shared.library = lack
    with not_run("no-distribution", f"no ONNX Runtime {NEW} for linux-arm64"):
        _ = trial.situation
    monkeypatch.setattr(spoil, "other_processor", lambda _: None)  # each target of today's table has a sibling
    with not_run("no-distribution", "there is no target like osx-x64 for another processor"):
        _ = make_trial(tmp_path, "wrong-architecture", rid="osx-x64").situation


def test_a_dependency_of_the_test_cases_own_version_is_renamed(tmp_path, library):
    trial = make_trial(tmp_path, "dependency-missing")
    asked = []
    trial.shared.library = lambda _runtime, version, rid: asked.append((version, rid)) or library
    situation = trial.situation
    needed, gone = spoil.dependency_of(library)
    assert asked == [(NEW, "linux-x64")]
    assert situation.values == {"gone": gone}
    data = library.read_bytes()
    assert situation.spoil(data) == data.replace(b"\0%b\0" % needed.encode(), b"\0%b\0" % gone.encode())


@pytest.mark.parametrize(
    ("rid", "is_provider", "consumer", "folder"),
    [
        ("linux-x64", False, "python3.11", ODD),
        ("win-x64", False, "python3.11", ODD),
        ("linux-x64", True, "python3.11", ODD),
        ("osx-arm64", True, "python3.11", ODD),
        ("win-x64", True, "python3.11", ODD.partition(",")[0]),
        ("win-arm64", True, "python3.11", ODD.partition(",")[0]),
        ("linux-x64", False, "sdk-cmake", ODD if find_consumer("sdk-cmake").reads_commas else ODD.replace(",", "")),
    ],
)
def test_the_odd_folder_is_as_odd_as_it_can_be(tmp_path, rid, is_provider, consumer, folder):
    config = load(write_ep(tmp_path / "ep") / "latebind.toml") if is_provider else CONFIG
    trial = make_trial(tmp_path, "odd-folder", rid=rid, consumer=consumer, config=config)
    assert tell(trial.situation, tmp_path) == {"folder": folder}


def test_some_tools_get_an_odd_folder_without_a_comma(tmp_path):
    name = next(one for one in ("node", "java", "dotnet-build", "sdk-cmake", "c-nupkg")
                if not find_consumer(one).reads_commas)  # fmt: skip
    assert make_trial(tmp_path, "odd-folder", consumer=name).situation.folder == ODD.replace(",", "")


def test_the_missing_package_is_called_as_its_consumers_ecosystem_calls_it(tmp_path):
    nuget = make_trial(tmp_path, "missing-backend", consumer="dotnet-build").situation
    assert nuget.values["backend"] == CONFIG.packages["onnxruntime"].nuget.id
    unknown = make_trial(tmp_path, "missing-backend", consumer="sdk-cmake").situation
    assert (unknown.without, unknown.values["runtime"]) == ("onnxruntime", "onnxruntime")


@pytest.mark.parametrize(
    ("fields", "changes"),
    [
        ({}, False),
        ({"folder": "elsewhere"}, True),
        ({"spoil": spoil.text}, True),
        ({"unreadable": True}, True),
        ({"lost": "libx.so"}, True),
        ({"unprivileged": True, "layout": "target", "first": "1.0", "copies": 1, "by_name": True}, False),
    ],
)
def test_which_situations_change_files(fields, changes):
    assert Situation(**fields).changes_files is changes


@pytest.mark.parametrize(
    ("fields", "text", "mode"),
    [
        ({}, b"whole", 0o644),
        ({"spoil": lambda data: data.upper()}, b"WHOLE", 0o644),
        ({"unreadable": True}, b"whole", 0),
        ({"unreadable": True, "spoil": spoil.truncate}, b"wh", 0),
        ({"lost": "libgone.so"}, b"whole", 0o644),
    ],
)
def test_every_installed_library_is_broken(tmp_path, fields, text, mode):
    libraries = [tmp_path / name for name in ("liba.so", "libb.so")]
    for path in (*libraries, tmp_path / "libgone.so"):
        path.write_bytes(b"whole")
        path.chmod(0o644)
    Situation(**fields).break_files(iter(libraries))
    modes = [path.stat().st_mode & 0o777 for path in libraries]
    for path in libraries:
        path.chmod(0o644)
    assert ([path.read_bytes() for path in libraries], modes) == ([text] * 2, [mode] * 2)
    assert (tmp_path / "libgone.so").exists() is ("lost" not in fields)


@pytest.mark.parametrize("size", [0, 10, 4095, 4096, 4097, 10_000])
def test_a_corrupt_library_has_zeros_for_its_header_and_its_own_length(size):
    assert spoil.corrupt(b"x" * size) == (bytes(4096) + b"x" * max(0, size - 4096))[:size]


@pytest.mark.parametrize("name", [name for name, (fields, _) in SET_UPS.items() if "arguments" in fields])
def test_what_a_scenario_says_to_the_consumer_reaches_its_command_line(tmp_path, name):
    trial = make_trial(tmp_path, name)
    assert trial.consumer_words()[-len(trial.situation.arguments) :] == trial.situation.arguments
    assert trial.values("/lib").items() >= trial.situation.values.items()
