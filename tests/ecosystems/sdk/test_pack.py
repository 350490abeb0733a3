"""SDK archives: what is in them, and that programs in C and C++ are compiled and run with them wherever they lie."""

import json
import os
import re
import shutil
import stat
import tarfile
import zipfile

import pytest

from ci.machines import clang_cl
from corpus.packages import universal
from latebind.backend.targets import target
from latebind.backend.toolchain import program
from latebind.backend.zig import find_zig
from latebind.config.file import load
from latebind.config.project import Project
from latebind.ecosystems.sdk.pack import pack_sdk
from latebind.errors import BuildError, ConfigError
from latebind.native.bill import read_sbom
from latebind.native.builds import stage_target
from latebind.system.run import run
from loadcheck.api import Policy, audit_here, audit_paths
from loadcheck.facts import read_images
from tests.support.client import PORTABLE_CMAKE, by_kind, edit, hashes, member, members, pack_project
from tests.support.emulated import cache
from tests.support.needs import available, require_programs
from tests.support.running import run_checked, run_program
from tests.support.sdkclient import SDK, WITH_HEADER, write_sdk_client

PROGRAM = (
    "#include <tiny.h>\nint main(void) { return tiny_add(2, 3) == 5 /* 2 characters printed, and 3 */ ? 0 : 1; }\n"
)
CONSUMER = """\
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C CXX)
find_package(Tiny {version} CONFIG REQUIRED COMPONENTS {component})
foreach(language c cpp)
  add_executable(program_${{language}} program.${{language}})
  target_link_libraries(program_${{language}} PRIVATE tiny::tiny)
endforeach()
"""
FOR_MSVC = """\
cmake_minimum_required(VERSION 3.25)
project(program LANGUAGES C)
message(STATUS "MSVC is ${MSVC}")
find_package(tiny 1.2 CONFIG REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE tiny::tiny)
target_link_options(program PRIVATE /NODEFAULTLIB /ENTRY:start /MANIFEST:NO)
"""


VCPKG_PATTERN = r'get_filename_component\(PACKAGE_PREFIX_DIR "\${CMAKE_CURRENT_LIST_DIR}/\.\./(\.\./)*" ABSOLUTE\)'
VCPKG_PREFIX = 'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../" ABSOLUTE)'
"""What vcpkg_cmake_config_fixup() replaces, and by what."""


def pack_client(folder, *texts):
    """The archive of the small project, with other texts of CMakeLists.txt and latebind.toml."""
    return by_kind(pack_project(write_sdk_client(folder, *texts)))["sdk"]


def unpack(path, folder):
    """The only folder of an archive, unpacked."""
    shutil.unpack_archive(path, folder, **({} if path.suffix == ".zip" else {"filter": "data"}))
    (prefix,) = folder.iterdir()
    return prefix


@pytest.fixture(scope="module")
def pack_result(tmp_path_factory):
    return pack_project(write_sdk_client(tmp_path_factory.mktemp("sdk") / "tiny"))


@pytest.fixture
def prefix(pack_result, tmp_path):
    """The unpacked archive, in a folder with a space in its name."""
    folder = tmp_path / "a place"
    return unpack(by_kind(pack_result)["sdk"], folder).rename(folder / "a prefix")


def test_an_archive_holds_what_programs_are_compiled_with(pack_result):
    with tarfile.open(by_kind(pack_result)["sdk"]) as archive:
        entries = {entry.name: entry for entry in archive}
        library = archive.extractfile("tiny-1.2.3-linux-x64-sdk/lib/libtiny.so").read()
    assert [name.removeprefix("tiny-1.2.3-linux-x64-sdk/") for name in entries] == [
        "CMakeLists.txt",
        "include/tiny.h",
        "lib/cmake/tiny/tiny-config-version.cmake",
        "lib/cmake/tiny/tiny-config.cmake",
        "lib/libtiny.so",
        "lib/pkgconfig/tiny.pc",
        "share/licenses/tiny/tiny.c",
        "share/tiny/latebind.cdx.json",
    ]
    assert library == member(by_kind(pack_result)["wheel"], "tiny/libtiny.so")
    assert {(entry.mtime, entry.uid, entry.uname, entry.mode) for entry in entries.values()} == {
        (1580601600, 0, "", 0o644)
    }


