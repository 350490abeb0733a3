"""The gate: which test cases must have passed for which package files, and what it reports about the others."""

import dataclasses
import io
import json
import tarfile
import zipfile
from pathlib import Path

import msgspec
import pytest

from latebind.backend.targets import targets
from latebind.config.file import load
from latebind.errors import ConfigError
from latebind.model import State
from latebind.verify.cases.scenarios import SCENARIOS
from latebind.verify.report.data import Provenance
from latebind.verify.report.gate import GATE_RENDERERS, PackageFile, judge_gate, list_package_files, patterns
from latebind.verify.report.render import write_reports
from tests.conftest import ROOT
from tests.support.client import BOUND, SEVERAL, write_client
from tests.support.client import CONFIG as TINY
from tests.support.running import assert_refused
from tests.verify.reports import complete, report, row

PROJECT = load(SEVERAL)


def requiring(*globs, include=("linux-x64",)):
    document = msgspec.structs.replace(
        PROJECT.document,
        verify=msgspec.structs.replace(PROJECT.document.verify, required=globs),
        targets=msgspec.structs.replace(PROJECT.document.targets, include=include),
    )
    return dataclasses.replace(PROJECT, document=document)


def find_blockers(config, cases, machine=None):
    return {blocker.subject: blocker for blocker in judge_gate(config, report(*cases, machine=machine)).blockers}


def replace_case(config, bad):
    """All configured test cases, one of them with another end."""
    return [bad if case.id == bad.id else case for case in complete(config)]


def test_by_default_works_of_every_target_and_every_negative_scenario_is_required():
    globs = {pattern.glob for pattern in patterns(requiring(include=("linux-x64", "win-x64")))}
    negative = [scenario.name for scenario in SCENARIOS if scenario.negative]
    assert globs == {f"*/{rid}/*/{name}" for rid in ("linux-x64", "win-x64") for name in ("works", *negative)}


def test_the_gate_passes_when_every_required_cell_passed():
    config = requiring()
    gate = judge_gate(config, report(*complete(config), row("not run", scenario="extra")))
    negative = {scenario.name for scenario in SCENARIOS if scenario.negative}
    assert (gate.exit_status, gate.blockers) == (0, ())
    assert {"works", "absent"} <= {case.scenario for case in gate.required} <= negative | {"works"}


def test_a_report_of_another_version_or_project_blocks():
    config = requiring()
    passed = report(*complete(config))
    name, version = config.project.name, config.project.version
    for source, count in (((name, version), 0), (("", ""), 0), ((name, "9.9"), 1), (("other", version), 1)):
        gate = judge_gate(config, msgspec.structs.replace(passed, source=Provenance(*source)))
        assert [blocker.subject for blocker in gate.blockers] == ["report"] * count, source


def test_a_report_of_one_test_case_blocks_with_those_that_the_configuration_requires_besides():
    """As `verify -k ...` leaves it."""
    blockers = find_blockers(requiring(), [row()])
    assert len(blockers) > 10
    assert "wheel/linux-x64/python3.11/no-runtime/absent" in blockers
    assert all("latebind verify --target linux-x64" in blocker.fix for blocker in blockers.values())
    text = GATE_RENDERERS["text"](judge_gate(requiring(), report(row())))
    number = len(blockers)
    assert f"\n{number} test cases of linux-x64, such as {next(iter(blockers))}\n" in text
    assert text.endswith(f"Gate failed: 1 of {1 + number} required test cases passed, {number} problems.\n")


def test_an_absent_test_case_is_one_of_the_python_of_the_first_row():
    first, second = row(), row(consumer="python3.9", scenario="extra")
    for cases, python in (([first, second], "python3.11"), ([second, first], "python3.9")):
        subjects = (subject.split("/")[2] for subject in find_blockers(requiring(), cases))
        assert {consumer for consumer in subjects if consumer.startswith("python")} == {python}


