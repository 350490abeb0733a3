"""The sdist builds the wheel that the tree builds, in every layout, and packing shows it."""

import shutil
import sys
import tarfile

import pytest

from latebind.errors import BuildError
from loadcheck.api import audit_here
from tests.support.client import (
    BOUND,
    CMAKE,
    CONFIG,
    PYPROJECT,
    SOURCE,
    built_wheel,
    by_kind,
    copy_client,
    edit,
    members,
    pack_project,
    write_client,
    write_files,
)
from tests.support.thingclient import DESCRIBED

OLD = "from setuptools import setup\nsetup(name='tiny', version='0.0.1')\n"
TOOL = CONFIG.replace("[package.tiny]", "[tool.latebind.package.tiny]")
for _table in ("project", "native", "targets"):
    TOOL = TOOL.replace(f"[{_table}]", f"[tool.latebind.{_table}]")


def project(root, *, native, wheel, config=CONFIG, pyproject=PYPROJECT, more=None):
    """The small project with its native code and its wheel source in other folders."""
    text = config.replace('source = "native"', f'source = "{native}"')
    text = text.replace('wheel = { source = "python/tiny" }', f'wheel = {{ source = "{wheel}", name = "tiny" }}')
    files = {
        f"{native}/CMakeLists.txt": CMAKE,
        f"{native}/tiny.c": SOURCE,
        f"{wheel}/pyproject.toml": pyproject,
        f"{wheel}/LICENSE": "MIT\n",
        f"{wheel}/src/tiny/__init__.py": '"""Adds numbers."""\n',
        **({"latebind.toml": text} if config is CONFIG else {"pyproject.toml": pyproject + text}),
        **(more or {}),
    }
    return write_files(root, files)


def list_members(sdist):
    return {name.partition("/")[2] for name in members(sdist)}


def assert_same_wheel(packages, folder):
    """The sdist builds the very wheel that was made of the tree."""
    shutil.unpack_archive(packages["sdist"], folder / "unpacked", filter="data")
    again = built_wheel(folder / "unpacked" / "tiny-1.2.3", folder / "out", "-Ctoolchain=zig")
    assert (again.name, again.read_bytes()) == (packages["wheel"].name, packages["wheel"].read_bytes())