@pytest.mark.builds
def test_equal_inputs_give_equal_archives(pack_result, tmp_path):
    again = pack_project(write_sdk_client(tmp_path / "elsewhere"))
    assert hashes(again)[by_kind(again)["sdk"].name] == hashes(pack_result)[by_kind(pack_result)["sdk"].name]


def configure(folder, *options):
    command = [program("cmake"), "-S", folder, "-B", folder / "tree", "-G", "Ninja"]
    return run_program(*command, f"-DCMAKE_MAKE_PROGRAM={program('ninja')}", *options, timeout=120)


def configure_consumer(folder, prefix, *, version="1.2", component="tiny", more=()):
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(CONSUMER.format(version=version, component=component), encoding="utf-8")
    for language in ("c", "cpp"):
        (folder / f"program.{language}").write_text(PROGRAM, encoding="utf-8")
    return configure(folder, f"-DCMAKE_PREFIX_PATH={prefix}", *more)


def assert_computes(folder, prefix, *, more=()):
    """Programs in C and C++ are built with the package, and compute."""
    ended = configure_consumer(folder, prefix, more=more)
    assert ended.returncode == 0, ended.stderr
    run_checked(program("cmake"), "--build", folder / "tree", timeout=120)
    for language in ("c", "cpp"):
        run_checked(folder / "tree" / f"program_{language}", timeout=60)


@pytest.mark.builds
def test_programs_in_c_and_cpp_find_the_package_after_it_was_moved(prefix, tmp_path):
    assert_computes(tmp_path / "consumer", prefix)


FETCHED = """\
cmake_minimum_required(VERSION 3.24)
project(consumer LANGUAGES C)
include(FetchContent)
FetchContent_Declare(tiny URL "{url}"{more})
{use}
add_subdirectory(program)
"""
FETCHED_PROGRAM = """\
add_executable(program ../program.c)
target_link_libraries(program PRIVATE tiny::tiny)
"""


