"""`--resolve`: what requirements install is read from an index, and missing libraries are judged by it."""

import pytest

from corpus.cases import windows
from loadcheck.audit import audit_here
from loadcheck.engine.policy import Policy
from loadcheck.reports.console import audit_text

ODD = "latenn/_odd.so"
SOURCE = "extern int odd(void);\nint latenn_f(void) { return odd(); }\n"


@pytest.fixture
def user(bench):
    """A wheel with a library that needs libodd.so.3."""

    def make(metadata="", source=SOURCE):
        odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
        return bench.wheel({ODD: bench.compiler.library(source, odd).read_bytes()}, metadata=metadata)

    return make


@pytest.fixture
def odd(bench):
    """The library libodd.so.3."""
    flags = ("-Wl,-soname,libodd.so.3",)
    return bench.compiler.library("int odd(void) { return 1; }\n", *flags, name="libodd.so").read_bytes()


def audit(paths, *codes, resolve=True):
    """The severity and message of each finding on libraries and requirements."""
    report = audit_here(paths, Policy(resolve=resolve))
    codes = codes or ("LB107", "LB511")
    return [(finding.severity, finding.message) for finding in report.findings if finding.code in codes]


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("json", [True, False])
@pytest.mark.parametrize("metadata", [True, False])
def test_a_library_that_a_requirement_of_a_requirement_installs_is_not_missing(
    index, user, odd, ranges, json, metadata
):
    index.has_ranges, index.is_json, index.has_metadata = ranges, json, metadata
    index.add("acme", {"acme/__init__.py": b""}, "Requires-Dist: acme-native[fast]\n")
    index.add("acme-native", {}, "Provides-Extra: fast\nRequires-Dist: acme-kernel; extra == 'fast'\n")
    index.add("acme-kernel", {"kernel/libodd.so.3": odd})

    assert audit(user("Requires-Dist: acme\n")) == []


def write_beside(index, folder, name, files, **more):
    """A wheel that only a folder has."""
    file = index.add(name, files, **more)
    (folder / file).write_bytes(index.files.pop(name)[file])
    return folder / file


@pytest.mark.parametrize(
    ("requirement", "findings"),
    [
        ("core~=1.0", 0),
        ("core", 0),
        ("core[fast]", 0),
        ("core>=2", 1),
        ("other", 1),
    ],
)
def test_a_package_that_is_audited_with_it_counts_as_released(index, user, odd, tmp_path, requirement, findings):
    core = write_beside(index, tmp_path, "core", {"core/libodd.so.3": odd})
    paths = [*user(f"Requires-Dist: {requirement}\n"), core]
    assert len(audit(paths, "LB511")) == findings
    assert audit(paths, "LB107") == []
    assert audit(paths[:1], "LB511"), "alone, nothing has it"


def test_a_package_beside_comes_before_that_of_the_index_and_is_read_again_when_it_changes(index, user, odd, tmp_path):
    index.add("acme", {})
    core = write_beside(index, tmp_path, "core", {"core/libodd.so.3": odd}, metadata="Requires-Dist: acme\n")
    paths = [*user("Requires-Dist: core\n"), core]
    assert audit(paths) == []
    index.add("core", {"core/libodd.so.3": odd})
    write_beside(index, tmp_path, "core", {})
    assert [severity for severity, _ in audit(paths, "LB107")] == ["error"]


def test_a_library_for_the_stable_abi_is_no_module(index, bench):
    flags = ("-Wl,-soname,libodd.abi3.so.6.12",)
    odd = bench.compiler.library("int odd(void) { return 1; }\n", *flags, name="libodd.so")
    index.add("acme", {"acme/libodd.abi3.so.6.12": odd.read_bytes()})
    files = {ODD: bench.compiler.library(SOURCE, odd).read_bytes()}

    assert audit(bench.wheel(files, metadata="Requires-Dist: acme\n")) == []


def test_a_library_that_no_requirement_installs_is_missing(index, user, odd):
    index.add("acme", {"acme/libodd.so.2": odd})

    [(severity, message)] = audit(user("Requires-Dist: acme\n"))

    assert severity == "error"
    assert message == "needs libodd.so.3; no requirement brings it; nothing in the package loads without it"
    [finding] = [each for each in audit_here(user("Requires-Dist: acme\n"), Policy(resolve=True)).findings
                 if each.code == "LB107"]  # fmt: skip
    assert "acme 1.0 has acme/libodd.so.2" in finding.evidence


