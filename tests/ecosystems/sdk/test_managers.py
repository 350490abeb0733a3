"""The recipes of docs/howto/sdk.md, run by the package managers that they are for."""

import hashlib
import os
import re
import shutil
import sys
import textwrap

import pytest

from tests.conftest import ROOT
from tests.support.client import by_kind, copy_client, edit, pack_project, write_files
from tests.support.needs import require_programs
from tests.support.running import run_checked, run_program
from tests.support.sdkclient import SDK, WITH_HEADER, write_sdk_client

pytestmark = pytest.mark.slow
DEMO = SDK.replace('name = "tiny"', 'name = "demo"', 1).replace("[package.tiny]", "[package.core]")
DEMO = re.sub(r"(?m)^(wheel|nuget) = .*\n", "", DEMO)  # an archive is enough
DEMO_CMAKE = WITH_HEADER.replace(
    "install(TARGETS", "set_target_properties(tiny PROPERTIES OUTPUT_NAME demo)\ninstall(TARGETS"
)
CONAN = (sys.executable, "-m", "uv", "tool", "run", "--from", "conan>=2,<3", "conan")
PROGRAM = "#include <tiny.h>\nint main(void) { return tiny_add(2, 3) == 5 ? 0 : 1; }\n"


def recipe(manager, language):
    """The blocks of the page that follow the manager's name."""
    text = (ROOT / "docs/howto/sdk.md").read_text("utf-8").partition(f"**{manager}**")[2]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def sdk(tmp_path_factory):
    return by_kind(pack_project(write_sdk_client(tmp_path_factory.mktemp("demo") / "demo", DEMO_CMAKE, DEMO)))["sdk"]