@pytest.mark.parametrize("entry", ["minimum", "latest", "<"])
def test_each_entry_of_a_runtimes_versions_must_be_reported(entry):
    config = requiring()
    cases = [case for case in complete(config) if not (case.runtime == "onnxruntime" and entry in case.entries)]
    assert any(f"onnxruntime-{entry}/" in subject for subject in find_blockers(config, cases))


def test_one_cell_may_answer_several_entries():
    config = requiring("wheel/*/onnxruntime-*/works")
    cases = [row(entries=("minimum", "latest"))]
    assert find_blockers(config, cases) == {}


def test_cells_of_another_python_count():
    config = requiring("wheel/*/works")
    cases = [row(consumer="python3.9", version=case.version, entries=case.entries, runtime=case.runtime)
            for case in complete(config) if (case.kind, case.scenario) == ("wheel", "works")]  # fmt: skip
    assert find_blockers(config, cases) == {}


def test_a_failed_test_case_blocks_with_its_words_and_its_log():
    config = requiring()
    bad = row("failed", version="latest", reason="it broke")
    blocker = find_blockers(config, replace_case(config, bad))[bad.id]
    assert "it broke" in blocker.why
    assert bad.log in blocker.fix


def test_a_test_case_that_ran_nowhere_blocks_with_the_command():
    config = requiring()
    idle = row("not run", scenario="absent", runtime="", version="", entries=("",))
    blocker = find_blockers(config, replace_case(config, idle))[idle.id]
    assert "no-machine" in blocker.why
    assert "latebind verify --target linux-x64" in blocker.fix


def test_a_target_without_a_test_case_blocks_once():
    config = requiring(include=("linux-x64", "osx-x64"))
    blockers = find_blockers(config, complete(requiring()))
    assert list(blockers) == ["*/osx-x64/*"]
    fix = blockers["*/osx-x64/*"].fix
    assert "verify --target osx-x64 --output reports/osx-x64 " in fix  # reports/verify.json has the other targets
    assert "verify --merge reports/verify.json reports/osx-x64/verify.json" in fix


def test_a_pattern_for_all_targets_asks_each_target_for_its_cases():
    config = requiring("*/works", include=("linux-x64", "osx-x64"))
    assert list(find_blockers(config, complete(requiring()))) == ["*/osx-x64/*"]


def with_consumers(**consumers):
    none = {"python": "", "dotnet": "", "c": "", "sdk": "", "node": "", "java": ""}
    verify = msgspec.structs.replace(PROJECT.document.verify, **{**none, **consumers})
    return dataclasses.replace(PROJECT, document=msgspec.structs.replace(PROJECT.document, verify=verify))


def test_a_project_whose_consumers_are_in_c_must_have_been_consumed():
    config = with_consumers(sdk="verify/c")
    shows = {pattern.glob for pattern in patterns(config) if not pattern.may_be_empty}
    assert shows == {f"*/{rid}/*/consumed" for rid in PROJECT.document.targets.include}
    assert find_blockers(config, [case for case in complete(config) if case.scenario != "consumed"])


def test_a_configuration_that_verifies_nothing_does_not_pass():
    config = with_consumers()
    assert set(find_blockers(config, [])) == {f"*/{rid}/*/works" for rid in PROJECT.document.targets.include}


def test_a_pattern_of_the_configuration_that_matches_nothing_blocks():
    config = requiring("wheel/*/works", "nupkg/*/nothing")
    assert list(find_blockers(config, complete(config))) == ["nupkg/*/nothing"]


def test_what_is_not_required_may_fail():
    config = requiring("*/works")
    assert find_blockers(config, replace_case(config, row("failed", scenario="absent", version="", runtime=""))) == {}


def test_a_share_that_nobody_reported_blocks():
    machine = {"target": "linux-x64", "targets": "linux-x64", "share": "2/3"}
    blockers = find_blockers(requiring("*/works"), [row()], machine=machine)
    assert list(blockers) == ["share 1/3 of linux-x64", "share 3/3 of linux-x64"]
    assert "latebind verify --target linux-x64 --shard 1/3" in blockers["share 1/3 of linux-x64"].fix


