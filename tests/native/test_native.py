"""The native build: equal inputs do nothing, changed ones rebuild, different folders give equal bytes."""

import os
import shutil
import sys
from pathlib import Path

import lief
import pytest

from latebind.backend import zig
from latebind.backend.fill import fill
from latebind.backend.stage import open_stage
from latebind.backend.targets import host_rid, target
from latebind.backend.toolchain import toolchain
from latebind.backend.tree import hash_tree
from latebind.backend.zig import find_zig
from latebind.config.file import load
from latebind.config.project import read_project
from latebind.errors import BuildError, NotRun
from latebind.native.inside import SourceBoundary
from latebind.native.nativerecipe import hash_sources
from loadcheck.facts import read_image
from tests.backend.test_indirect import USER, list_names
from tests.support.client import (
    BOUND,
    CMAKE,
    CONFIG,
    SOURCE,
    copy_client,
    edit,
    stage_project,
    write_client,
    write_portable,
)
from tests.support.running import not_run, run_checked


def library(staged):
    (path,) = staged.libraries("tiny")
    return path


def image(staged):
    return read_image(library(staged).read_bytes(), "tiny")


@pytest.mark.builds
def test_a_second_build_with_nothing_changed_does_nothing(tiny):
    first = stage_project(tiny)
    before = library(first).stat().st_mtime_ns, (tiny / "build" / "linux-x64.log").stat().st_mtime_ns
    second = stage_project(tiny)
    after = library(second).stat().st_mtime_ns, (tiny / "build" / "linux-x64.log").stat().st_mtime_ns
    assert (first.manifest, before) == (second.manifest, after)


@pytest.mark.builds
def test_what_changes_the_library_changes_the_key(tiny):
    keys = {stage_project(tiny).manifest.key}
    (tiny / "native" / "tiny.c").write_text(SOURCE.replace("a + b", "b + a"), encoding="utf-8")
    keys.add(stage_project(tiny).manifest.key)
    write_client(tiny, latebind=CONFIG.replace("1.2.3", "1.2.4"))
    keys.add(stage_project(tiny).manifest.key)
    write_client(tiny, latebind=CONFIG.replace("2.28", "2.31"))
    staged = stage_project(tiny)
    keys.add(staged.manifest.key)
    assert len(keys) == 4
    assert staged.manifest.floor == "2.31"


@pytest.mark.builds
def test_two_libraries_of_one_name_are_refused_since_a_package_has_one_folder(tiny):
    write_client(tiny, cmakelists=CMAKE + "\ninstall(TARGETS tiny LIBRARY DESTINATION lib/more COMPONENT tiny)\n")
    with pytest.raises(BuildError, match=r"component tiny installed libtiny\.so in several folders"):
        stage_project(tiny)


@pytest.mark.builds
def test_a_file_that_was_tampered_with_is_built_again(tiny):
    first = stage_project(tiny)
    data = library(first).read_bytes()
    library(first).write_bytes(data + b"\0")
    assert open_stage(first.root) is None
    assert library(stage_project(tiny)).read_bytes() == data


@pytest.mark.builds
def test_a_build_tree_that_moved_is_made_afresh(tiny, tmp_path):
    stage_project(tiny)
    moved = tmp_path / "moved"
    shutil.move(tiny, moved)
    shutil.rmtree(moved / "stage")
    assert library(stage_project(moved)).is_file()


@pytest.mark.builds
def test_a_component_without_a_library_is_refused_before_it_takes_the_stage(tiny):
    first = stage_project(tiny).manifest
    write_client(tiny, cmakelists=CMAKE.replace("COMPONENT tiny", "COMPONENT other"))
    with pytest.raises(BuildError, match="no install\\(\\) rule has COMPONENT tiny"):
        stage_project(tiny)
    assert open_stage(tiny / "stage" / "linux-x64").manifest == first


