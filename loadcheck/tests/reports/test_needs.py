"""What each file needs, and who supplies it: what is called missing is what the checks report, and nothing else."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from audit.test_checks import CASES

from loadcheck.audit import audit_environment, audit_here
from loadcheck.checks.needs import list_needs
from loadcheck.engine.policy import Policy, Waiver
from loadcheck.readers.package import read_package
from loadcheck.readers.supplied import Supplied, Supply

DRAWS = Policy(lists_needs=True)
ON_LIBRARIES = {"LB107", "LB111", "LB112", "LB114", "LB120"}
NEEDED = re.compile(r"(?:NEEDED|LC_\w+|(?:delay )?import of) (\S+)$")
"""How the evidence of a finding names a needed library."""
LOUD = ("error", "warning")


def reported(report):
    """The libraries that the checks' evidence names, by subject; not those that notes are about."""
    findings = [*report.findings, *(waived.finding for waived in report.waived)]
    return {
        (finding.subject, match[1])
        for finding in findings
        if finding.code in ON_LIBRARIES and finding.severity in LOUD
        for match in map(NEEDED.match, finding.evidence)
        if match
    }


def missing(report):
    return {(need.subject, need.library) for need in report.needs if need.supply == "missing"}


def supplies(report):
    return {need.library: (need.supply, need.source, need.path) for need in report.needs}


JUDGED = [case for case in CASES if case.code in ON_LIBRARIES]


@pytest.mark.parametrize("twin", ["bad", "good"])
@pytest.mark.parametrize("case", JUDGED, ids=map(str, JUDGED))
def test_what_is_missing_is_what_the_checks_report(case, twin, bench):
    report = audit_here(getattr(case, twin)(bench), replace(case.policy, lists_needs=True))

    assert missing(report) == reported(report)


def test_bad_packages_lack_something_in_each_format(bench):
    lacking = {"elf": 0, "macho": 0, "pe": 0}
    for case in JUDGED:
        for path in Path(bench.folder).iterdir():
            path.unlink()
        for subject, library in missing(audit_here(case.bad(bench), replace(case.policy, lists_needs=True))):
            lacking["macho" if "dylib" in subject else "pe" if library.lower().endswith("dll") else "elf"] += 1
    assert min(lacking.values()) > 3, lacking


def test_nothing_is_listed_unless_it_is_asked_for(bench):
    paths = bench.wheel({"latenn/liblatenn.so": bench.linked_library()})
    assert audit_here(paths, Policy()).needs == ()
    assert audit_here(paths, DRAWS).findings == audit_here(paths, Policy()).findings


def test_a_library_is_missing_though_the_finding_is_accepted(bench):
    policy = replace(DRAWS, waivers=(Waiver(code="LB107", subject="*", reason="a sample"),))
    report = audit_here(bench.wheel({"latenn/liblatenn.so": bench.linked_library()}), policy)
    assert {library for _, library in missing(report)} == {"libonnxruntime.so.1"}


def test_the_package_and_the_system_supply_what_they_have(bench):
    runtime = bench.runtime().read_bytes()
    source = "#include <unistd.h>\nextern const void *OrtGetApiBase(void);\n"
    source += "int f(void) { return !OrtGetApiBase() + getpid(); }\n"
    user = bench.compiler.library(source, bench.runtime(), "-Wl,-rpath,$ORIGIN/lib").read_bytes()
    files = {"a/x.so": user, "a/lib/libonnxruntime.so.1": runtime, "b/libonnxruntime.so.1": runtime}
    [path] = bench.wheel(files)

    report = audit_here([path], DRAWS)

    found = supplies(report)
    assert found["libonnxruntime.so.1"] == ("package", path.name, "a/lib/libonnxruntime.so.1")
    assert found["libc.so.6"] == ("system", "", "")
    assert {need.owner for need in report.needs} == {path.name}


def test_a_requirement_supplies_what_was_read(bench):
    [path] = bench.wheel({"latenn/liblatenn.so": bench.linked_library()})
    nothing = {"is_text": lambda *_: False, "markers": (), "lost": {}, "about_to_read": lambda _: None}
    supply = Supply(path="onnxruntime/capi/libonnxruntime.so.1", source="onnxruntime 1.0")
    package = replace(read_package(path, "wheel", **nothing), supplied=Supplied(always={"libonnxruntime.so.1": supply}))
    [need] = [need for need in list_needs(package, ()) if need.library == "libonnxruntime.so.1"]
    assert (need.supply, need.source, need.path) == ("requirement", supply.source, supply.path)


def test_a_requirement_that_was_not_read_may_supply_the_rest(bench):
    report = audit_here(
        bench.wheel({"latenn/liblatenn.so": bench.linked_library()}, metadata="Requires-Dist: torch\n"), DRAWS
    )
    assert supplies(report)["libonnxruntime.so.1"] == ("unread", "torch", "")
    assert missing(report) == reported(report) == set()
    assert {skip.library for skip in report.undecided} == {"libonnxruntime.so.1"}