def test_without_resolve_what_is_not_known_is_one_line(index, user):
    paths = user("Requires-Dist: acme\n")

    report = audit_here(paths)

    assert audit(paths, resolve=False) == []
    assert "libodd.so.3 may come from acme, which was not read (--resolve)\n" in audit_text(report)
    assert index.asked == []


def test_an_extra_that_brings_a_library_is_named(index, user, odd):
    index.add("acme", {"acme/libodd.so.3": odd})
    metadata = (
        "Provides-Extra: cuda\nProvides-Extra: all\nRequires-Dist: acme; extra == 'cuda'\n"
        "Requires-Dist: latenn[cuda]; extra == 'all'\n"
    )

    assert audit(user(metadata)) == [("warning", "needs libodd.so.3, which only the extra cuda brings")]


def test_what_an_extra_installs_is_not_read_where_no_library_is_missing(index, bench):
    index.add("acme", {})

    audit(bench.wheel(metadata="Provides-Extra: cuda\nRequires-Dist: acme; extra == 'cuda'\n"))

    assert [path for path, _ in index.asked] == ["/simple/acme/"]


def test_an_extra_that_cannot_be_installed_brings_nothing(index, user, odd):
    index.add("acme", {"acme/libodd.so.3": odd}, version="3.0")
    index.add("acme-rt", {}, version="0.0.1")
    extra = "Provides-Extra: cuda\nRequires-Dist: acme; extra == 'cuda'\n"

    rows = audit(user(f"{extra}Requires-Dist: acme-rt~=13.0; extra == 'cuda'\n"))

    assert sorted(rows, reverse=True) == [
        ("error", "the extra cuda requires acme-rt~=13.0, which no version satisfies: its newest version is 0.0.1"),
        ("error", "needs libodd.so.3; no requirement brings it; nothing in the package loads without it"),
    ]
    assert audit(user(f"{extra}Requires-Dist: acme-rt; extra == 'cuda'\n"), "LB511") == []


def test_the_newest_version_that_a_requirement_admits_counts(index, user, odd):
    index.add("acme", {"acme/libodd.so.3": odd}, version="1.5")
    index.add("acme", {}, version="2.0")

    assert audit(user("Requires-Dist: acme<2\n")) == []
    assert [severity for severity, _ in audit(user("Requires-Dist: acme\n"))] == ["error"]


def test_a_wheel_for_another_system_brings_nothing(index, user, odd):
    index.add("acme", {"acme/libodd.so.3": odd}, tag="py3-none-macosx_11_0_arm64")
    assert audit(user("Requires-Dist: acme\n")) == [], "it is not known what is installed on Linux"
    index.add("both", {"both/libodd.so.3": odd}, tag="py3-none-macosx_11_0_arm64")
    index.add("both", {}, tag="py3-none-manylinux_2_17_x86_64")
    assert [severity for severity, _ in audit(user("Requires-Dist: both\n"))] == ["error"]


def test_a_requirement_that_is_built_from_an_sdist_is_not_known(index, user):
    index.files["acme"] = {"acme-1.0.tar.gz": b""}

    paths = user("Requires-Dist: acme\n")

    assert audit(paths) == []
    report = audit_here(paths, Policy(resolve=True))
    assert "acme: is built from an sdist" in audit_text(report, verbose=True)


def test_symbols_of_the_libraries_that_requirements_install_are_known(index, user, odd):
    index.add("acme", {"acme/libodd.so.3": odd})
    lacking = "extern int odd(void), even(void);\nint latenn_f(void) { return odd() + even(); }\n"

    [(_, message)] = audit(user("Requires-Dist: acme\n", source=lacking), "LB106")

    assert message == "has 1 undefined symbol that nothing provides: even"
    assert audit(user("Requires-Dist: acme\n"), "LB106") == []


@pytest.mark.parametrize("largest", [64 * 1024**2, 100], ids=["read", "too large"])
def test_a_second_audit_asks_nothing_again_and_works_offline(index, user, odd, monkeypatch, largest):
    monkeypatch.setattr("loadcheck.index.index._MAX_LIBRARY", largest)
    index.add("acme", {"acme/libodd.so.3": odd})
    paths = user("Requires-Dist: acme\n")
    audit(paths)
    index.asked.clear()

    assert audit(paths) == []
    monkeypatch.setenv("UV_OFFLINE", "1")
    assert audit(paths) == []
    assert index.asked == []