@pytest.mark.builds
def test_a_runtime_that_is_linked_by_mistake_is_named_before_what_the_linker_says(tiny):
    write_client(tiny, latebind=BOUND, cmakelists=CMAKE + "\ntarget_link_libraries(tiny PRIVATE onnxruntime)\n")
    with pytest.raises(BuildError) as failed:
        stage_project(tiny)
    line = CMAKE.count("\n") + 2
    assert failed.value.message.startswith(f"native/CMakeLists.txt:{line}: error: tiny links -lonnxruntime, but")
    assert "drop_in = true" in failed.value.advice
    write_client(tiny, latebind=CONFIG, cmakelists=CMAKE + "\ntarget_link_libraries(tiny PRIVATE onnxruntime)\n")
    with pytest.raises(BuildError) as failed:
        stage_project(tiny)
    assert "late" not in failed.value.message


@pytest.mark.builds
def test_an_exact_export_that_no_library_has_is_refused_before_it_takes_the_stage(tiny):
    first = stage_project(tiny)
    write_client(tiny, latebind=CONFIG.replace('"tiny_*"', '"tiny_sub", "tiny_*"'))
    with pytest.raises(BuildError, match=r"tiny lists 1 export .* tiny_sub\n  libtiny\.so exports tiny_add") as refused:
        stage_project(tiny)
    assert "package.tiny.exports" in refused.value.advice
    assert open_stage(first.root) == first


def test_the_host_toolchain_builds_for_the_host_only():
    assert host_rid() != "osx-arm64"
    with not_run("no-compiler", r"builds for .*, not for osx-arm64"):
        toolchain("host", target("osx-arm64"))


def test_xcode_is_told_the_processor_and_the_floor_and_builds_for_both(monkeypatch, tmp_path):
    monkeypatch.setattr("latebind.backend.host.host_rid", lambda: "osx-arm64")
    for rid, arch in (("osx-arm64", "arm64"), ("osx-x64", "x86_64")):
        arguments = toolchain("host", target(rid)).configure(target(rid), "11.0", tmp_path)
        assert arguments[1:3] == [f"-DCMAKE_OSX_ARCHITECTURES={arch}", "-DCMAKE_OSX_DEPLOYMENT_TARGET=11.0"]


def test_msvc_builds_for_what_its_prompt_was_set_to(monkeypatch):
    monkeypatch.setattr("latebind.backend.host.host_rid", lambda: "win-x64")
    monkeypatch.setenv("VSCMD_ARG_TGT_ARCH", "arm64")
    assert toolchain("host", target("win-arm64")).name == "host"
    with pytest.raises(NotRun, match=r"builds for win-arm64, not for win-x64"):
        toolchain("host", target("win-x64"))


def test_the_source_hash_knows_names_and_contents_and_neither_places_nor_modes(tmp_path):
    """Windows has no executable bits."""
    first, second = write_client(tmp_path / "a"), write_client(tmp_path / "b")
    (second / "native" / "tiny.c").chmod(0o755)
    assert hash_sources(read_project(first / "latebind.toml", first)) == hash_sources(
        read_project(second / "latebind.toml", second)
    )
    (second / "native" / "tiny.c").rename(second / "native" / "other.c")
    assert hash_tree(first / "native") != hash_tree(second / "native")


HOST = CONFIG + '\n[targets.linux-x64]\ntoolchain = "host"\n'
MARKED = CMAKE + 'if(DEFINED MARK)\n  target_compile_definitions(tiny PRIVATE "MARK=${MARK}")\nendif()\n'
GUARD = "#ifndef MARK\n#define MARK 0\n#endif\n"
READS_MARK = GUARD + SOURCE.replace("a + b", "a + b + MARK")


def needs_host_compiler():
    try:
        toolchain("host", target("linux-x64"))
    except NotRun as error:
        pytest.skip(f"not run: {error}")