def compile_program(folder, flags):
    (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
    run_checked("/bin/sh", "-ec", f"cc program.c -o program {flags}", cwd=folder)


def test_conan_writes_a_pc_file_that_links(sdk, tmp_path):
    require_programs("pkg-config", "cc")
    if run_program(*CONAN, "--version", timeout=300).returncode:
        pytest.skip("not run: the package index has no Conan")
    body = textwrap.indent(recipe("Conan", "python")[0], "    ")
    head = "from conan import ConanFile\nfrom conan.tools.files import get\n\n\nclass Demo(ConanFile):\n"
    settings = '    name, version, settings = "demo", "1.2.3", ("os", "arch")\n\n'
    (tmp_path / "conanfile.py").write_text(head + settings + body, encoding="utf-8")
    checksum = hashlib.sha256(sdk.read_bytes()).hexdigest()
    data = f'sources:\n  "1.2.3":\n    url: "{sdk.as_uri()}"\n    sha256: "{checksum}"\n'
    (tmp_path / "conandata.yml").write_text(data, encoding="utf-8")
    env = {**os.environ, "CONAN_HOME": str(tmp_path / "home")}
    run_checked(*CONAN, "profile", "detect", env=env)
    run_checked(*CONAN, "create", ".", cwd=tmp_path, env=env, timeout=300)
    options = ["--requires", "demo/1.2.3", "-g", "PkgConfigDeps", "-of", "use", "--no-remote"]
    run_checked(*CONAN, "install", *options, cwd=tmp_path, env=env, timeout=300)
    paths = {**os.environ, "PKG_CONFIG_PATH": str(tmp_path / "use")}
    flags = run_checked("pkg-config", "--cflags", "--libs", "demo-core", env=paths)
    assert "-ldemo" in flags
    compile_program(tmp_path, flags)


def test_conan_without_libs_links_nothing(sdk, tmp_path):
    """What the page's recipe was before: the check above can fail."""
    require_programs("cc")
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    shutil.unpack_archive(sdk, tmp_path, filter="data")
    include = next(tmp_path.glob("*/include"))
    assert "undefined reference" in run_program("cc", "program.c", f"-I{include}", cwd=tmp_path).stderr


def test_cmake_downloads_the_archive(sdk, tmp_path):
    text = (ROOT / "docs/howto/sdk.md").read_text("utf-8")
    (block,) = re.findall(r"```cmake\n(include\(FetchContent.*?)```", text, re.DOTALL)
    block = re.sub(r"URL https\S+", f'URL "{sdk.as_uri()}"', block)
    block = re.sub(r"SHA256=\S+", f"SHA256={hashlib.sha256(sdk.read_bytes()).hexdigest()}", block)
    head = "cmake_minimum_required(VERSION 3.24)\nproject(consumer LANGUAGES C)\nadd_executable(program program.c)\n"
    write_files(tmp_path, {"CMakeLists.txt": head + block, "program.c": PROGRAM})
    run_checked("cmake", "-S", tmp_path, "-B", tmp_path / "tree", "-G", "Ninja", timeout=120)
    run_checked("cmake", "--build", tmp_path / "tree", timeout=120)
    run_checked(tmp_path / "tree" / "program", timeout=60)


BAZEL_WORKSPACE = """\
load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")

http_archive(
    name = "demo",
    build_file = "//:demo.BUILD",
    sha256 = "{checksum}",
    strip_prefix = "demo-1.2.3-linux-x64-sdk",
    urls = ["{url}"],
)
"""
BAZEL_BUILD = 'cc_binary(name = "{name}", srcs = ["program.c"], deps = [{deps}])\n'


def test_bazel_builds_a_program(sdk, tmp_path):
    """Where Bazel can build at all: it downloads its rules of C, unless ~/.bazelrc says where they are."""
    require_programs("bazel")
    bazel = ("bazel", f"--output_user_root={tmp_path / 'bazel'}")
    files = {
        "WORKSPACE": BAZEL_WORKSPACE.format(checksum=hashlib.sha256(sdk.read_bytes()).hexdigest(), url=sdk.as_uri()),
        "demo.BUILD": recipe("Bazel", "starlark")[0],
        "BUILD": BAZEL_BUILD.format(name="program", deps='"@demo//:core"'),
        "program.c": PROGRAM,
        "plain/BUILD": BAZEL_BUILD.format(name="plain", deps="").replace("program.c", "plain.c"),
        "plain/plain.c": "int main(void) { return 0; }\n",
    }
    write_files(tmp_path / "work", files)
    try:
        if run_program(*bazel, "build", "//plain", cwd=tmp_path / "work", timeout=300).returncode:
            pytest.skip("not run: Bazel can't build a program without dependencies here")
        run_checked(*bazel, "run", "//:program", cwd=tmp_path / "work", timeout=300)
    finally:
        run_program(*bazel, "shutdown", cwd=tmp_path / "work")
        run_checked("chmod", "-R", "u+w", tmp_path / "bazel")


def unpack_root(path, folder):
    shutil.unpack_archive(path, folder, filter="data")
    (root,) = (child for child in folder.iterdir() if child.is_dir())
    return root


def pack_versioned_sdk(folder, libdir, code=""):
    config = DEMO.replace("sdk = true", "sdk = { soversion = 1 }")
    config = config.replace("[native]", f'[native]\ndefine = {{ CMAKE_INSTALL_LIBDIR = "{libdir}" }}')
    root = write_sdk_client(folder, f"include(GNUInstallDirs)\n{DEMO_CMAKE}", config)
    if code:
        edit(root / "native" / "tiny.c", "tiny_add", code)
    return by_kind(pack_project(root))["sdk"]


def test_debian_packages_have_no_error_by_lintian(tmp_path):
    require_programs("dpkg-buildpackage", "dh", "lintian")
    source = unpack_root(pack_versioned_sdk(tmp_path / "demo", "lib/x86_64-linux-gnu"), tmp_path / "source")
    runtime, development = recipe("Debian", "text")[:2]
    copy_client("debian", source)
    write_files(source / "debian", {"libdemo1.install": runtime, "libdemo-dev.install": development})
    (source / "debian" / "rules").chmod(0o755)
    run_checked("dpkg-buildpackage", "-b", "-us", "-uc", "-d", cwd=source, timeout=300)
    packages = sorted((tmp_path / "source").glob("*.deb"))
    assert [path.name.partition("_")[0] for path in packages] == ["libdemo-dev", "libdemo1"]
    ended = run_program("lintian", "--allow-root", "--fail-on", "error", *packages, timeout=300)
    assert ended.returncode == 0, ended.stdout
    root = tmp_path / "root"
    for path in packages:
        run_checked("dpkg-deb", "-x", path, root)
    env = {**os.environ, "PKG_CONFIG_PATH": str(root / "usr/lib/x86_64-linux-gnu/pkgconfig")}
    compile_program(tmp_path, run_checked("pkg-config", "--cflags", "--libs", "demo-core", env=env))
    assert "libdemo.so.1" in run_checked("readelf", "-d", tmp_path / "program")


def test_lintian_finds_a_library_without_a_version(tmp_path, sdk):
    """The check above can fail."""
    require_programs("dpkg-deb", "lintian")
    root = tmp_path / "root"
    shutil.copytree(
        unpack_root(sdk, tmp_path / "sdk") / "lib", root / "usr" / "lib" / "x86_64-linux-gnu", symlinks=True
    )
    (root / "DEBIAN").mkdir()
    head = (
        "Package: libdemo\nVersion: 1\nArchitecture: amd64\nMaintainer: X <x@example.org>\nDescription: demo\n text\n"
    )
    (root / "DEBIAN" / "control").write_text(head, encoding="utf-8")
    run_checked("dpkg-deb", "-b", root, tmp_path / "libdemo_1_amd64.deb")
    ended = run_program("lintian", "--allow-root", "--fail-on", "error", tmp_path / "libdemo_1_amd64.deb", timeout=300)
    assert ended.returncode != 0


HEAD = """\
Name: demo
Version: 1.2.3
Release: 1
Summary: Adds numbers
License: MIT
Source0: demo-1.2.3-linux-x64-sdk.tar.gz

%description
A library that adds numbers.

"""


def test_rpmbuild_makes_two_packages_with_the_soname(tmp_path):
    require_programs("rpmbuild", "rpm")
    path = pack_versioned_sdk(tmp_path / "demo", "lib64")
    top = tmp_path / "rpm"
    (top / "SOURCES").mkdir(parents=True)
    shutil.copy(path, top / "SOURCES")
    (tmp_path / "demo.spec").write_text(HEAD + recipe("RPM", "spec")[0], encoding="utf-8")
    options = ["--nodeps", "-D", f"_topdir {top}", "-D", f"_dbpath {tmp_path / 'db'}"]
    run_checked("rpmbuild", "-bb", *options, tmp_path / "demo.spec", timeout=300)
    packages = {path.name.rpartition("-1.2.3")[0]: path for path in top.rglob("*.rpm")}
    assert set(packages) == {"demo", "demo-devel"}
    assert "libdemo.so.1()(64bit)" in run_checked("rpm", "-qp", "--provides", packages["demo"])
    assert "/usr/include/tiny.h" in run_checked("rpm", "-qpl", packages["demo-devel"]).splitlines()


def test_abidiff_compares_two_releases(tmp_path):
    require_programs("abidiff")
    base, same, other = (
        unpack_root(pack_versioned_sdk(tmp_path / name, "lib", code), tmp_path / f"{name}.sdk") / "lib" / "libdemo.so.1"
        for name, code in (("one", ""), ("same", ""), ("other", "tiny_sum"))
    )
    assert run_program("abidiff", base, same).returncode == 0
    changed = run_program("abidiff", base, other)
    assert changed.returncode & 8, changed.stdout
    assert "tiny_add" in changed.stdout