@pytest.mark.parametrize("form", GATE_RENDERERS)
def test_every_form_tells_what_blocks_and_what_next(form):
    bad = row("failed", reason="it\x1b | broke")
    text = GATE_RENDERERS[form](judge_gate(requiring(), report(*complete(requiring()), bad)))
    assert bad.id in text
    assert "fix the cause, and run" in text
    assert "\x1b" not in text
    if form == "json":
        document = json.loads(text)
        assert {"id": bad.id, "outcome": "failed"} in document["required"]
        assert set(document["blockers"][0]) == {"subject", "why", "fix"}


@pytest.mark.parametrize(
    ("state", "status", "last"),
    [
        ("passed", 0, "Gate passed: 1 of 1 required test case."),
        ("not run", 1, "0 of 1 required test case passed, 1 problem."),
    ],
)
def test_the_command(latebind, tiny, state, status, last):
    write_client(tiny, latebind=TINY + '[verify]\npython = "smoke.py"\nrequired = ["*/works"]\n')
    write_reports(report(row(state, runtime="", version="", entries=("",))), tiny / "reports", lambda _: "")
    ended = latebind("-C", tiny, "gate")
    assert (ended.returncode, ended.stderr) == (status, "")
    assert ended.stdout.rstrip().endswith(last)
    named = latebind("-C", tiny, "gate", tiny / "reports" / "verify.json", "--format", "json")
    assert (named.returncode, len(json.loads(named.stdout)["blockers"])) == (status, status)


def test_without_a_report_the_command_says_which(latebind, tiny):
    assert_refused(latebind("-C", tiny, "gate"), "verify.json: No such file")


def test_a_target_that_no_runtime_exists_for_needs_no_test_case_even_if_another_package_serves_it():
    """The core package, which binds no runtime, is made for musl; the others are not."""
    config = requiring(include=("linux-x64", "linux-musl-x64"))

    optional = {pattern.glob for pattern in patterns(config) if pattern.may_be_empty}

    assert "*/linux-musl-x64/*/works" in optional
    assert "*/linux-x64/*/works" not in optional
    assert find_blockers(config, complete(config)) == {}


def test_a_distribution_that_the_index_lacks_is_not_required():
    config = requiring()
    idle = row(
        "not run", reason="no-distribution", runtime="onnxruntime-openvino", version="latest", entries=("latest",)
    )
    gate = judge_gate(config, report(*complete(config), idle))
    assert gate.blockers == ()
    assert idle.id not in {case.id for case in gate.required}


@pytest.mark.parametrize("reason", ["no-index", "no-machine", "no-interpreter"])
def test_a_distribution_that_could_be_tried_elsewhere_is_required(reason):
    config = requiring()
    idle = row("not run", reason=reason, runtime="onnxruntime-openvino", version="latest", entries=("latest",))
    assert list(find_blockers(config, [*complete(config), idle])) == [idle.id]


@pytest.mark.parametrize(
    ("tried", "asked", "is_excused"),
    [
        (("minimum",), ("minimum",), True),
        (("minimum", "latest"), ("minimum",), True),
        (("minimum", "latest"), ("minimum", "latest"), True),
        (("minimum",), ("minimum", "latest"), False),
        (("latest",), ("minimum",), False),
        (("minimum",), (), False),
    ],
)
def test_a_version_without_a_wheel_is_excused_by_the_same_versions_with_another_python(tried, asked, is_excused):
    idle = row("not run", reason="no-distribution", consumer="python3.14", version="minimum", entries=asked)
    others = [
        row(version="1.19.2", entries=tried),
        row("not run", consumer="python3.9", version="1.19.2", entries=("minimum", "latest")),  # shows nothing
        row(scenario="extra", version="1.20.1", entries=("minimum", "latest")),
        row(target="linux-arm64", version="1.20.1", entries=("minimum", "latest")),
    ]
    gate = judge_gate(requiring("wheel/*/works"), report(*others, idle))
    assert (idle.id not in {case.id for case in gate.required}) is is_excused