@pytest.mark.builds
def test_changing_the_compiler_and_back_gives_each_compilers_own_bytes(tiny):
    needs_host_compiler()
    zig = library(stage_project(tiny)).read_bytes()
    write_client(tiny, latebind=HOST)
    host = stage_project(tiny)
    assert host.manifest.toolchain.startswith("host ")
    assert library(host).read_bytes() != zig
    write_client(tiny)
    again = stage_project(tiny)
    assert (again.manifest.toolchain, library(again).read_bytes()) == ("zig 0.17.0", zig)


@pytest.mark.builds
def test_a_definition_that_was_removed_is_gone(tiny):
    write_client(tiny, cmakelists=MARKED, tiny=READS_MARK)
    plain = library(stage_project(tiny)).read_bytes()
    write_client(
        tiny, cmakelists=MARKED, tiny=READS_MARK,
        latebind=CONFIG.replace('source = "native"', 'source = "native"\ndefine = { MARK = 41 }'),
    )  # fmt: skip
    assert library(stage_project(tiny)).read_bytes() != plain
    write_client(tiny, cmakelists=MARKED, tiny=READS_MARK)
    assert library(stage_project(tiny)).read_bytes() == plain


@pytest.mark.builds
def test_a_definition_compiles_only_what_it_changes(tiny, capsys):
    more = "add_library(other STATIC other.c)\nset_target_properties(other PROPERTIES POSITION_INDEPENDENT_CODE ON)\n"
    write_client(tiny, cmakelists=MARKED + more + "target_link_libraries(tiny PRIVATE other)\n", tiny=READS_MARK)
    (tiny / "native" / "other.c").write_text(OTHER)
    stage_project(tiny)
    compiled = next((tiny / "build").rglob("other.c.o"))
    before = compiled.stat().st_mtime_ns
    edit(tiny / "latebind.toml", 'source = "native"', 'source = "native"\ndefine = { MARK = 41 }')
    stage_project(tiny)
    assert "settings changed (MARK): building what depends on them" in capsys.readouterr().err
    assert compiled.stat().st_mtime_ns == before
    edit(tiny / "latebind.toml", "MARK = 41", "MARK = 42")
    kept = library(stage_project(tiny)).read_bytes()
    shutil.rmtree(tiny / "build")
    shutil.rmtree(tiny / "stage")
    assert library(stage_project(tiny)).read_bytes() == kept


@pytest.mark.builds
def test_a_target_has_definitions_and_flags_of_its_own(tiny):
    write_client(tiny, cmakelists=MARKED, tiny=READS_MARK)
    plain = stage_project(tiny).manifest
    write_client(
        tiny, cmakelists=MARKED, tiny=READS_MARK, latebind=CONFIG + "\n[targets.win-x64]\ndefine = { MARK = 2 }\n"
    )
    other = stage_project(tiny).manifest
    assert other.source_hash != plain.source_hash  # files that another machine made are for these settings
    by_define = library(stage_project(tiny)).read_bytes()
    write_client(
        tiny, cmakelists=MARKED, tiny=READS_MARK, latebind=CONFIG + "\n[targets.linux-x64]\ndefine = { MARK = 2 }\n"
    )
    marked = library(stage_project(tiny)).read_bytes()
    assert marked != by_define
    write_client(
        tiny, cmakelists=CMAKE, tiny=READS_MARK, latebind=CONFIG + '\n[targets.linux-x64]\ncflags = ["-DMARK=2"]\n'
    )
    assert library(stage_project(tiny)).read_bytes() == marked


@pytest.mark.builds
def test_the_hosts_compiler_flags_are_part_of_the_key_and_never_reach_zig(tiny, monkeypatch):
    needs_host_compiler()
    write_client(tiny, tiny=READS_MARK, latebind=HOST)
    plain = stage_project(tiny).manifest.key
    monkeypatch.setenv("CFLAGS", "-DMARK=1")
    assert stage_project(tiny).manifest.key != plain
    write_client(tiny, tiny=READS_MARK)
    with_flags = stage_project(tiny).manifest
    monkeypatch.delenv("CFLAGS")
    assert stage_project(tiny).manifest == with_flags