def configure_fetched(folder, archive, use="FetchContent_MakeAvailable(tiny)", more=""):
    """A program in a folder of its own uses what the folder above it fetched."""
    (folder / "program").mkdir(parents=True)
    text = FETCHED.format(url=archive.as_uri(), use=use, more=more)
    (folder / "CMakeLists.txt").write_text(text, encoding="utf-8")
    (folder / "program" / "CMakeLists.txt").write_text(FETCHED_PROGRAM, encoding="utf-8")
    (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
    return configure(folder)


OVERRIDE = " OVERRIDE_FIND_PACKAGE"
FIND = "find_package(tiny 1.2 CONFIG REQUIRED COMPONENTS tiny)"


@pytest.mark.builds
@pytest.mark.parametrize(("use", "more"), [("FetchContent_MakeAvailable(tiny)", ""), (FIND, OVERRIDE)])
def test_a_program_fetches_the_archive(pack_result, tmp_path, use, more):
    """FetchContent_Declare(OVERRIDE_FIND_PACKAGE) has been in CMake since 3.24."""
    ended = configure_fetched(tmp_path / "consumer", by_kind(pack_result)["sdk"], use, more)
    assert ended.returncode == 0, ended.stderr
    run_checked(program("cmake"), "--build", tmp_path / "consumer" / "tree", timeout=120)
    run_checked(tmp_path / "consumer" / "tree" / "program" / "program", timeout=60)


@pytest.mark.builds
def test_an_archive_for_another_cpu_is_refused_when_it_is_fetched(pack_result, tmp_path):
    archive = tmp_path / "tiny.tar.gz"
    folder = unpack(by_kind(pack_result)["sdk"], tmp_path / "opened")
    version = folder / "lib/cmake/tiny/tiny-config-version.cmake"
    version.write_text(re.sub(r'MATCHES "[^"]*"', 'MATCHES "^(arm64)$"', version.read_text("utf-8")), "utf-8")
    with tarfile.open(archive, "w:gz") as opened:
        opened.add(folder, "tiny")
    ended = configure_fetched(tmp_path / "consumer", archive)
    assert ended.returncode != 0
    assert "This is tiny 1.2.3 (for linux-x64, not" in " ".join(ended.stderr.split())


@pytest.mark.builds
def test_a_package_that_vcpkg_moved_is_found(prefix, tmp_path):
    folder = prefix / "share" / "tiny"
    shutil.copytree(prefix / "lib" / "cmake" / "tiny", folder, dirs_exist_ok=True)
    shutil.rmtree(prefix / "lib" / "cmake")
    file = folder / "tiny-config.cmake"
    text = file.read_text("utf-8")
    file.write_text(re.sub(VCPKG_PATTERN, VCPKG_PREFIX, text), encoding="utf-8")
    assert text.count("../../../") == 1
    assert_computes(tmp_path / "consumer", prefix)


@pytest.mark.parametrize(
    ("asked", "component", "says"),
    [
        ("1.2.3", "tiny", ""),
        ("1.0...1.3", "tiny", ""),
        ("1.1", "huge", "tiny has no component huge; it has: tiny."),
        ("1.3", "tiny", "version: 1.2.3"),
        ("2.0", "tiny", "version: 1.2.3"),
        ("0.9", "tiny", "version: 1.2.3"),
        ("1.0...<1.2.3", "tiny", "version: 1.2.3"),
    ],
)
def test_versions_and_components_that_it_lacks_are_not_found(prefix, tmp_path, asked, component, says):
    ended = configure_consumer(tmp_path / "consumer", prefix, version=asked, component=component)
    assert (ended.returncode == 0) is (not says)
    assert says in " ".join(ended.stderr.split())


def test_a_package_for_another_system_is_not_found(prefix, tmp_path):
    edit(prefix / "lib" / "cmake" / "tiny" / "tiny-config-version.cmake", '"Linux"', '"Windows"')
    assert "version: 1.2.3 (for linux-x64)" in " ".join(
        configure_consumer(tmp_path / "consumer", prefix).stderr.split()
    )


@pytest.mark.slow
@pytest.mark.parametrize("libdir", ["lib64", "lib/x86_64-linux-gnu"])
def test_libraries_are_where_the_project_installs_them(libdir, tmp_path):
    config = SDK.replace("[native]", f'[native]\ndefine = {{ CMAKE_INSTALL_LIBDIR = "{libdir}" }}')
    path = pack_client(tmp_path / "tiny", f"include(GNUInstallDirs)\n{VERSIONED}", config)
    assert not [finding for finding in audit_here([path]).findings if finding.code.startswith("LB43")]
    prefix = unpack(path, tmp_path / "place")
    assert {file.parent for file in prefix.rglob("libtiny*")} == {prefix / libdir}
    # CMake searches lib64 on Fedora and the like alone.
    more = [f"-DTiny_DIR={prefix / libdir / 'cmake' / 'tiny'}"] if libdir == "lib64" else []
    assert_computes(tmp_path / "consumer", prefix, more=more)
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / libdir / "pkgconfig")}
    assert f"-L{prefix / libdir}" in os.path.normpath(run_checked("pkg-config", "--libs", "tiny", env=env).split()[0])


@pytest.mark.builds
def test_libraries_in_two_folders_are_refused(tmp_path):
    both = TWO_CMAKE.replace("TARGETS ${name}", "TARGETS ${name} LIBRARY DESTINATION lib64")
    with pytest.raises(BuildError, match="installed in lib and lib64"):
        pack_project(write_sdk_client(tmp_path / "tiny", both, TWO))


@pytest.mark.slow
@pytest.mark.parametrize(("rid", "name"), [("linux-x64", "libtiny.so.4"), ("osx-arm64", "libtiny.4.dylib")])
def test_a_soversion_is_in_the_archive_and_in_no_other_package(rid, name, tmp_path):
    config = SDK.replace("sdk = true", "sdk = { soversion = 4 }").replace("linux-x64", rid)
    plain, versioned = (
        pack_project(write_sdk_client(tmp_path / folder, latebind=text))
        for folder, text in (("plain", SDK.replace("linux-x64", rid)), ("tiny", config))
    )
    before, after = hashes(plain), hashes(versioned)
    assert {name for name in after if after[name] != before[name]} == {
        by_kind(versioned)["sdk"].name,
        *(
            name
            for name in after
            if name.endswith(".tar.gz") and "sdk" not in name  # the sdist holds the configuration
        ),
    }
    prefix = unpack(by_kind(versioned)["sdk"], tmp_path / "place")
    (library,) = [path for path in (prefix / "lib").iterdir() if path.is_file() and not path.is_symlink()]
    assert library.name == name
    assert [image.soname.removeprefix("@rpath/") for image in read_images(library.read_bytes(), name)] == [name]
    assert not [finding for finding in audit_here([by_kind(versioned)["sdk"]]).findings if finding.severity == "error"]
    assert (
        hashes(pack_project(tmp_path / "tiny", workdir=tmp_path / "again"))[by_kind(versioned)["sdk"].name]
        == after[by_kind(versioned)["sdk"].name]
    )
    if rid == "linux-x64":
        assert_computes(tmp_path / "consumer", prefix)