@pytest.mark.parametrize(("kind", "consumer"), [("nupkg", "dotnet-build"), ("npm", "node"), ("jar", "java")])
def test_only_wheels_are_made_for_one_python(kind, consumer):
    idle = row("not run", reason="no-distribution", kind=kind, consumer=consumer, version="minimum",
               entries=("minimum",))  # fmt: skip
    gate = judge_gate(requiring("*/works"), report(row(kind=kind, consumer=consumer, entries=("minimum",)), idle))
    assert idle.id in {case.id for case in gate.required}


def test_a_version_without_a_wheel_for_one_python_must_be_tried_with_another():
    config = requiring("wheel/*/works")
    idle = row("not run", reason="no-distribution", consumer="python3.14", version="minimum", entries=("minimum",))
    assert find_blockers(config, [*complete(config), idle]) == {}
    rest = [case for case in complete(config) if "minimum" not in case.entries]
    assert idle.id in find_blockers(config, [*rest, idle])


@pytest.mark.parametrize(
    ("level", "state", "passes"),
    [
        ("real", "passed", True),
        ("real", "passed, emulated", False),
        ("real", "glue passed", False),
        ("emulated", "passed, emulated", True),
        ("emulated", "glue passed", False),
        ("glue", "glue passed", True),
        ("glue", "not run", False),
    ],
)
def test_a_gate_accepts_its_level_and_better(level, state, passes):
    config = requiring("wheel/*/works")
    first = next(case for case in complete(config) if case.scenario == "works")
    lesser = msgspec.structs.replace(first, outcome=State(state), reason="no-machine" if state == "not run" else "")
    gate = judge_gate(config, report(*replace_case(config, lesser)), level)
    assert {blocker.subject for blocker in gate.blockers} == (set() if passes else {lesser.id})
    assert gate.exit_status == (not passes)


@pytest.mark.parametrize(("state", "blocks"), [("glue passed", False), ("failed", True)])
def test_a_stand_in_stands_beside_the_runtimes_own_test_cases_but_must_not_fail(state, blocks):
    config = requiring()
    stood_in = row(state, scenario="too-old", runtime="stand-in")
    assert bool(find_blockers(config, [*complete(config), stood_in])) is blocks


def test_the_configuration_sets_the_level_and_the_option_replaces_it(latebind, tiny):
    write_client(tiny, latebind=TINY + '[verify]\npython = "smoke.py"\nrequired = ["*/works"]\nlevel = "real"\n')
    emulated = row("passed, emulated", runtime="", version="", entries=("",))
    write_reports(report(emulated), tiny / "reports", lambda _: "")
    ended = latebind("-C", tiny, "gate")
    assert ended.returncode == 1
    assert "passed, emulated; the gate requires the level real" in ended.stdout
    assert latebind("-C", tiny, "gate", "--level", "emulated").returncode == 0


def test_where_no_index_has_the_runtime_works_is_not_asked_for_but_a_target_without_test_cases_blocks():
    config = requiring(include=("linux-musl-x64",))
    runtimes = tuple(msgspec.structs.replace(use, libc=("glibc", "musl")) for use in config.document.runtime)
    config = dataclasses.replace(config, document=msgspec.structs.replace(config.document, runtime=runtimes))
    works = next(pattern for pattern in patterns(config) if pattern.glob.endswith("/works"))
    assert (works.glob, works.may_be_empty) == ("*/linux-musl-x64/*/works", True)
    assert find_blockers(config, complete(config)) == {}
    assert find_blockers(config, [row()]).keys() == {"*/linux-musl-x64/*"}


# ---- each package file needs a test case that passed, by its kind and target, or a reason

JAR = PackageFile(name="tiny-1.2.3.jar", kind="jar", targets=("linux-x64",))
WHEELS = PackageFile(name="tiny.whl", kind="wheel", targets=("linux-x64", "linux-arm64"))


@pytest.fixture
def configure(tmp_path):
    def load_with(release=""):
        text = BOUND.replace('["linux-x64"]', '["linux-x64", "linux-arm64"]')
        text += f'\n[verify]\npython = "smoke.py"\nrequired = ["wheel/linux-x64/*/works"]\n{release}'
        return load(write_client(tmp_path, latebind=text) / "latebind.toml")

    return load_with