@pytest.mark.builds
def test_a_header_from_outside_the_native_folder_is_refused_by_name(tiny):
    (tiny / "common").mkdir()
    (tiny / "common" / "more.h").write_text("#define MARK 1\n", encoding="utf-8")
    write_client(tiny, tiny='#include "../common/more.h"\n' + SOURCE)
    with pytest.raises(BuildError, match=r"from outside native/: .*common/more\.h"):
        stage_project(tiny)
    assert not (tiny / "stage" / "linux-x64").exists()


OTHER = "int other(void);\nint other(void) { return 1; }\n"
OUTSIDE = {
    "source": "target_sources(tiny PRIVATE ../shared/other.c)",
    "generated": "add_custom_command(OUTPUT a.c COMMAND cmake -E copy ${S}/other.c a.c DEPENDS ${S}/other.c)\n"
    "target_sources(tiny PRIVATE a.c)",
    "script": "include(../shared/more.cmake)",
    "template": "configure_file(../shared/other.c other.c)",
    "subfolder": "add_subdirectory(../shared shared)",
    "library": "target_link_libraries(tiny PRIVATE ${S}/other.c.a)",
}


def with_shared(tiny, lines):
    """The small project with `shared/` next to the folder of its native code, and more lines in its CMakeLists.txt."""
    (tiny / "shared").mkdir()
    files = {"other.c": OTHER, "more.cmake": "", "CMakeLists.txt": "", "other.c.a": "", "more.h": "#define MARK 1\n"}
    for name, text in files.items():
        (tiny / "shared" / name).write_text(text, encoding="utf-8")
    return write_client(tiny, cmakelists=CMAKE + "set(S ${CMAKE_SOURCE_DIR}/../shared)\n" + lines + "\n")


@pytest.mark.parametrize("kind", OUTSIDE)
def test_a_file_from_outside_the_native_folder_is_refused_before_any_compiler_runs(tiny, kind):
    with_shared(tiny, OUTSIDE[kind])
    with pytest.raises(BuildError, match=r"from outside native/: shared/"):
        stage_project(tiny)
    assert not list((tiny / "build" / "linux-x64").glob("CMakeFiles/tiny.dir/**/*.o"))
    assert not (tiny / "stage" / "linux-x64").exists()


@pytest.mark.builds
@pytest.mark.parametrize(
    "lines",
    [
        "add_library(other STATIC EXCLUDE_FROM_ALL ${S}/other.c)",
        "target_include_directories(tiny PRIVATE ${S})",
        "include(${S}/nothing.cmake OPTIONAL)",
    ],
)
def test_what_is_outside_and_not_used_is_not_refused(tiny, lines, capsys):
    assert library(stage_project(with_shared(tiny, lines))).is_file()
    noted = "note: the compiler looks for headers outside native/: shared." in capsys.readouterr().err
    assert noted == ("include_directories" in lines)


@pytest.mark.builds
def test_a_linked_folder_inside_counts(tiny):
    (tiny / "shared").mkdir()
    (tiny / "shared" / "more.h").write_text("#define MARK 1\n", encoding="utf-8")
    (tiny / "native" / "inc").symlink_to("../shared")
    write_client(tiny, tiny='#include "inc/more.h"\n' + READS_MARK)
    before = stage_project(tiny).manifest.key
    (tiny / "shared" / "more.h").write_text("#define MARK 2\n", encoding="utf-8")
    assert stage_project(tiny).manifest.key != before


def test_what_editors_leave_behind_does_no_harm(tiny):
    before = stage_project(tiny).manifest.key
    (tiny / "native" / ".#tiny.c").symlink_to("user@host.123:456")
    (tiny / "native" / "tiny.c~").write_text("old", encoding="utf-8")
    os.mkfifo(tiny / "native" / "pipe")
    assert stage_project(tiny).manifest.key == before