STATIC = WITH_HEADER.replace(
    "install(TARGETS tiny COMPONENT tiny)",
    """\
add_library(still STATIC tiny.c)
set_target_properties(still PROPERTIES OUTPUT_NAME {name} POSITION_INDEPENDENT_CODE ON)
install(TARGETS tiny still COMPONENT tiny)""",
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stem"), [("tiny", "tiny"), ("tiny_still", "tiny_still")])
def test_a_static_library_is_a_target_of_its_own(name, stem, tmp_path):
    path = pack_client(tmp_path / "tiny", STATIC.replace("{name}", name))
    assert not [finding for finding in audit_here([path]).findings if finding.severity == "error"]
    prefix = unpack(path, tmp_path / "place")
    assert (prefix / "lib" / f"lib{stem}.a").is_file()
    bill = json.loads((prefix / "share" / "tiny" / "latebind.cdx.json").read_bytes())
    assert f"linux-x64/lib{stem}.a" in {component["bom-ref"] for component in bill["components"]}
    folder = tmp_path / "consumer"
    configure_consumer(folder, prefix)
    edit(folder / "CMakeLists.txt", "tiny::tiny", "tiny::tiny_static")
    ended = run_program(program("cmake"), folder / "tree", timeout=120)
    assert ended.returncode == 0, ended.stderr
    run_checked(program("cmake"), "--build", folder / "tree", timeout=120)
    run_checked(folder / "tree" / "program_c", timeout=60)
    assert "libtiny" not in run_checked("readelf", "-d", folder / "tree" / "program_c")


@pytest.mark.builds
def test_windows_offers_a_static_library_that_is_no_import_library(tmp_path):
    config = SDK.replace("linux-x64", "win-x64")
    path = pack_client(tmp_path / "tiny", STATIC.replace("{name}", "tiny_still"), config)
    text = member(path, "tiny-config.cmake").decode()
    libraries = {name.partition("/")[2] for name in members(path) if name.endswith(".lib")}
    assert libraries == {"lib/tiny.lib", "lib/tiny_still.lib"}
    assert "add_library(tiny::tiny_static STATIC IMPORTED)" in text
    assert 'IMPORTED_LOCATION "${PACKAGE_PREFIX_DIR}/lib/tiny_still.lib"' in text


def test_two_soversions_for_one_archive_are_refused(tmp_path):
    config = TWO.replace("sdk = true", "sdk = { soversion = 1 }", 1).replace("sdk = true", "sdk = { soversion = 2 }", 1)
    with pytest.raises(ConfigError, match="has soversion 2, but another package has 1"):
        load(write_sdk_client(tmp_path / "tiny", latebind=config) / "latebind.toml")


ELSEWHERE = {
    "another machine's toolchain": (["CMAKE_SYSTEM_NAME=Linux", "CMAKE_SYSTEM_PROCESSOR=aarch64"], "aarch64"),
    "the same one by another name": (["CMAKE_SYSTEM_NAME=Linux", "CMAKE_SYSTEM_PROCESSOR=AMD64"], ""),
    "the compiler's own answer comes first": (["CMAKE_C_COMPILER_ARCHITECTURE_ID=ARM64"], "arm64"),
    "a list that is for macOS only": (["CMAKE_OSX_ARCHITECTURES=arm64"], ""),
    "none that is known": (["CMAKE_SYSTEM_PROCESSOR="], ""),
    "no compiler": (["CMAKE_SIZEOF_VOID_P=", "CMAKE_SYSTEM_PROCESSOR=aarch64"], ""),
}


def evaluate_version_file(file, *settings):
    """What the version file answers to a request for 1.2, as find_package() reads it."""
    script = file.with_name("ask.cmake")
    lines = [f"set({setting.replace('=', ' ', 1)})" for setting in settings]
    lines = ["cmake_minimum_required(VERSION 3.5...4.0)", *lines, f'include("{file}")']
    text = "${PACKAGE_VERSION}|${PACKAGE_VERSION_UNSUITABLE}|${PACKAGE_VERSION_COMPATIBLE}"
    script.write_text("\n".join([*lines, f'message("{text}")']), encoding="utf-8")
    return run_program(program("cmake"), "-P", script).stderr.strip()


ASKED = ["PACKAGE_FIND_VERSION=1.2", "PACKAGE_FIND_VERSION_MAJOR=1", "CMAKE_SIZEOF_VOID_P=8", "CMAKE_SYSTEM_NAME=Linux"]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_package_for_another_processor_is_not_found(name, prefix):
    settings, refused = ELSEWHERE[name]
    file = prefix / "lib" / "cmake" / "tiny" / "tiny-config-version.cmake"
    answer = evaluate_version_file(file, "CMAKE_SYSTEM_PROCESSOR=x86_64", *ASKED, *settings)
    assert answer == (f"1.2.3 (for linux-x64, not {refused})|TRUE|" if refused else "1.2.3||TRUE")


SMALL = {
    "linux-arm": (4, ("arm", "armv7", "armv7l", "aarch64"), ("armv6", "x86_64")),
    "linux-riscv64": (8, ("riscv64", "riscv"), ("riscv32", "x86_64")),
}


@pytest.mark.slow
@pytest.mark.parametrize("rid", SMALL)
def test_an_archive_serves_the_processor_of_its_target(rid, tmp_path):
    pointer_size, own_cpus, other_cpus = SMALL[rid]
    prefix = unpack(pack_client(tmp_path / "tiny", WITH_HEADER, SDK.replace("linux-x64", rid)), tmp_path / "place")
    file = prefix / "lib" / "cmake" / "tiny" / "tiny-config-version.cmake"
    for cpu in (*own_cpus, *other_cpus):
        sized = [*ASKED, f"CMAKE_SYSTEM_PROCESSOR={cpu}", f"CMAKE_SIZEOF_VOID_P={pointer_size}"]
        assert evaluate_version_file(file, *sized) == (
            "1.2.3||TRUE" if cpu in own_cpus else f"1.2.3 (for {rid}, not {cpu})|TRUE|"
        )
    wrong = [*ASKED, f"CMAKE_SYSTEM_PROCESSOR={own_cpus[0]}", f"CMAKE_SIZEOF_VOID_P={12 - pointer_size}"]
    assert evaluate_version_file(file, *wrong) == f"1.2.3 (for {rid})|TRUE|"


@pytest.mark.builds
def test_a_universal_library_serves_both_processors(tmp_path):
    root = write_sdk_client(tmp_path / "tiny", latebind=SDK.replace("linux-x64", "osx-arm64"))
    config = load(root / "latebind.toml")
    stage = stage_target(Project(config=config, workdir=root), target("osx-arm64"))
    (library,) = stage.libraries("tiny")
    options = ["-target", "x86_64-macos.11.0", "-shared", "-install_name", "libtiny.dylib"]
    run([find_zig(), "cc", *options, "-o", tmp_path / "x64.dylib", root / "native" / "tiny.c"], timeout=120)
    for is_wide in (False, True):
        if is_wide:
            library.write_bytes(universal(library.read_bytes(), (tmp_path / "x64.dylib").read_bytes()))
        path = pack_sdk(config, ["tiny"], stage, tmp_path / "out")
        prefix = unpack(path, tmp_path / f"place{is_wide}")
        file = prefix / "lib" / "cmake" / "tiny" / "tiny-config-version.cmake"
        for asked, suits in {"x86_64;arm64": True, "arm64": True, "x86_64h": True, "arm64;arm64e": False}.items():
            answer = evaluate_version_file(
                file, *ASKED, "CMAKE_SYSTEM_NAME=Darwin", f'CMAKE_OSX_ARCHITECTURES="{asked}"'
            )
            assert answer.endswith("|TRUE") is (suits if is_wide else asked == "arm64"), asked


def test_pkg_config_finds_the_package_after_it_was_moved(prefix, tmp_path):
    require_programs("pkg-config", "cc")
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"), "LD_LIBRARY_PATH": str(prefix / "lib")}
    line = "pkg-config --exact-version=1.2.3 tiny && "
    line += "eval cc program.c -o program $(pkg-config --cflags --libs tiny) && ./program"
    run_checked("/bin/sh", "-ec", line, cwd=tmp_path, env=env, timeout=120)


def with_properties(properties, lists=WITH_HEADER):
    return lists.replace("install(TARGETS", f"set_target_properties(tiny PROPERTIES {properties})\ninstall(TARGETS")


VERSIONED = with_properties("VERSION 3.1 SOVERSION 3")
LINKS = {"lib/libtiny.so": "libtiny.so.3.1", "lib/libtiny.so.3": "libtiny.so.3.1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cmake", "links"),
    [
        (VERSIONED, LINKS),
        (VERSIONED.replace("tiny COMPONENT tiny", "tiny LIBRARY COMPONENT tiny NAMELINK_SKIP"), LINKS),
        (with_properties('NO_SONAME ON PREFIX ""'), {"lib/libtiny.so": "tiny.so"}),
    ],
)
def test_names_that_linker_and_loader_need_are_links(tmp_path, cmake, links):
    path = pack_client(tmp_path / "tiny", cmake)
    with tarfile.open(path) as archive:
        symlinks = {member.name.partition("/")[2]: member.linkname for member in archive if member.issym()}
    assert symlinks == links
    assert_computes(tmp_path / "consumer", unpack(path, tmp_path / "place"))


