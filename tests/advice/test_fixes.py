"""Fixes of the audit: what the printed fix says is done to the bad package, and the finding is gone."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import pytest
from audit.test_fixes import NOTE

from corpus.cases.case import linked, wheel
from corpus.cases.linkage import LIB, PROVIDER, STRANGER, alone, plugin, with_odd, with_rpath
from corpus.cases.modules import CORE, on_cuda
from corpus.cases.sdists import BARE, HATCH, IN_TREE, sdist
from corpus.cases.tags import thread
from corpus.cases.windows import with_odd as dll_with
from corpus.packages import MAC_ARM, TAG, USER, WINDOWS_TAG
from latebind.checks.policy import BindingPolicy
from loadcheck.api import audit_paths
from loadcheck.reports.console import audit_text
from tests.advice.conftest import start
from tests.advice.following import list_commands
from tests.support.running import assert_success

DLL = "latenn/latenn.dll"


@dataclass(frozen=True)
class Repair:
    """A bad package, and what makes the package that its printed fix describes."""

    code: str
    bad: object
    apply: object
    """A function that gets the bench, the fix and the message."""
    policy: object = None


def check(repair, bench, advised):
    """Assert that the finding is gone after its fix, and that no other check finds what it did not find before."""
    before = audit_paths(list(repair.bad(bench)), repair.policy)
    printed = audit_text(before, verbose=True)
    if advised.left:
        advised(printed)
    message, fix = read_finding(printed, repair.code)
    empty(bench.folder)
    after = audit_paths(list(repair.apply(bench, fix, message)), repair.policy)
    codes, earlier = ({finding.code for finding in report.findings} for report in (after, before))
    assert repair.code not in codes, audit_text(after, verbose=True)
    assert codes <= earlier, audit_text(after, verbose=True)


def read_finding(printed, code):
    """The message and the fix of the first finding of a check."""
    lines = iter(printed.splitlines())
    head = next(line for line in lines if re.match(rf"  (error|warning|note) +{code} ", line))
    fix = next(line for line in lines if line.strip().startswith("fix: "))
    return head.split(f"{code} ")[1], fix.split("fix: ")[1]


def empty(folder):
    for path in folder.iterdir():
        path.unlink()


def find(pattern, text):
    """What a fix says in a place."""
    match = re.search(pattern, text)
    assert match, text
    return match[1]


# ---- LB107 ----------------------------------------------------------------------------------------------------------


def linux(name, metadata="", init=b"", *flags):
    """A wheel with a library that needs another."""

    def make(bench):
        other = bench.compiler.library("int odd(void) { return 1; }\n", f"-Wl,-soname,{name}", name="libodd.so")
        data = bench.compiler.library(STRANGER, other, *flags).read_bytes()
        return bench.wheel({LIB: data, "latenn/__init__.py": init}, metadata=metadata)

    return make


def windows(name, metadata="", init=b""):
    return wheel({DLL: dll_with(name), "latenn/__init__.py": init}, metadata=metadata, tag=WINDOWS_TAG)


def import_torch(make, name):
    """As the fix says: require the distribution, and import it."""

    def apply(bench, fix, _):
        distribution, module = find(r"^Require ([\w-]+), ", fix), "torch"
        assert "import it before this file is loaded" in fix
        return make(name, f"Requires-Dist: {distribution}\n", f"import {module}\n".encode())(bench)

    return apply


def open_first(make, name):
    """As the fix says: require the distribution, and open its library by its path."""

    def apply(bench, fix, _):
        distribution = find(r"^Require (nvidia-[\w-]+), which has the library, and open it by its path", fix)
        assert "(ctypes.CDLL)" in fix
        code = f"import ctypes, sys\nctypes.CDLL(sys.prefix + '/{name}')\n"
        return make(name, f"Requires-Dist: {distribution}\n", code.encode())(bench)

    return apply


def link_there(name):
    """As the fix says: require the distribution, and search in its folder, from $ORIGIN."""

    def apply(bench, fix, _):
        distribution = find(r"^Require (nvidia-[\w-]+), ", fix)
        start = find(r"link with a search path that leads there from (\$ORIGIN)", fix)
        flag = f"-Wl,-rpath,{start}/../nvidia/cuda_runtime/lib"
        return linux(name, f"Requires-Dist: {distribution}\n", b"", flag)(bench)

    return apply


def beside(name, soname):
    """A wheel with a library that needs another, searches in its own folder, and has one there."""

    def make(bench):
        other = bench.compiler.library("int odd(void) { return 1; }\n", f"-Wl,-soname,{soname}", name="libodd.so")
        user = bench.compiler.library(STRANGER, other, "-Wl,-rpath,$ORIGIN")
        return bench.wheel({LIB: user.read_bytes(), f"latenn/{name}": other.read_bytes()})

    return make


def add_library(bench, fix, _):
    assert fix.startswith("Add the library to the package, where the loader searches")
    return beside("libodd.so.3", "libodd.so.3")(bench)


def rename_file(bench, fix, _):
    return beside(find("Rename the file to ([^,]+),", fix), "libodd.so.3")(bench)


def require_owner(bench, fix, _):
    folder = find(r"leads to (\w+)/ of another distribution: require the one that has the library", fix)
    return linux("libodd.so.3", f"Requires-Dist: {folder}\n", b"", "-Wl,-rpath,$ORIGIN/../acme/lib")(bench)


@pytest.mark.parametrize(
    "repair",
    [
        Repair("LB107", wheel({LIB: with_odd}), add_library),
        Repair("LB107", beside("libodd.1a2b3c4d.so.3", "libodd.so.3"), rename_file),
        Repair("LB107", linux("libodd.so.3", "", b"", "-Wl,-rpath,$ORIGIN/../acme/lib"), require_owner),
        *(Repair("LB107", linux(name), import_torch(linux, name)) for name in ("libtorch.so", "libc10.so")),
        *(Repair("LB107", windows(name), import_torch(windows, name)) for name in ("torch_cpu.dll", "c10.dll")),
        *(Repair("LB107", linux(name), open_first(linux, name)) for name in ("libcudart.so.12", "libcublasLt.so.13")),
        *(Repair("LB107", windows(name), open_first(windows, name)) for name in ("cudart64_12.dll", "cublas64_13.dll")),
        Repair("LB107", linux("libcudart.so.12"), link_there("libcudart.so.12")),
    ],
)
def test_a_missing_library(bench, advised, repair):
    check(repair, bench, advised)


@pytest.mark.advice(
    "Add the library to the package, where the loader searches (auditwheel repair does both), or link it statically."
)
def test_a_library_that_no_manylinux_tag_allows(bench, advised):
    repaired = beside("libuuid.so.1", "libuuid.so.1")
    check(Repair("LB107", alone("libuuid.so.1"), lambda bench, *_: repaired(bench)), bench, advised)


# ---- LB108 ----------------------------------------------------------------------------------------------------------


def opening(path):
    """A library that says in `.note.dlopen` what it opens, with search paths; without one for ""."""

    def make(bench):
        flags = [f"-Wl,-rpath,{path}"] if path else []
        return bench.wheel({LIB: bench.compiler.library(NOTE, *flags).read_bytes()})

    return make


def drop_path(bench, fix, _):
    assert fix.startswith("Link without the path")
    return opening("")(bench)


def start_path(bench, fix, _):
    start = find(r"start every path with (\$ORIGIN), so that it leads in the package", fix)
    return opening(f"{start}/lib")(bench)


def stay_inside(bench, fix, _):
    assert "or take .. out of it, so that it stays in the package" in fix
    return with_rpath("$ORIGIN/lib", needed=False)(bench)


@pytest.mark.parametrize(
    "repair",
    [
        Repair("LB108", opening("/opt/ci/lib"), drop_path),
        Repair("LB108", opening("/opt/ci/lib"), start_path),
        Repair("LB108", with_rpath("$ORIGIN/../../../lib", needed=False), stay_inside),
    ],
)
def test_a_search_path(bench, advised, repair):
    check(repair, bench, advised)


@pytest.mark.parametrize("kept", ["$ORIGIN", "$ORIGIN/../../../torch/lib", "$ORIGIN/a:$ORIGIN/../../torch/lib"])
@pytest.mark.advice("patchelf --set-rpath '{}' {}")
def test_one_of_several_search_paths(bench, advised, kept):
    def apply(bench, fix, _):
        assert find(r"--set-rpath '([^']+)' liblatenn.so", fix) == kept
        return opening(kept)(bench)

    check(Repair("LB108", opening(f"/opt/ci/lib:{kept}"), apply), bench, advised)


# ---- LB303 ----------------------------------------------------------------------------------------------------------

SERVED = re.compile(r"(Linux|macOS|Windows) on ([\w ]+?)(?: \(([\w. ]+) or newer\))?(?= and |, |$)")
ARCHS = {"x64": "x86_64", "arm64": "aarch64", "32-bit ARM": "armv7l"}


def retag(files, **how):
    """As the fix says: a wheel for each platform that the message names, with the files of that platform."""

    def apply(bench, fix, message):
        assert fix.startswith("Make a wheel for each platform, tagged with the platform of its binaries")
        tags = [*list_tags(message)]
        assert {*tags} == {*files}
        return [path for tag in tags for path in bench.wheel(make(bench, files[tag]), tag=f"py3-none-{tag}", **how)]

    def make(bench, rows):
        return {name: data(bench) for name, data in rows.items()}

    return apply


def list_tags(message):
    """The platform tags of what a wheel has native code for."""
    served = message.partition("native code for ")[2].partition(" only")[0]
    for system, archs, least in SERVED.findall(served):
        for arch in archs.split(" and "):
            if system == "Windows":
                yield {"x64": "win_amd64"}[arch]
            elif system == "macOS":
                yield f"macosx_{least.replace('.', '_')}_{arch.replace('x64', 'x86_64')}"
            else:
                major, minor = max((2, 5), tuple(map(int, least.split()[1].split(".")[:2])))
                yield f"manylinux_{major}_{minor}_{ARCHS[arch]}"


def any_wheel(files, **how):
    """A wheel for any platform with all of the files."""

    def make(bench):
        rows = {name: data(bench) for group in files.values() for name, data in group.items()}
        return bench.wheel(rows, tag="py3-none-any", **how)

    return make


ONE = {"manylinux_2_5_x86_64": {LIB: lambda bench: bench.good()}}
NEW = {"manylinux_2_34_x86_64": {LIB: thread("2.34")}}
THREE = {
    **ONE,
    "macosx_11_0_arm64": {"latenn/liblatenn.dylib": lambda bench: bench.dylib(MAC_ARM)},
    "win_amd64": {"latenn/latenn.dll": lambda bench: bench.dll()},
}


def set_platlib(bench, fix, _):
    value = find(r"set Root-Is-Purelib: (false)", fix)
    return bench.wheel(purelib=value == "true")


@pytest.mark.parametrize(
    "repair",
    [
        *(Repair("LB303", any_wheel(files), retag(files)) for files in (ONE, NEW, THREE)),
        Repair("LB303", any_wheel(ONE, purelib=True), retag(ONE)),
        Repair("LB303", any_wheel(ONE, name="latenn_linux_x64"), retag(ONE, name="latenn_linux_x64")),
        Repair("LB303", wheel(purelib=True, tag=TAG), set_platlib),
    ],
)
def test_native_code_in_a_wheel_for_any_platform(bench, advised, repair):
    check(repair, bench, advised)


# ---- LB415 ----------------------------------------------------------------------------------------------------------

OLD = "Keep pyproject.toml with its build backend at the root of the sdist, and exclude an old setup.py."
OURS = '[build-system]\nrequires = ["latebind"]\nbuild-backend = "hatchling.build"\n'


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        (sdist(x_py="1"), sdist(x_py="1", pyproject_toml=HATCH)),
        (sdist(setup_py="1", pyproject_toml=HATCH), sdist(pyproject_toml=HATCH)),
        (sdist(latebind_toml="", setup_py="1"), sdist(latebind_toml="", pyproject_toml=OURS)),
        (sdist(latebind_toml="", setup_py="1", pyproject_toml=BARE), sdist(latebind_toml="", pyproject_toml=OURS)),
    ],
)
@pytest.mark.advice("Keep pyproject.toml with its build backend at the root of the sdist, and exclude an old setup.py.")
def test_an_sdist_without_a_clear_build_system(bench, advised, bad, good):
    check(Repair("LB415", bad, lambda bench, *_: good(bench)), bench, advised)


@pytest.mark.advice(
    'Add a pyproject.toml next to setup.py: [build-system] with requires = ["setuptools"] and whatever else setup.py '
    "imports, and no build-backend, so that setup.py still finds its neighbors."
)
def test_setup_py_alone(bench, advised, tmp_path):
    files = {"setup_py": "from neighbor import NAME\nfrom setuptools import setup\nsetup(name=NAME, version='1.0.0')\n"}
    files["neighbor_py"] = "NAME = 'tiny'\n"

    def apply(bench, fix, _):
        requires = json.loads(find(r"with requires = (\[.*?\])", fix))
        assert "no build-backend" in fix
        text = f"[build-system]\nrequires = {json.dumps(requires)}\n"
        return sdist(**files, pyproject_toml=text)(bench)

    check(Repair("LB415", sdist(**files), apply), bench, advised)


def test_a_backend_that_is_not_in_the_sdist(bench, advised):
    def apply(bench, fix, _):
        module = find(r"Include ([\w.]+) in the sdist, in a folder that backend-path names", fix)
        return sdist(pyproject_toml=IN_TREE, **{f"-own/{module.replace('.', '/')}_py": "1"})(bench)

    check(Repair("LB415", sdist(pyproject_toml=IN_TREE), apply), bench, advised)


# ---- LB515 ----------------------------------------------------------------------------------------------------------


def bound_torch(library, requirement):
    return lambda bench, fix, _: on_cuda(library, requirement, find(r"^Also require (torch[<>=\d.]+), ", fix))(bench)


def require_cuda(library, requirement):
    """As the fix says: require the distribution, with a search path that leads to its library."""

    def apply(bench, fix, _):
        distribution = find(r"or require (nvidia-[\w-]+) and link with a search path that leads to its library", fix)
        return on_cuda(library, requirement, distribution)(bench)

    return apply


def build_again(requirement):
    """As the fix says: build with the other CUDA."""
    return lambda bench, fix, _: on_cuda(f"libcudart.so.{find(r'^Build with CUDA (12|13)', fix)}", requirement)(bench)


def link_statically(bench, fix, _):
    assert "or link CUDA's libraries statically" in fix
    data = bench.compiler.library("void *PyInit__core(void) { return 0; }\n").read_bytes()
    return bench.wheel({CORE: data}, tag="cp311-cp311-manylinux_2_28_x86_64", metadata="Requires-Dist: torch>=2.10\n")


@pytest.mark.parametrize(
    "repair",
    [
        *(
            Repair("LB515", on_cuda(library, requirement), apply(library, requirement))
            for apply in (bound_torch, require_cuda)
            for library, requirement in (
                ("libcudart.so.12", "torch>=2.10"),
                ("libcudart.so.13", "torch>=2.11"),
                ("libcublas.so.12", "torch>2.9"),
                ("libnvrtc.so.13", "torch>=2.3"),
                ("libnvJitLink.so.12", "torch>=2.3"),
            )
        ),
        Repair("LB515", on_cuda("libcudart.so.12", "torch==2.13.*"), build_again("torch==2.13.*")),
        Repair("LB515", on_cuda("libcudart.so.13", "torch<2.12"), build_again("torch<2.12")),
        Repair("LB515", on_cuda("libcudart.so.12", "torch>=2.10"), link_statically),
    ],
)
def test_a_cuda_that_not_every_torch_brings(bench, advised, repair):
    check(repair, bench, advised)


# ---- LB101 ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    """The folder of the stub of ONNX Runtime, made by the command of a fix; and that command."""
    folder = tmp_path_factory.mktemp("stub")

    def make(command):
        if not (folder / "stubs").exists():
            assert_success(start(*command[1:], "--target", "linux-x64", at=folder))
        return folder / "stubs/linux-x64/lib"

    return make


def link_stub(bench, folder, name):
    return bench.compiler.library(USER, f"-L{folder}", f"-l{name}", "-ldl", "-lpthread").read_bytes()


@pytest.mark.slow
@pytest.mark.advice(
    ", and link its stub instead (latebind stub {} --output stubs), or open it at run time with lb_bind()."
)
def test_a_linked_runtime(bench, advised, stub):
    def apply(bench, fix, _):
        [command] = list_commands(fix)
        return bench.wheel({LIB: link_stub(bench, stub(command), "onnxruntime")})

    check(Repair("LB101", wheel({LIB: linked()}), apply, BindingPolicy()), bench, advised)


@pytest.mark.slow
@pytest.mark.advice(
    ". `drop_in` replaces only a library that the linker finds by its name. CMake links imported targets by their path "
    "(`latebind adopt` names them). Link with -l{} or latebind::{} instead."
)
def test_a_linked_runtime_of_a_project_with_a_stub(bench, advised, stub):
    def apply(bench, fix, _):
        folder = stub(["latebind", "stub", "onnxruntime", "--output", "stubs"])
        return bench.wheel({LIB: link_stub(bench, folder, find(r"Link with -l(\w+) or", fix))})

    policy = BindingPolicy(drop_ins=frozenset({"onnxruntime"}))
    check(Repair("LB101", wheel({LIB: linked()}), apply, policy), bench, advised)


def test_a_provider_that_links_the_runtime(bench, advised):
    def apply(bench, fix, _):
        assert fix.startswith("Leave ONNX Runtime out of the link: ONNX Runtime passes its functions to ")
        return wheel({PROVIDER: plugin()})(bench)

    check(Repair("LB101", wheel({PROVIDER: plugin(links=True)}), apply, BindingPolicy()), bench, advised)