@pytest.fixture
def own_cache(monkeypatch):
    """As for a user whose environment says nothing of zig."""
    for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LIB_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.builds
def test_without_a_home_zig_keeps_its_cache_beside_the_build(tiny, monkeypatch, own_cache):
    for name in ("HOME", "XDG_CACHE_HOME", "LATEBIND_CACHE"):
        monkeypatch.delenv(name, raising=False)
    environment = toolchain("zig", target("linux-x64")).environment(tiny / "build" / "linux-x64")
    cache = tiny / "build" / "zig-cache"
    assert environment["ZIG_GLOBAL_CACHE_DIR"] == str(cache)
    assert Path(environment["ZIG_LIB_DIR"]).is_relative_to(cache)
    assert Path(environment["ZIG_LIB_DIR"], "libc", "mingw").is_dir()


@pytest.mark.builds
def test_another_environments_zig_takes_its_libraries_from_the_same_place(tmp_path, monkeypatch, own_cache):
    """Else zig compiles those for Windows once more, for a minute."""
    monkeypatch.setenv("LATEBIND_CACHE", str(tmp_path / "cache"))
    copied = tmp_path / "env" / "zig"
    copied.parent.mkdir()
    shutil.copy(find_zig(), copied)
    (copied.parent / "lib").symlink_to(find_zig().resolve().parent / "lib")
    first = zig.zig_variables(find_zig(), tmp_path)
    assert Path(first["ZIG_LIB_DIR"]).is_relative_to(tmp_path / "cache")
    assert zig.zig_variables(copied, tmp_path) == first


def test_a_cache_that_cannot_hold_zigs_libraries_costs_time_only(tmp_path, own_cache, monkeypatch):
    monkeypatch.setenv("LATEBIND_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache" / "zig").mkdir(parents=True)
    (tmp_path / "cache" / "zig" / "latebind").write_text("in the way")
    bundled = find_zig().resolve().parent / "lib"
    assert zig.zig_variables(find_zig(), tmp_path)["ZIG_LIB_DIR"] == str(bundled)


@pytest.mark.builds
def test_zigs_headers_may_be_in_the_checkout(tiny, monkeypatch, own_cache):
    monkeypatch.setenv("LATEBIND_CACHE", str(tiny / "cache"))
    (tiny / ".git").mkdir()
    environment = toolchain("zig", target("linux-x64")).environment(tiny / "build" / "linux-x64")
    config = load(tiny / "latebind.toml")
    header = Path(environment["ZIG_LIB_DIR"], "include", "stddef.h")
    folders = toolchain("zig", target("linux-x64")).folders(tiny / "build" / "linux-x64")
    SourceBoundary(config, [], folders).refuse_outside([header])
    with pytest.raises(BuildError, match="from outside native/"):
        SourceBoundary(config, [], []).refuse_outside([header])


@pytest.mark.slow
def test_two_projects_share_one_cache_and_its_place_changes_neither_key_nor_bytes(
    tmp_path, monkeypatch, capsys, own_cache
):
    monkeypatch.setattr(zig, "_WORTH_ANNOUNCING", 1)
    before = stage_project(write_client(tmp_path / "before"))
    announced = "zig compiles its C standard library for linux-x64 once per user; this takes 5.0 s to 15 s"
    monkeypatch.setenv("LATEBIND_CACHE", str(tmp_path / "cache"))
    capsys.readouterr()
    first = stage_project(write_client(tmp_path / "first"))
    assert announced in capsys.readouterr().err.splitlines()
    second = stage_project(write_client(tmp_path / "second"))
    assert announced not in capsys.readouterr().err
    assert first.manifest == second.manifest == before.manifest
    assert (tmp_path / "cache" / "zig" / "o").is_dir()