BINDING = SDK.replace("sdk = true", 'sdk = true\nruntime = "onnxruntime"')
TWO = f"""{BINDING}
[package.more]
component = "more"
exports = ["more_*", "extra_*"]
requires = ["tiny"]
runtime = "openvino"
sdk = true

[package.again]
component = "more"
exports = ["more_*", "extra_*"]
requires = ["tiny"]
sdk = true

[[runtime]]
preset = "onnxruntime"
minimum = "1.20"

[[runtime]]
preset = "openvino"
minimum = "2025.1"
"""
TWO_CMAKE = f"""{WITH_HEADER}
foreach(name more extra)
  set(body "__attribute__((visibility(\\"default\\"))) int ${{name}}_one(void) {{ return 1; }}")
  file(WRITE ${{CMAKE_BINARY_DIR}}/${{name}}.c "${{body}}")
  add_library(${{name}} SHARED ${{CMAKE_BINARY_DIR}}/${{name}}.c)
  target_link_options(${{name}} PRIVATE -s)
  install(TARGETS ${{name}} COMPONENT more)
endforeach()
"""


@pytest.mark.builds
def test_packages_are_components_of_one_archive(tmp_path):
    path = pack_client(tmp_path / "tiny", TWO_CMAKE, TWO)
    prefix = unpack(path, tmp_path / "place")
    text = (prefix / "lib" / "pkgconfig" / "tiny-more.pc").read_text("utf-8")
    assert "Requires: tiny\n" in text
    assert "-lextra -lmore\n" in text
    bill = (prefix / "share" / "tiny" / "latebind.cdx.json").read_bytes()
    assert read_sbom(bill).ranges == (
        ("onnxruntime", "vers:generic/>=1.20|<2"),
        ("openvino", "vers:generic/>=2025.1"),
    )
    assert all(name in bill.decode() for name in ("libtiny.so", "libmore.so", "libextra.so"))
    folder = tmp_path / "consumer"
    configure_consumer(folder, prefix, component="more")
    (folder / "program.c").write_text(
        "int more_one(void), extra_one(void);\n" + PROGRAM.replace("== 5", "+ more_one() + extra_one() == 7"),
        encoding="utf-8",
    )
    edit(folder / "CMakeLists.txt", "tiny::tiny", "tiny::more")
    run_checked(program("cmake"), "--build", folder / "tree", timeout=120)
    run_checked(folder / "tree" / "program_c", timeout=60)


