"""Faults in the packages of an execution provider, made after or while it is packed: the audit names each.

tests/examples has those that only running shows.
"""

from __future__ import annotations

import importlib.metadata
import shutil
from pathlib import Path

import pytest
from broken.packages import Packages, dist_info, nuspec, swap
from latebind.audit.audit import audit_paths
from latebind.audit.project import project_policy
from latebind.config.file import load

from tests.client import packed
from tests.dotnet_support import dotnet_environment, shared_library
from tests.epclient import CMAKE, SOURCE, write_ep

MODULE = "onnxruntime_ep_tiny_npu"
INIT, LIBRARY = f"{MODULE}/__init__.py", f"{MODULE}/libtiny_ep.so"
NATIVE = "runtimes/linux-x64/native/libtiny_ep.so"
LINKED = """
file(WRITE "${CMAKE_BINARY_DIR}/ort.c" "int OrtGetApiBase(void) { return 0; }")
add_library(onnxruntime SHARED "${CMAKE_BINARY_DIR}/ort.c")
set_target_properties(onnxruntime PROPERTIES SOVERSION 1)
target_link_options(tiny_ep PRIVATE -Wl,--no-as-needed)
target_link_libraries(tiny_ep PRIVATE onnxruntime)
"""


def moved(members, old, new):
    members[new] = members.pop(old)


def retagged(members):
    for old, new in (
        ("Root-Is-Purelib: false", "Root-Is-Purelib: true"),
        ("py3-none-manylinux_2_28_x86_64", "py3-none-any"),
    ):
        swap(members, dist_info(members, "WHEEL"), old, new)


def runtime(members):
    capi = Path(str(importlib.metadata.distribution("onnxruntime").locate_file("onnxruntime/capi")))
    (library,) = capi.glob("libonnxruntime.so.*")
    members[f"{MODULE}/libonnxruntime.so.1"] = library.read_bytes()


def depending(members):
    row = '<dependency id="Microsoft.ML.OnnxRuntime" version="1.23.1" />'
    group = f'<dependencies><group targetFramework=".NETStandard2.0">{row}</group></dependencies></metadata>'
    head, _, rest = members[nuspec(members)].decode().partition("<dependencies")
    members[nuspec(members)] = f"{head}{group}{rest.partition('</metadata>')[2]}".encode()


def requiring(members):
    new = "Requires-Dist: onnxruntime>=1.23.1\nRequires-Python:"
    swap(members, dist_info(members, "METADATA"), "Requires-Python:", new)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The packages as they were made."""
    with pytest.MonkeyPatch.context() as patch:
        for key, value in dotnet_environment().items():
            patch.setenv(key, value)
        folder = write_ep(tmp_path_factory.mktemp("faults"))
        packed(folder)
    return folder


def codes(project, folder):
    """Each finding's check and severity."""
    config = load(project / "latebind.toml")
    paths = [path for path in sorted(folder.iterdir()) if path.suffix in (".whl", ".nupkg")]
    report = audit_paths(paths, project_policy(config))
    return {(row.code, row.severity) for row in report.findings}


WHEEL = [
    ("a library of another name", "LB804", lambda files: moved(files, LIBRARY, f"{LIBRARY}.1")),
    ("another provider's name", "LB805", lambda files: swap(files, INIT, '"TinyExec', '"OtherExec')),
    ("no function for the path", "LB803", lambda files: swap(files, INIT, "def get_library_path", "def path")),
    ("a required runtime", "LB506", requiring),
    ("another minimum in words", "LB807", lambda files: swap(files, dist_info(files, "METADATA"), "1.23.1", "1.20")),
    ("a pure tag", "LB303", retagged),
    ("a bundled runtime", "LB103", runtime),
]  # fmt: skip
NUPKG = [
    ("a required runtime", "LB806", depending),
    ("a folder below the RID", "LB401", lambda files: moved(files, NATIVE, NATIVE.replace("native/", "native/ep/"))),
    (
        "a companion alone",
        "LB808",
        lambda files: files.update(
            {
                "runtimes/linux-arm64/native/libacme.so": files[NATIVE].replace(
                    b"CreateEpFactories", b"CreateNoFactories"
                )
            }
        ),
    ),
    ("no assembly", "LB803", lambda files: [files.pop(name) for name in list(files) if name.startswith("lib/")]),
]
SOURCES = {
    "an entry point lacks": ("LB801", SOURCE.replace("ReleaseEpFactory", "ReleaseEpFactories")),
    "more is exported": ("LB802", f"{SOURCE}API int acme_log(void);\nint acme_log(void) {{ return 0; }}\n"),
}
DEFINES = ['-DLATEBIND_EP_NAME="TinyExecutionProvider"', '-DLATEBIND_EP_VERSION="1"', '-DLATEBIND_EP_EXCEPT=""']


def test_nothing_is_found_in_the_packages_as_they_were_made(dist):
    assert codes(dist, dist / "dist") == set()


@pytest.mark.parametrize(
    ("kind", "code", "change"),
    [(kind, code, change) for kind, rows in ((".whl", WHEEL), (".nupkg", NUPKG)) for _, code, change in rows],
    ids=[f"{kind}: {title}" for kind, rows in (("wheel", WHEEL), ("nupkg", NUPKG)) for title, _, _ in rows],
)
def test_a_fault_of_a_package_is_named(dist, tmp_path, kind, code, change):
    folder = Path(shutil.copytree(dist / "dist", tmp_path / "dist"))
    (path,) = folder.glob(f"*{kind}")
    Packages(folder=folder, scratch=tmp_path).edit(path, change)
    assert code in {name for name, _ in codes(dist, folder)}


@pytest.mark.parametrize("title", SOURCES)
def test_a_fault_of_the_library_is_named(dist, tmp_path, title):
    code, source = SOURCES[title]
    folder = Path(shutil.copytree(dist / "dist", tmp_path / "dist"))
    library = shared_library(tmp_path / "libtiny_ep.so", source, *DEFINES).read_bytes()
    packages = Packages(folder=folder, scratch=tmp_path)
    for kind, inner in ((".whl", LIBRARY), (".nupkg", NATIVE)):
        (path,) = folder.glob(f"*{kind}")
        packages.edit(path, lambda members, inner=inner: members.update({inner: library}))
    assert code in {name for name, _ in codes(dist, folder)}


def test_a_wheel_and_a_nupkg_with_different_libraries_are_named(dist, tmp_path):
    folder = Path(shutil.copytree(dist / "dist", tmp_path / "dist"))
    (path,) = folder.glob("*.whl")
    library = shared_library(tmp_path / "libtiny_ep.so", SOURCE, *DEFINES).read_bytes()
    Packages(folder=folder, scratch=tmp_path).edit(path, lambda members: members.update({LIBRARY: library}))
    assert ("LB406", "error") in codes(dist, folder)


def test_a_linked_runtime_is_named(tmp_path):
    folder = write_ep(tmp_path, cmake=CMAKE + LINKED)
    packed(folder)
    assert ("LB101", "error") in codes(folder, folder / "dist")