def write_archive(file, members):
    """A package file with such members."""
    if not file.name.endswith((".tgz", ".tar.gz")):
        with zipfile.ZipFile(file, "w") as archive:
            for path, text in members.items():
                archive.writestr(path, text)
        return
    with tarfile.open(file, "w:gz") as archive:
        for path, text in members.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


NPM = '{"name": "@acme/tiny", "version": "1.2.3"'
LINUX, WINDOWS = "linux-x64", "win-x64"
FOLDER = {
    "tiny-1.2.3-py3-none-manylinux_2_17_x86_64.whl": ("wheel", (LINUX,), {"linux-arm64/x": ""}),
    "tiny-1.2.3-py3-none-any.whl": ("wheel", tuple(targets()), {"tiny/x.py": ""}),
    "Tiny.1.2.3.nupkg": (
        "nupkg", (LINUX, WINDOWS),
        {"runtimes/linux-x64/native/x": "x", "runtimes/linux-musl-x64/native/_._": "", "runtimes/win-x64/x": "x"},
    ),
    "Tiny.Managed.1.2.3.nupkg": ("nupkg", (), {"lib/net8.0/linux-x64": ""}),  # a file is no folder
    "acme-tiny-1.2.3.tgz": ("npm", (), {"package/package.json": NPM + "}"}),
    "acme-tiny-win-x64-1.2.3.tgz": (
        "npm", (WINDOWS,), {"package/package.json": NPM + ', "os": ["win32"], "cpu": ["x64"]}'},
    ),
    "tiny-1.2.3.jar": (
        "jar", (LINUX,),
        {"META-INF/maven/a/tiny/pom.properties": "artifactId=tiny\nversion=1.2.3\n", "native/linux-x64/x": "x"},
    ),
    # It holds JARs, whose folders it names itself.
    "tiny-1.2.3-maven.zip": ("maven", (), {"a/tiny/1.2.3/tiny-1.2.3.pom": "", "linux-x64/x": ""}),
    "tiny-1.2.3-linux-x64-sdk.tar.gz": ("sdk", (LINUX,), {}),
    # pip builds it for any target.
    "tiny-1.2.3.tar.gz": (
        "sdist", (), {"tiny-1.2.3/PKG-INFO": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.2.3\n", "linux-x64/x": ""},
    ),
    "Tiny.1.2.3.snupkg": None,
    "tiny-1.2.3-linux-x64-symbols.zip": None,
    "SHA256SUMS": None,
}  # fmt: skip
"""Files of a release: the kind, the targets and the members of each; None where no test case is about it."""


def test_what_must_be_verified_is_read_from_the_files_themselves(tmp_path):
    for name, what in FOLDER.items():
        write_archive(tmp_path / name, what[2] if what is not None else {})
    assert {package.name: (package.kind, package.targets) for package in list_package_files(tmp_path)} == {
        name: what[:2] for name, what in FOLDER.items() if what is not None
    }


def judge(config, *cases, packages):
    gate = judge_gate(config, report(*cases), packages=packages)
    return {blocker.subject: blocker.why for blocker in gate.blockers if "not verified" in blocker.why}


def test_a_kind_without_a_consumer_is_not_verified(configure):
    blocked = judge(configure(), row(), packages=[JAR])
    assert blocked == {JAR.name: "not verified: no test case of jar/linux-x64 passed"}


@pytest.mark.parametrize("state", ["failed", "not run"])
def test_a_target_whose_test_cases_did_not_pass_is_not_verified(configure, state):
    blocked = judge(configure(), row(), row(state, target="linux-arm64"), packages=[WHEELS])
    assert blocked == {WHEELS.name: "not verified: no test case of wheel/linux-arm64 passed"}
    assert not judge(configure(), row(), row(target="linux-arm64"), packages=[WHEELS])


def test_a_package_for_all_targets_needs_one_pass_of_its_kind(configure):
    main = PackageFile(name="tiny-1.2.3.tgz", kind="npm")
    assert judge(configure(), row(), packages=[main]) == {main.name: "not verified: no test case of npm passed"}
    assert not judge(configure(), row(), row(kind="npm", consumer="node"), packages=[main])


def test_a_bundle_is_verified_with_the_jars_in_it(configure):
    bundle = PackageFile(name="tiny-1.2.3-maven.zip", kind="maven")
    assert judge(configure(), row(), packages=[bundle])
    assert not judge(configure(), row(), row(kind="jar", consumer="java"), packages=[bundle])


@pytest.mark.parametrize("key", ["jar", "jar/linux-x64"])
def test_a_reason_releases_an_unverified_package(configure, key):
    config = configure(f'[release]\nunverified = {{ "{key}" = "no JDK here" }}\n')
    assert not judge(config, row(), packages=[JAR])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('jarr = "x"', "'jarr' is not a kind of package"),
        ('"jar/win-x64" = "x"', "'win-x64' in 'jar/win-x64' is not a target of this project"),
        ('jar = ""', "unverified"),
    ],
)
def test_a_reason_names_a_kind_and_a_target_of_the_project(configure, entry, why):
    with pytest.raises(ConfigError, match=why):
        configure(f"[release]\nunverified = {{ {entry} }}\n")