@pytest.mark.builds
def test_a_build_that_failed_announces_the_one_time_work_again(tmp_path, monkeypatch, capsys, own_cache):
    monkeypatch.setattr(zig, "_WORTH_ANNOUNCING", 1)
    monkeypatch.setenv("LATEBIND_CACHE", str(tmp_path / "cache"))
    chosen = toolchain("zig", target("linux-x64"))
    for _ in range(2):
        with pytest.raises(BuildError), chosen.first_use(target("linux-x64"), "2.28", tmp_path / "t", [Path("a.cpp")]):
            raise BuildError("no")
        shown = capsys.readouterr().err
        assert "zig compiles its C and C++ standard libraries for linux-x64 once per user" in shown


ANNOTATED = """typedef _Return_type_success_(return == 0) struct OrtStatus* OrtStatusPtr;
#include <windows.h>
"""
"""Of onnxruntime_c_api.h."""
WINDOWS = {
    "annotations": ("win-x64", [], ANNOTATED),
    "annotations on arm64": ("win-arm64", [], ANNOTATED),
    "annotations with flags": ("win-x64", ["-DOWN"], ANNOTATED),
    "pi in a strict standard": ("win-x64", ["-std=c11", "-Werror"], "#include <math.h>\ndouble pi = M_PI;\n"),
    "pi that is asked for": (
        "win-x64", ["-std=c11", "-Werror"], "#define _USE_MATH_DEFINES\n#include <math.h>\ndouble pi = M_PI;\n"
    ),
    "Windows.h": ("win-x64", [], "#include <Windows.h>\nHANDLE handle;\n"),
    "WinSock2.h": ("win-x64", [], "#include <WinSock2.h>\nHANDLE handle;\n"),
}  # fmt: skip


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow) if "annotations" in kind else kind for kind in WINDOWS]
)
def test_usual_code_for_windows_compiles(tmp_path, kind):
    rid, flags, lines = WINDOWS[kind]
    root = write_portable(tmp_path / "a place", [rid])
    source = root / "native/tiny.c"
    source.write_text(lines + source.read_text("utf-8"), encoding="utf-8")
    with (root / "latebind.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[targets.{rid}]\ncflags = {flags}\n")
    assert stage_project(root, rid).manifest.files


@pytest.mark.slow
@pytest.mark.parametrize("rid", ["linux-x64", "win-x64", "osx-arm64"])
@pytest.mark.parametrize("hides", [False, True])
def test_hide_exports_what_the_packages_list_and_nothing_else(tmp_path, rid, hides):
    """But for macOS, where the linker ignores lists, only what is marked."""
    project = CONFIG.replace('["linux-x64"]', f'["{rid}"]').replace('["tiny_*"]', '["tiny_add"]')
    config = project.replace("[native]\n", f"[native]\nhide = {str(hides).lower()}\n")
    mark = '__attribute__((visibility("default"))) ' if rid == "osx-arm64" else ""
    source = f"{mark}int tiny_add(int a, int b) {{ return a + b; }}\nint other(void) {{ return 1; }}\n"
    lines = "cmake_minimum_required(VERSION 3.20)\nproject(tiny C)\nadd_library(tiny SHARED tiny.c)\n"
    lines += "install(TARGETS tiny COMPONENT tiny)\n"
    write_client(tmp_path, latebind=config, cmakelists=lines, tiny=source)
    staged = stage_project(tmp_path, rid)
    exported = {export.name for export in image(staged).exports}
    exported -= {"__dso_handle", "_mh_dylib_header"}  # what zig adds for macOS
    assert "tiny_add" in exported
    assert (exported == {"tiny_add"}) == hides


