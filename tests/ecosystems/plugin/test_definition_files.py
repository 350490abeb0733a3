"""What a provider exports: by a module definition file that is an option of the linker, or by latebind_ep() alone."""

from latebind.backend.targets import Rid, target
from latebind.config.project import read_project
from latebind.native.nativebuild import native_build
from loadcheck.facts import read_images
from tests.support.client import write_files
from tests.support.epclient import write_ep

OPTIONS = {
    "LINK_FLAGS": 'set_property(TARGET {name} APPEND_STRING PROPERTY LINK_FLAGS "-DEF:${{def}}")',
    "LINKER": "target_link_options({name} PRIVATE LINKER:/DEF:${{def}})",
    "Wl": "target_link_options({name} PRIVATE -Wl,${{def}})",
    "linked": "target_link_libraries({name} PRIVATE $<$<PLATFORM_ID:Windows>:-DEF:${{def}}>)",
}
UNMARKED = "int CreateEpFactories(void) { return 1; }\nint ReleaseEpFactory(void) { return 1; }\n"


def test_a_definition_file_may_be_an_option_of_the_linker(tmp_path):
    lines = ['set(def "${CMAKE_CURRENT_SOURCE_DIR}/tiny.def")', "add_subdirectory(below)"]
    for name, option in OPTIONS.items():
        lines += [f"add_library({name} SHARED ../tiny_ep.c)", option.format(name=name)]
    lines += [f"install(TARGETS {' '.join(OPTIONS)} COMPONENT tiny)"]
    cmake = ["cmake_minimum_required(VERSION 3.20)", "project(tiny C)", *lines[:1], *lines[1:2]]
    files = {"native/below/CMakeLists.txt": "\n".join(lines[2:]) + "\n", "native/tiny.def": DEFINITION}
    folder = write_ep(tmp_path, source=f"{UNMARKED}int other(void) {{ return 1; }}\n", cmake="\n".join(cmake) + "\n")
    write_files(folder, files)
    prefix = install_files(folder, "win-x64")
    exported = {path.name: exports(path) for path in sorted(prefix.rglob("*.dll"))}
    assert exported == {f"{name}.dll": ["CreateEpFactories", "ReleaseEpFactory"] for name in OPTIONS}


def test_a_provider_may_mark_nothing_and_rely_on_latebind_ep(tmp_path):
    folder = write_ep(tmp_path, source=f"{UNMARKED}int other(void) {{ return 1; }}\n")
    assert exports(*install_files(folder, "linux-x64").rglob("*.so")) == ["CreateEpFactories", "ReleaseEpFactory"]


DEFINITION = """\
LIBRARY
EXPORTS
 CreateEpFactories @1
 ReleaseEpFactory @2
"""


def install_files(folder, rid):
    """The files that a project installs for a target."""
    prefix = folder / "installed"
    native_build(read_project(folder / "latebind.toml", folder), target(Rid(rid))).install(prefix)
    return prefix


def exports(path):
    """The names that a library exports."""
    return sorted(export.name for image in read_images(path.read_bytes(), path.name) for export in image.exports)