@pytest.mark.slow
def test_a_dll_whose_import_library_has_another_name_is_linked_by_that_name(tmp_path):
    prefixed = WITH_HEADER.replace("PRESET hidden", 'PRESET hidden PREFIX "lib"')
    static = "add_library(other STATIC tiny.c)\ninstall(TARGETS other COMPONENT tiny)\n"
    path = pack_client(tmp_path / "tiny", prefixed + static, SDK.replace("linux-x64", "win-x64"))

    held = members(path)
    top = path.name.removesuffix(".zip")
    assert {f"{top}/bin/libtiny.dll", f"{top}/lib/tiny.lib", f"{top}/lib/other.lib"} <= set(held)
    config = held[f"{top}/lib/cmake/tiny/tiny-config.cmake"].decode()
    assert 'IMPORTED_IMPLIB "${PACKAGE_PREFIX_DIR}/lib/tiny.lib"' in config
    assert "-ltiny" in held[f"{top}/lib/pkgconfig/tiny.pc"].decode()
    assert not [finding for finding in audit_paths([path], Policy()).findings if finding.severity == "error"]


@pytest.mark.builds
@pytest.mark.parametrize(
    ("cmake", "rid", "says"),
    [
        (PORTABLE_CMAKE, "linux-x64", "component tiny installed no header for linux-x64"),
        (
            WITH_HEADER.replace("install(TARGETS tiny COMPONENT", "install(TARGETS tiny RUNTIME COMPONENT"),
            "win-x64",
            "tiny.dll has no import library",
        ),
    ],
)
def test_what_no_program_could_use_is_refused(tmp_path, cmake, rid, says):
    root = write_sdk_client(tmp_path / "tiny", cmake, SDK.replace("linux-x64", rid))
    with pytest.raises(BuildError, match=says):
        pack_project(root)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('name = "tiny"', 'name = "a tiny one"', "'a tiny one' cannot be the name of a CMake package"),
        ('exports = ["tiny_*"]', 'ep = { id = "x", names = ["XExecutionProvider"] }', "is a plugin, which no program"),
        ('"python/tiny"', '"python/tiny", kind = "cp310-abi3"', "contains a Python module"),
    ],
)
def test_configurations_that_make_no_sense_are_refused(tmp_path, before, after, says):
    root = write_sdk_client(tmp_path / "tiny", latebind=SDK.replace(before, after))
    with pytest.raises(ConfigError, match=says):
        load(root / "latebind.toml")