def test_offline_without_a_cache_the_installed_version_counts(index, user, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")

    assert [row[0] for row in audit(user("Requires-Dist: packaging\n"))] == ["error"], "packaging has no library"
    assert audit(user("Requires-Dist: acme\n")) == []
    assert index.asked == []


def test_a_page_that_has_not_changed_is_not_sent_again(index, user, odd, monkeypatch):
    index.add("acme", {"acme/libodd.so.3": odd})
    paths = user("Requires-Dist: acme\n")
    audit(paths)
    index.asked.clear()
    monkeypatch.setattr("loadcheck.index.cache.FRESH", 0.0)

    assert audit(paths) == []
    assert [(path, "If-None-Match" in headers) for path, headers in index.asked] == [("/simple/acme/", True)]


@pytest.mark.parametrize(
    ("extras", "says"), [(["cuda"], "cuda was not read"), (["cuda", "rocm"], "cuda and rocm were not read")]
)
def test_an_extra_that_could_not_be_read_may_bring_a_library(index, user, extras, says):
    for extra in extras:
        index.files[f"acme-{extra}"] = {f"acme_{extra}-1.0.tar.gz": b""}
    metadata = "".join(f"Provides-Extra: {each}\nRequires-Dist: acme-{each}; extra == '{each}'\n" for each in extras)

    [finding] = [each for each in audit_here(user(metadata), Policy(resolve=True)).findings if each.code == "LB107"]

    assert finding.severity == "warning"
    assert finding.assumption == f"no extra brings the library; {says}"


def test_a_torch_that_is_required_already_needs_another_release(index, bench):
    index.add("torch", {"torch/lib/libtorch.so": b""})
    torch = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libtorch_cuda_cu.so", name="libodd.so")
    wheels = bench.wheel({ODD: bench.compiler.library(SOURCE, torch).read_bytes()}, metadata="Requires-Dist: torch\n")

    [fix] = [each.fix for each in audit_here(wheels, Policy(resolve=True)).findings if each.code == "LB107"]

    assert fix.startswith("Require a release of torch that has the library, and import it")


CORE = "latenn/sub/_core.abi3.so"


@pytest.fixture
def module(bench):
    """A wheel with a module that needs libodd.so.3, searches in a path, and has some Python code."""

    def make(path, code=b"", start=b"from .sub import _core\n", metadata="Requires-Dist: acme\n"):
        odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
        source = "extern int odd(void);\nvoid *PyInit__core(void) { odd(); return 0; }\n"
        core = bench.compiler.library(source, odd, *([f"-Wl,-rpath,{path}"] if path else ()))
        code = {"latenn/__init__.py": start, "latenn/sub/__init__.py": b"", "latenn/code.py": code}
        tag = "cp39-abi3-manylinux_2_28_x86_64"
        return bench.wheel({CORE: core.read_bytes(), **code}, metadata=metadata, tag=tag)

    return make


MISPLACED = "needs libodd.so.3, which acme 1.0 installs as acme/lib/libodd.so.3, where the loader does not search"


@pytest.mark.parametrize("path", ["$ORIGIN/../acme/lib", "$ORIGIN/../../../acme/lib", "$ORIGIN", "/opt/acme/lib", ""])
def test_a_search_path_that_misses_the_folder_of_a_requirement_ends_the_import(index, module, odd, path):
    index.add("acme", {"acme/lib/libodd.so.3": odd})

    assert audit(module(path), "LB114") == [("error", f"{MISPLACED}; import latenn fails")]
    assert audit(module(path, start=b""), "LB114") == [("warning", MISPLACED)]
    [fix] = [each.fix for each in audit_here(module(path), Policy(resolve=True)).findings if each.code == "LB114"]
    advised = fix.partition("patchelf --set-rpath '")[2].partition("'")[0]
    assert audit(module(advised), "LB114") == []


def test_each_needed_library_is_looked_for(index, bench, odd):
    index.add("acme", {"acme/lib/libodd.so.3": odd})
    own, needed = (
        bench.compiler.library(f"int {name}(void) {{ return 1; }}\n", f"-Wl,-soname,{soname}", name=f"lib{name}.so")
        for name, soname in (("own", "libown.so"), ("odd", "libodd.so.3"))
    )
    source = "extern int own(void), odd(void);\nvoid *PyInit__core(void) { own(); odd(); return 0; }\n"
    core = bench.compiler.library(source, own, needed, "-Wl,-rpath,$ORIGIN").read_bytes()
    files = {"latenn/_core.abi3.so": core, "latenn/libown.so": own.read_bytes(), "latenn/__init__.py": b""}
    paths = bench.wheel(files, metadata="Requires-Dist: acme\n", tag="cp39-abi3-manylinux_2_28_x86_64")

    assert audit(paths, "LB114") == [("warning", MISPLACED)]


def test_windows_has_no_search_path_to_fix(index, bench):
    index.add("acme", {"acme/lib/odd.dll": windows.odd()(bench).read_bytes()})
    files = {windows.CORE: windows.module_with_odd()(bench), "latenn/__init__.py": b"from . import _core\n"}
    paths = bench.wheel(files, metadata="Requires-Dist: acme\n", tag=windows.OWN)

    [finding] = [each for each in audit_here(paths, Policy(resolve=True)).findings if each.code == "LB114"]

    assert finding.message.startswith("needs odd.dll, which acme 1.0 installs as acme/lib/odd.dll, where the loader")
    assert finding.evidence == ("import of odd.dll",)
    assert "os.add_dll_directory() with the folder acme/lib of site-packages" in finding.fix


def test_another_module_may_have_loaded_the_library_by_what_it_imports(index, bench, odd):
    index.add("acme", {"acme/lib/libodd.so.3": odd})
    needed = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    source = "extern int odd(void);\nvoid *PyInit__core(void) { odd(); return 0; }\n"
    core = bench.compiler.library(source, needed).read_bytes()
    other = bench.compiler.library("void *PyInit__other(void) { return 0; }\n").read_bytes()
    code = {"latenn/__init__.py": b"from . import _other, _core\n"}
    files = {"latenn/_core.abi3.so": core, "latenn/_other.abi3.so": other, **code}
    paths = bench.wheel(files, metadata="Requires-Dist: acme\n", tag="cp39-abi3-manylinux_2_28_x86_64")

    assert audit(paths, "LB114") == [("warning", MISPLACED)]


@pytest.mark.parametrize(
    "code",
    [
        b"import acme\n",
        b"def f():\n    from acme.sub import g\n",
        b"import os, torch as t\n",
        b"if 1: import torch\n",
        b"import importlib\nimportlib.import_module('ac' + 'me')\n",
        b"import ctypes\nctypes.CDLL(None)\n",
        b"#" * 300_000,
    ],
    ids=["import", "function", "second", "one line", "computed", "opens", "too long"],
)
def test_code_that_may_load_the_library_first_is_no_finding(index, module, odd, code):
    index.add("acme", {"acme/lib/libodd.so.3": odd})

    assert audit(module("", code), "LB114") == []


@pytest.mark.parametrize(
    "code", [b"import os.path, sys\nfrom . import sub\nfrom latenn import sub\nimport numpy as np  # torch\n", b""]
)
def test_code_that_imports_nothing_native_loads_no_library(index, module, odd, code):
    index.add("acme", {"acme/lib/libodd.so.3": odd})

    assert [severity for severity, _ in audit(module("", code), "LB114")] == ["error"]


@pytest.mark.parametrize(
    "files",
    [
        ["acme/lib/libodd.so.3"],
        ["acme/libodd.so.3", "acme/lib/libodd.so.3"],
        ["acme-1.0.data/data/lib/libodd.so.3"],
        ["acme-1.0.data/platlib/acme/lib/libodd.so.3"],
    ],
)
def test_a_search_path_that_leads_to_a_place_of_the_library_is_right(index, module, odd, files):
    index.add("acme", dict.fromkeys(files, odd))

    assert audit(module("$ORIGIN/../../acme/lib"), "LB114") == []


def test_an_inherited_search_path_finds_the_library_for_what_is_between(index, bench, odd):
    index.add("acme", {"acme/lib/libodd.so.3": odd})
    needed = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    source = "extern int odd(void);\nint mid(void) { return odd(); }\n"
    mid = bench.compiler.library(source, needed, "-Wl,-soname,libmid.so", name="libmid.so")

    def make(flag):
        paths = f"-Wl,-rpath,$ORIGIN:$ORIGIN/../acme/lib{flag}"
        source = "extern int mid(void);\nvoid *PyInit__core(void) { mid(); return 0; }\n"
        core = bench.compiler.library(source, mid, paths, "-Wl,--allow-shlib-undefined").read_bytes()
        code = {"latenn/__init__.py": b"from . import _core\n"}
        files = {"latenn/_core.abi3.so": core, "latenn/libmid.so": mid.read_bytes(), **code}
        return bench.wheel(files, metadata="Requires-Dist: acme\n", tag="cp39-abi3-manylinux_2_28_x86_64")

    assert audit(make(",--disable-new-dtags"), "LB114") == []
    assert [severity for severity, _ in audit(make(""), "LB114")] == ["error"], "RUNPATH is for the file alone"