@pytest.mark.builds
def test_hide_takes_names_that_only_another_library_of_the_project_has(tmp_path):
    config = CONFIG.replace("[native]\n", "[native]\nhide = true\n").replace('["tiny_*"]', '["tiny_add", "more_add"]')
    lines = "cmake_minimum_required(VERSION 3.20)\nproject(tiny C)\nadd_library(tiny SHARED tiny.c)\n"
    lines += "add_library(more SHARED more.c)\ninstall(TARGETS tiny more COMPONENT tiny)\n"
    write_client(tmp_path, latebind=config, cmakelists=lines, tiny="int tiny_add(void) { return 1; }\nint other;\n")
    (tmp_path / "native" / "more.c").write_text("int more_add(void) { return 2; }\nint other;\n")
    staged = stage_project(tmp_path)
    exported = {
        path.name: [export.name for export in read_image(path.read_bytes(), path.name).exports]
        for path in staged.libraries("tiny")
    }
    assert exported == {"libtiny.so": ["tiny_add"], "libmore.so": ["more_add"]}


@pytest.mark.slow
def test_code_above_the_folder_of_cmake_is_built_from_the_folder_of_both(tmp_path):
    lines = CMAKE.replace("tiny.c", "../src/tiny.c")
    write_client(tmp_path, cmakelists=lines)
    native = tmp_path / "native"
    (native / "src").mkdir()
    (native / "build-files").mkdir()
    (native / "tiny.c").rename(native / "src" / "tiny.c")
    (native / "CMakeLists.txt").rename(native / "build-files" / "CMakeLists.txt")
    for source, cmake in (("native/build-files", ""), ("native", "build-files")):
        text = CONFIG.replace('source = "native"', f'source = "{source}"\ncmake = "{cmake}"')
        (tmp_path / "latebind.toml").write_text(text)
        if cmake:
            assert library(stage_project(tmp_path)).is_file()
        else:
            with pytest.raises(BuildError, match="includes files from outside") as caught:
                stage_project(tmp_path)
            assert "native.cmake" in caught.value.advice


def test_a_project_without_a_line_of_latebind_leaves_no_path_and_no_debug_information(tmp_path):
    lines = "cmake_minimum_required(VERSION 3.20)\nproject(tiny C ASM)\nadd_library(tiny SHARED tiny.c one.S)\n"
    source = "const char *tiny_add(void) { return __FILE__; }\n"
    write_client(tmp_path, cmakelists=lines + "install(TARGETS tiny COMPONENT tiny)\n", tiny=source)
    (tmp_path / "native" / "one.S").write_text(".globl tiny_one\ntiny_one: ret\n")
    data = library(stage_project(tmp_path)).read_bytes()
    assert str(tmp_path).encode() not in data
    assert b"source/tiny.c" in data
    binary = lief.ELF.parse(list(data))  # kept: its sections die with it
    assert not [section.name for section in binary.sections if section.name.startswith(".debug")]


@pytest.mark.builds
def test_an_undefined_symbol_fails_the_build_of_the_library_and_not_the_program_that_loads_it(tiny):
    edit(tiny / "native" / "tiny.c", "return a + b;", "extern int forgotten(int); return forgotten(a) + b;")
    with pytest.raises(BuildError, match="forgotten"):
        stage_project(tiny)
    edit(tiny / "latebind.toml", "[targets]", "[native.define]\nLATEBIND_ALLOW_UNDEFINED = true\n\n[targets]")
    assert "forgotten" in {symbol.name for symbol in image(stage_project(tiny)).imports}


@pytest.mark.builds
def test_a_shared_library_that_links_python_leaves_its_functions_to_the_interpreter(tiny):
    edit(tiny / "native" / "tiny.c", "return a + b;", "extern int PyLong_Made(int); return PyLong_Made(a) + b;")
    with pytest.raises(BuildError) as caught:
        stage_project(tiny)
    assert "link Python::Module" in caught.value.advice
    with (tiny / "native" / "CMakeLists.txt").open("a", encoding="utf-8") as file:
        file.write(
            "add_library(Python3::Module INTERFACE IMPORTED)\ntarget_link_libraries(tiny PRIVATE Python3::Module)\n"
        )
    assert "PyLong_Made" in {symbol.name for symbol in image(stage_project(tiny)).imports}
    edit(tiny / "native" / "CMakeLists.txt", "Python3::Module)", "Python3::Modules)")
    edit(tiny / "native" / "CMakeLists.txt", "Python3::Module INTERFACE", "Python3::Modules INTERFACE")
    with pytest.raises(BuildError, match="PyLong_Made"):
        stage_project(tiny)