@pytest.mark.builds
def test_windows_gets_a_zip_whose_import_library_links_as_msvc_links(tmp_path):
    path = pack_client(tmp_path / "tiny", WITH_HEADER, SDK.replace("linux-x64", "win-x64"))
    with zipfile.ZipFile(path) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
        assert {"bin/tiny.dll", "lib/tiny.lib", "include/tiny.h"} < names
        assert {stat.S_IMODE(member.external_attr >> 16) for member in archive.infolist()} == {0o644}
    prefix = unpack(path, tmp_path / "place")
    (tmp_path / "main.c").write_text(
        "#include <tiny.h>\nint start(void) { return tiny_add(2, 3); }\n", encoding="utf-8"
    )
    zig = str(find_zig())
    arguments = ["-target", "x86_64-windows-msvc", "-c", "main.c", "-o", "main.obj"]
    run([zig, "cc", "-I", prefix / "include", *arguments], cwd=tmp_path, timeout=120)
    arguments = ["-entry:start", "-nodefaultlib", "-subsystem:console", "main.obj", "-out:main.exe"]
    run([zig, "lld-link", *arguments, prefix / "lib" / "tiny.lib"], cwd=tmp_path, timeout=120)
    assert read_images((tmp_path / "main.exe").read_bytes(), "main.exe")[0].needed == ("tiny.dll",)


@pytest.mark.slow
@pytest.mark.parametrize("rid", ["win-x64", "win-arm64"])
def test_a_project_of_cmake_for_visual_cpp_links_the_library(tmp_path, rid):
    """clang-cl in the place of Visual C++; CMake takes both for MSVC."""
    tools = available(clang_cl.prepare, cache() / "clang-cl")
    path = pack_client(tmp_path / "tiny", WITH_HEADER, SDK.replace("linux-x64", rid))
    prefix = unpack(path, tmp_path / "place")
    project = tmp_path / "project"
    project.mkdir()
    (project / "program.c").write_text("#include <tiny.h>\nint start(void) { return tiny_add(2, 3); }\n", "utf-8")
    (project / "CMakeLists.txt").write_text(FOR_MSVC, "utf-8")
    definitions = clang_cl.cmake_definitions(tools, target(rid).arch)
    command = [program("cmake"), "-S", project, "-B", project / "tree", "-G", "Ninja", *definitions]
    command += [f"-DCMAKE_MAKE_PROGRAM={program('ninja')}", f"-DCMAKE_PREFIX_PATH={prefix}"]
    assert "MSVC is 1" in run_checked(*command, "-DCMAKE_C_STANDARD_LIBRARIES=")
    run_checked(program("cmake"), "--build", project / "tree")
    (image,) = read_images((project / "tree" / "program.exe").read_bytes(), "program.exe")
    assert image.needed == ("tiny.dll",)
