"""The fix of a finding names what the project does: neither a provider nor code with a stub calls lb_bind()."""

import pytest

from corpus.cases import macos as on_macos
from corpus.cases import windows as on_windows
from corpus.cases.case import bare, contents, linked, made_by, nupkg, runtime, wheel
from corpus.cases.linkage import LIB, PROVIDER, late, plugin, with_odd
from corpus.cases.macos import DELETE, F
from corpus.cases.windows import with_odd as dll_with
from corpus.packages import USER, WINDOWS_TAG
from latebind.checks.policy import BindingPolicy
from loadcheck.api import Choice, audit_paths
from tests.checks.cases.projects import ONLY_LATENN

STUB = BindingPolicy(drop_ins=frozenset({"onnxruntime"}))


NATIVE = "runtimes/linux-x64/native/liblatenn.so"
CALLER = f"int RegisterCustomOps(void);\nint latenn_call(void) {{ return RegisterCustomOps(); }}\n{USER}"


@made_by
def operators(bench, name="RegisterCustomOps", user="", soname="libonnxruntime.so.1"):
    """A library that is linked to a runtime and exports a function, or that has other code."""
    source = user or f"int {name}(void) {{ return 0; }}\n{USER}"
    library = bench.runtime(soname, soname)
    return bench.compiler.library(source, library, "-Wl,-z,undefs", "-Wl,-soname,liblatenn.so").read_bytes()


def fix_of(bench, code, make, policy=None):
    """The fix of the first finding of a check."""
    report = audit_paths(list(make(bench)), policy or BindingPolicy())
    return next(finding.fix for finding in report.findings if finding.code == code)


@pytest.mark.parametrize(("requirement", "is_decided"), [("onnxruntime", True), ("acme", False)])
def test_a_library_that_no_runtime_has_is_missing(bench, requirement, is_decided):
    wheels = bench.wheel({LIB: with_odd(bench)}, metadata=f"Requires-Dist: {requirement}\n")
    report = audit_paths(list(wheels), BindingPolicy())
    assert ("LB107" in [finding.code for finding in report.findings]) is is_decided
    assert bool(report.undecided) is not is_decided


@pytest.mark.parametrize(("requirement", "is_decided"), [("onnxruntime", True), ("acme", False)])
def test_no_runtime_brings_the_run_time_library_of_visual_cpp(bench, requirement, is_decided):
    make = wheel({"latenn/latenn.dll": dll_with("MSVCP140.dll")}, tag=WINDOWS_TAG,
                 metadata=f"Requires-Dist: {requirement}\n")  # fmt: skip
    report = audit_paths(list(make(bench)), BindingPolicy())
    assert ("LB111" in [finding.code for finding in report.findings]) is is_decided
    assert bool(report.undecided) is not is_decided


@pytest.mark.parametrize(
    ("code", "make", "policy", "says", "never"),
    [
        ("LB101", wheel({LIB: linked()}), None, "lb_bind()", "drop_in"),
        ("LB101", wheel({LIB: linked()}), STUB, "latebind::onnxruntime", "lb_bind"),
        ("LB101", wheel({PROVIDER: plugin(links=True)}), None, "ORT_API_MANUAL_INIT", "lb_bind"),
        ("LB101", wheel({PROVIDER: plugin(links=True)}), STUB, "CreateEpFactories()", "latebind::onnxruntime"),
        ("LB101", wheel({LIB: operators()}), None, "passes its functions to RegisterCustomOps()", "lb_bind"),
        ("LB101", wheel({LIB: operators()}), STUB, "passes its functions to RegisterCustomOps()", "latebind::"),
        ("LB101", nupkg({NATIVE: operators()}), None, "In C++, include an ort_floor.h", "lb_bind"),
        ("LB101", wheel({LIB: operators("RegisterCustomOpsOfAcme")}), None, "lb_bind()", "OrtApiBase"),
        ("LB101", wheel({LIB: operators(user=CALLER)}), None, "lb_bind()", "OrtApiBase"),
        ("LB101", wheel({LIB: operators(soname="libopenvino_c.so.2641")}), None, "lb_bind()", "OrtApiBase"),
    ],
    ids=[
        "bound",
        "drop-in",
        "provider",
        "provider of a drop-in project",
        "operators",
        "operators of a drop-in project",
        "operators in a nupkg",
        "a longer name",
        "a library that calls the function of another",
        "operators that link another runtime",
    ],
)
def test_the_fix_names_how_the_library_gets_the_runtime(bench, code, make, policy, says, never):
    fix = fix_of(bench, code, make, policy)
    assert says in fix
    assert never not in fix


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (on_macos.of(f"{F}{DELETE}"), "-exported_symbols_list"),
        (
            on_windows.of(f"{F}int _ZTI5error(void) {{ return 1; }}\n", exports=["_ZTI5error"]),
            "-fvisibility=hidden and",
        ),
    ],
    ids=["macOS", "Windows"],
)
def test_the_linkers_list_is_the_fix_for_cpp_symbols_on_macos_alone(bench, make, says):
    assert says in fix_of(bench, "LB201", make, ONLY_LATENN)


def test_a_repair_tool_gets_the_name_without_the_hash_that_it_added(bench):
    copy = wheel({"latenn.libs/libonnxruntime-1a2b3c4d.so.1.20.1": contents(runtime())})
    assert "--exclude 'libonnxruntime.so*' to that tool." in fix_of(bench, "LB103", copy)


def test_a_runtime_in_a_folder_is_to_be_removed_as_well(bench):
    (path,) = bench.bare("stage/libonnxruntime.so.1", bench.runtime().read_bytes())
    assert "Remove" in fix_of(bench, "LB103", lambda _: [path.parent])


@pytest.mark.parametrize(
    ("make", "codes"),
    [
        (wheel({LIB: linked()}), ["LB102"]),
        (nupkg({NATIVE: linked()}), ["LB102"]),
        (bare("liblatenn.so", linked()), ["LB102"]),
        (wheel({LIB: operators()}), ["LB102"]),
        (wheel({LIB: late}), []),
        (nupkg({NATIVE: late}), []),
        (bare("liblatenn.so", late), []),
        (wheel({"latenn/libonnxruntime.so.1": contents(runtime())}), []),
    ],
)
def test_without_a_project_one_check_judges_a_link_to_the_runtime(bench, make, codes):
    report = audit_paths(list(make(bench)), BindingPolicy(choice=Choice(profile="loads")))
    assert [finding.code for finding in report.findings if finding.code in ("LB101", "LB102", "LB103")] == codes