@pytest.mark.slow
def test_no_folder_of_this_machine_is_in_the_search_path_of_a_library(tmp_path):
    """The stub is in the working folder, which CMake takes for an installed library's where it is elsewhere."""
    runtime = '[[runtime]]\npreset = "onnxruntime"\nminimum = "1.19"\ndrop_in = true\n\n[targets]'
    config = CONFIG.replace("[targets]", runtime).replace(
        'component = "tiny"', 'component = "tiny"\nruntime = "onnxruntime"'
    )
    root = copy_client("drop-in", tmp_path / "tiny", latebind=config)
    lines = (
        "set(CMAKE_INSTALL_RPATH_USE_LINK_PATH TRUE)\nadd_library(tiny SHARED tiny.c)\n"
        "find_package(onnxruntime REQUIRED)\ntarget_link_libraries(tiny PRIVATE onnxruntime::onnxruntime)"
    )
    edit(root / "native" / "CMakeLists.txt", "add_library(tiny SHARED tiny.c)", lines)
    made = image(stage_project(root, workdir=tmp_path / "elsewhere"))
    assert (made.rpath, made.runpath) == ((), ())


@pytest.mark.slow
def test_options_of_visual_cpp_do_no_harm_on_windows(tmp_path):
    root = write_portable(tmp_path / "tiny", ["win-x64"])
    options = "add_compile_options(/wd4244 /W4 /MP /utf-8 /bigobj /EHsc /Zc:__cplusplus /std:c17)\n"
    edit(root / "native" / "CMakeLists.txt", "add_library(", f"if(WIN32)\n{options}endif()\nadd_library(")
    staged = stage_project(root, "win-x64")
    assert [path.suffix for path in staged.libraries("tiny")] == [".dll"]


def test_the_launcher_translates_options_of_visual_cpp_and_nothing_else(tmp_path):
    (tmp_path / "launcher.py").write_text(fill("visual_cpp_options.py"), encoding="utf-8")
    words = ["/wd4996", "/std:c++20", "/std:c17", "/std:c++latest", "/W3", "-W3", "/O2", "/src/W4.cpp", "/w"]
    show = "import sys; print(*sys.argv[1:])"
    output = run_checked(sys.executable, tmp_path / "launcher.py", sys.executable, "-c", show, *words)
    assert output.split() == ["-std=gnu++20", "-std=gnu17", "-std=gnu++26", "-W3", "/src/W4.cpp", "/w"]


@pytest.mark.slow
def test_the_libraries_of_a_stage_have_whole_tables_of_indirect_symbols(tmp_path):
    """zig's linker leaves out the entries of private functions: latebind.backend.indirect adds them."""
    write_client(
        tmp_path,
        latebind=CONFIG.replace("linux-x64", "osx-arm64"),
        cmakelists="cmake_minimum_required(VERSION 3.20)\nproject(tiny LANGUAGES C)\n"
        "add_library(tiny SHARED user.c other.c)\nset_target_properties(tiny PROPERTIES C_VISIBILITY_PRESET hidden)\n"
        "install(TARGETS tiny LIBRARY DESTINATION lib COMPONENT tiny)\n",
    )
    (tmp_path / "native/user.c").write_text(USER.replace("tiny_make", "tiny_add"))
    (tmp_path / "native/other.c").write_text("int other(int number) { return number + 1; }\n")

    (path,) = stage_project(tmp_path, "osx-arm64").libraries("tiny")

    assert "LOCAL" in list_names(path.read_bytes())["__got"]