LAYOUTS = {
    "apart": {"native": "native", "wheel": "python/tiny"},
    "root": {"native": ".", "wheel": "python/tiny", "more": {"setup.py": OLD, "pyproject.toml": "[tool.x]\n"}},
    "wheel-in-native": {"native": "code", "wheel": "code/python"},
    "native-in-wheel": {"native": "cpp", "wheel": "."},
    "native-folder-in-wheel": {"native": "native", "wheel": "."},
    "one-folder": {"native": ".", "wheel": "."},
    "shared-src": {"native": "src", "wheel": "."},
    "pyproject": {"native": "cpp", "wheel": ".", "config": TOOL},
    "all-files": {"native": ".", "wheel": ".",
                  "pyproject": PYPROJECT.replace('only-include = ["src", "LICENSE"]', "")},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_wheel_from_the_sdist_is_that_of_the_tree(tmp_path, layout):
    root = project(tmp_path / "tiny", **LAYOUTS[layout])
    write_files(root, {"venv/pyvenv.cfg": "", "venv/a.py": "", "debug/CMakeCache.txt": "", "debug/a.c": ""})
    (root / "venv" / "python").symlink_to(sys.executable)
    packages = by_kind(pack_project(root))
    assert {"pyproject.toml", "latebind.toml", "native/tiny.c", "loader/latebindConfig.cmake"} <= list_members(
        packages["sdist"]
    )
    paths = [name.split("/") for name in list_members(packages["sdist"])]
    assert not {path[0] for path in paths} & {"setup.py", "stage", "dist", "build"}
    assert not {part for path in paths for part in path} & {"venv", "debug"}
    assert_same_wheel(packages, tmp_path)


LINKED_CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
find_package(onnxruntime CONFIG REQUIRED)
add_library(tiny SHARED tiny.c)
target_link_libraries(tiny PRIVATE onnxruntime::onnxruntime)
install(TARGETS tiny COMPONENT tiny)
"""
LINKED_SOURCE = """\
const void* OrtGetApiBase(void);
__attribute__((visibility("default"))) int tiny_has_runtime(void) { return OrtGetApiBase() != 0; }
"""


@pytest.mark.slow
@pytest.mark.parametrize("described", [False, True], ids=["a stub", "a described runtime"])
def test_an_sdist_has_the_code_that_latebind_generates(tmp_path, described):
    """It builds the tree's wheel without latebind's tables of runtimes and the code that reads them."""
    if described:
        bound = CONFIG.replace('component = "tiny"', 'component = "tiny"\nruntime = "thing"')
        root = copy_client("thing", tmp_path / "tiny", latebind=bound + DESCRIBED)
    else:
        linked = BOUND + "drop_in = true\n"
        root = write_client(tmp_path / "tiny", latebind=linked, cmakelists=LINKED_CMAKE, tiny=LINKED_SOURCE)
    packages = by_kind(pack_project(root))
    generated = {name for name in list_members(packages["sdist"]) if name.startswith("_latebind/generated/")}
    assert generated
    assert_same_wheel(packages, tmp_path)


LICENSED = {"LICENSE.txt": "MIT License of Tiny\n", "python/tiny/LICENSE": "other\n"}
NO_FILES = PYPROJECT.replace('license-files = ["LICENSE"]\n', "").replace('["src", "LICENSE"]', '["src"]')


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pyproject", "folder_has_one", "expected"),
    [
        (NO_FILES, False, {"LICENSE.txt": "MIT License of Tiny\n"}),
        (NO_FILES, True, {"LICENSE": "other\n"}),
        (NO_FILES.replace('license = "MIT"\n', 'license = "MIT"\nlicense-files = []\n'), False, {}),
    ],
    ids=["the project's", "the folder's", "none, on purpose"],
)
def test_a_wheel_without_a_license_file_gets_that_of_the_project(tmp_path, pyproject, folder_has_one, expected):
    root = project(tmp_path / "tiny", native="native", wheel="python/tiny", pyproject=pyproject, more=LICENSED)
    edit(root / "latebind.toml", 'license = "MIT"', 'license = "MIT"\nlicense_file = "LICENSE.txt"')
    if not folder_has_one:
        (root / "python/tiny/LICENSE").unlink()

    packages = by_kind(pack_project(root))

    folder = "tiny-1.2.3.dist-info/licenses/"
    inside = members(packages["wheel"])
    texts = {name.removeprefix(folder): data.decode() for name, data in inside.items() if name.startswith(folder)}
    assert texts == expected
    stated = [line[14:] for line in inside["tiny-1.2.3.dist-info/METADATA"].decode().splitlines() if "-File: " in line]
    assert stated == list(expected)
    found = audit_here([packages["wheel"]]).findings
    assert "LB507" not in {finding.code for finding in found}
    assert_same_wheel(packages, tmp_path)


@pytest.mark.slow
def test_an_sdist_that_lacks_a_file_of_the_wheel_is_not_made(tmp_path):
    root = project(tmp_path / "tiny", native="native", wheel="python/tiny")
    before = by_kind(pack_project(root))["sdist"].read_bytes()
    (root / "python/tiny/src/tiny/data.txt").write_text("1")
    lacking = PYPROJECT.replace('"src", "LICENSE"]', '"src", "LICENSE"]\nexclude = ["data.txt"]')
    (root / "python/tiny/pyproject.toml").write_text(lacking)
    with pytest.raises(BuildError, match=r"tiny-1\.2\.3\.tar\.gz differs from tiny-1.*: tiny/data\.txt is missing"):
        pack_project(root)
    assert (root / "dist/tiny-1.2.3.tar.gz").read_bytes() == before


@pytest.mark.builds
def test_an_sdist_with_an_old_build_system_at_its_root_is_not_made(tmp_path):
    keeping = PYPROJECT.replace('"src", "LICENSE"]', '"src", "LICENSE", "setup.py"]')
    root = project(tmp_path / "tiny", native="native", wheel="python/tiny", pyproject=keeping,
                   more={"python/tiny/setup.py": OLD})  # fmt: skip
    with pytest.raises(BuildError, match="two build systems"):
        pack_project(root)


@pytest.mark.builds
def test_what_is_excluded_is_neither_hashed_nor_carried(tmp_path):
    config = CONFIG.replace('source = "native"', 'source = "native"\nexclude = ["data", "*.onnx"]')
    more = {"latebind.toml": config, "native/data/big.bin": "1", "native/models/m.onnx": "1", "native/kept.txt": "1"}
    root = project(tmp_path / "tiny", native="native", wheel="python/tiny", more=more)
    packages = by_kind(pack_project(root))
    assert {name for name in list_members(packages["sdist"]) if name.startswith("native/")} == {
        "native/CMakeLists.txt", "native/tiny.c", "native/kept.txt"
    }  # fmt: skip
    before = packages["sdist"].stat().st_mtime_ns
    (root / "native/data/big.bin").write_text("2")
    assert by_kind(pack_project(root))["sdist"].stat().st_mtime_ns == before


@pytest.mark.slow
def test_code_of_a_module_below_the_folder_of_the_wheel_is_native_code(tmp_path):
    more = {
        "CMakeLists.txt": CMAKE.replace("tiny.c", "python/csrc/tiny.c"),
        "python/csrc/tiny.c": '#include "tiny.h"\n' + SOURCE,
        "python/csrc/tiny.h": "#define ONE 1\n",
    }
    root = project(tmp_path / "tiny", native=".", wheel="python", more=more)

    packages = by_kind(pack_project(root))

    listed = list_members(packages["sdist"])
    assert {"native/python/csrc/tiny.c", "native/python/csrc/tiny.h"} <= listed
    assert not {name for name in listed if name.startswith("native/python/src")}
    assert_same_wheel(packages, tmp_path)


def test_an_excluded_file_that_the_build_reads_is_refused(tmp_path):
    config = CONFIG.replace('source = "native"', 'source = "native"\nexclude = ["*.h"]')
    more = {
        "latebind.toml": config,
        "native/tiny.h": "#define ONE 1\n",
        "native/tiny.c": '#include "tiny.h"\n' + SOURCE,
    }
    root = project(tmp_path / "tiny", native="native", wheel="python/tiny", more=more)
    with pytest.raises(BuildError, match=r"does not count as sources: native/tiny\.h"):
        pack_project(root)


def test_a_pyproject_that_is_a_link_is_not_missing(tmp_path):
    path = tmp_path / "tiny-1.0.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("PKG-INFO", "native/pyproject.toml"):
            archive.addfile(tarfile.TarInfo(f"tiny-1.0.0/{name}"))
        link = tarfile.TarInfo("tiny-1.0.0/pyproject.toml")
        link.type, link.linkname = tarfile.LNKTYPE, "tiny-1.0.0/native/pyproject.toml"
        archive.addfile(link)
    report = audit_here([path])
    assert "LB415" not in {finding.code for finding in report.findings}
    assert [skip.reason for skip in report.skipped if skip.check == "LB415"] == [
        "pyproject.toml is a link, which loadcheck does not read"
    ]