def test_each_dll_of_visual_cpp_may_come_from_what_was_not_read(bench):
    others = [
        bench.compiler.dll(f"int {name}(void) {{ return 1; }}\n", exports=[name], name=f"{name}.dll")
        for name in ("msvcp140", "msvcp140_1")
    ]
    source = "".join(f"__declspec(dllimport) int {other.stem}(void);\n" for other in others)
    source += "int latenn_version(void) { return msvcp140() + msvcp140_1(); }\n"
    user = bench.compiler.dll(source, *map(bench.compiler.import_library, others)).read_bytes()

    report = audit_here(
        bench.wheel({"a.dll": user}, tag="py3-none-win_amd64", metadata="Requires-Dist: torch\n"), DRAWS
    )

    assert len(report.undecided) == 1
    assert supplies(report) == {f"{other.stem}.dll": ("unread", "torch", "") for other in others}


def test_what_another_check_judges_is_not_called_missing(bench):
    class Judges(Policy):
        def judges_link(self, library):
            return "onnxruntime" in library

    report = audit_here(bench.wheel({"latenn/liblatenn.so": bench.linked_library()}), Judges(lists_needs=True))
    assert supplies(report)["libonnxruntime.so.1"] == ("unjudged", "", "")


# ---- environments ----------------------------------------------------------------------------------------------------


@pytest.fixture
def odd(bench):
    """A library, and a file that needs it and searches where flags say."""
    library = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")

    def make(*flags, source="extern int odd(void);\nvoid *PyInit__core(void) { odd(); return 0; }\n"):
        return bench.compiler.library(source, library, *flags).read_bytes()

    return library.read_bytes(), make


CORE = "user/_core.cpython-311-x86_64-linux-gnu.so"


@pytest.mark.parametrize(
    ("flags", "files", "expected"),
    [
        ((), {}, ("missing", "", "")),
        ((), {"odd/lib/libodd.so.3": None}, ("missing", "odd 1.0", "odd/lib/libodd.so.3")),
        (
            ("-Wl,-rpath,$ORIGIN/../odd/lib",),
            {"odd/lib/libodd.so.3": None},
            ("package", "odd 1.0", "odd/lib/libodd.so.3"),
        ),
        (
            ("-Wl,-rpath,$ORIGIN/../odd/lib",),
            {"odd/libodd.so.3": None, "odd/lib/libodd.so.3": None},
            ("package", "odd 1.0", "odd/lib/libodd.so.3"),
        ),
    ],
    ids=["nowhere", "not searched", "searched", "searched before others"],
)
def test_another_distribution_supplies_what_the_loader_finds(environment, odd, flags, files, expected):
    root, install = environment
    library, make = odd
    install("user", {CORE: make(*flags), "user/__init__.py": b"from . import _core\n"})
    install("odd", dict.fromkeys(files, library))

    report = audit_environment(root, DRAWS)

    assert supplies(report)["libodd.so.3"] == expected
    assert {need.owner for need in report.needs if need.library == "libodd.so.3"} == {"user 1.0"}
    assert missing(report) == reported(report)
    assert bool(missing(report)) == (expected[0] == "missing")


def test_the_loader_of_this_machine_supplies_what_no_search_path_leads_to(environment, odd, monkeypatch, tmp_path):
    root, install = environment
    library, make = odd
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/libodd.so.3").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "odd"))
    install("user", {CORE: make()})
    install("odd", {"odd/lib/libodd.so.3": library})

    assert supplies(audit_environment(root, DRAWS))["libodd.so.3"] == ("system", "", "")


def test_copies_of_a_library_are_those_of_which_lb119_reports(environment, library):
    root, install = environment
    for name, soname in (("infomap", "libgomp-e985bcbb.so.1.0.0"), ("faiss", "libgomp-e985bcbb.so.1.0.0")):
        install(name, {f"{name}.libs/{soname}": library(soname)})
    install("torch", {"torch/lib/libgomp.so.1": library("libgomp.so.1")})
    install("numpy", {"numpy.libs/libz.so.1": library("libz.so.1")})

    report = audit_environment(root, DRAWS)

    [finding] = [finding for finding in report.findings if finding.code == "LB119"]
    assert {(copy.family, copy.owner) for copy in report.copies} == {
        ("OpenMP", "infomap 1.0"), ("OpenMP", "faiss 1.0"), ("OpenMP", "torch 1.0"),
    }  # fmt: skip
    assert f"loads {len({copy.name for copy in report.copies})} copies" in finding.message
    assert all(any(copy.file in row for row in finding.evidence) for copy in report.copies)