def test_a_package_that_only_the_report_names_counts_too(configure):
    gate = judge_gate(configure(), report(row(), packages=["tiny-1.2.3.jar"]), packages=[WHEELS])
    assert "tiny-1.2.3.jar" in {blocker.subject for blocker in gate.blockers}


def test_without_the_packages_the_kinds_in_the_report_count(configure):
    gate = judge_gate(configure(), report(row(), packages=["tiny-1.2.3.jar"]))
    assert "not verified: no test case of jar passed" in {blocker.why for blocker in gate.blockers}


@pytest.mark.parametrize(("state", "word"), [("failed", "Fix what"), ("not run", "Fix what"), ("", "Add a consumer")])
def test_an_sdist_that_pip_did_not_build_is_not_verified(configure, state, word):
    sdist = PackageFile(name="tiny-1.2.3.tar.gz", kind="sdist")
    case = {"kind": "sdist", "consumer": "pip", "runtime": "", "version": "", "scenario": "from-sdist"}
    cases = [row(), *([row(state, **case)] if state else [])]
    gate = judge_gate(configure(), report(*cases, packages=()), packages=[sdist])
    (blocker,) = (blocker for blocker in gate.blockers if blocker.subject == sdist.name)
    assert (blocker.subject, blocker.why) == (sdist.name, "not verified: no test case of sdist passed")
    assert word in blocker.fix
    assert not judge(configure(), row(), row(**case), packages=[sdist])
    excused = configure('[release]\nunverified = { sdist = "no compiler there" }\n')
    assert not judge(excused, *cases, packages=[sdist])


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("wheel", "Run latebind verify --target linux-arm64 --output reports/linux-arm64"),
        ("nupkg", "Add a consumer"),
        ("jar", "Add a consumer"),
    ],
)
def test_a_target_lacks_a_machine_where_another_has_a_consumer(configure, kind, word):
    package = PackageFile(name="tiny", kind=kind, targets=("linux-arm64",))
    gate = judge_gate(configure(), report(row(), packages=()), packages=[package])
    (blocker,) = (blocker for blocker in gate.blockers if blocker.subject == "tiny")
    assert blocker.fix.startswith(word)


@pytest.mark.parametrize("file", [SEVERAL, *sorted(ROOT.glob("examples/*/latebind.toml"))])
def test_every_kind_of_several_and_the_examples_is_planned_or_has_a_reason(file: Path):
    config = load(file)
    kinds = {"wheel": "wheel", "nuget": "nupkg", "npm": "npm", "maven": "jar"}
    made = {kind for package in config.packages.values() for key, kind in kinds.items() if getattr(package, key, None)}
    packages = [PackageFile(name=kind, kind=kind, targets=config.document.targets.include) for kind in sorted(made)]
    packages += [PackageFile(name="sdist", kind="sdist")] * bool(config.sdist_sources)
    assert not judge(config, *complete(config), packages=packages)
