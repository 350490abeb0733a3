"""Archives of native debug symbols: they match what is shipped, by tools of others, and change nothing of it."""

import json
import re
import shutil
from pathlib import Path

import lief
import pytest

from latebind.config.file import load
from latebind.config.project import Project, read_project
from latebind.ecosystems.symbols.loaded import read_loaded, with_id
from latebind.errors import InputError
from latebind.native.imports import import_native
from latebind.pack.make import Present, inspect_dist
from latebind.pack.planned import plan_packages
from latebind.system.files import sha256
from loadcheck.api import audit_paths
from loadcheck.facts import read_image
from tests.support.client import CONFIG, PORTABLE_SOURCE, hashes, members, pack_project, write_client
from tests.support.running import run_checked

pytestmark = pytest.mark.slow

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
find_package(latebind CONFIG REQUIRED)
add_library(tiny SHARED tiny.c)
latebind_hardening(tiny)
install(TARGETS tiny COMPONENT tiny)
"""
CRASH_LINE = len(PORTABLE_SOURCE.splitlines()) + 7
SOURCE = f"""{PORTABLE_SOURCE}
#ifndef FACTOR
#define FACTOR 2
#endif
static volatile int nowhere;
__attribute__((noinline)) static int tiny_inner(int value) {{
  return *(volatile int*)((char*)0 + value + nowhere);
}}
__attribute__((visibility("default"))) int tiny_crash(int value) {{ return tiny_inner(value) * FACTOR; }}
"""
LLVM = Path("/usr/lib/llvm-14/bin")
PLACES = re.compile(rb"/(?:root|home|tmp|Users)/")


def client(folder, *rids, cmake=CMAKE, symbols=True, host=False):
    config = CONFIG.replace('["linux-x64"]', str(list(rids)))
    config = config.replace('source = "native"\n', f'source = "native"\nsymbols = {str(symbols).lower()}\n')
    config += "".join(f'\n[targets.{rid}]\ntoolchain = "host"\n' for rid in rids if host)
    return write_client(folder, latebind=config, cmakelists=cmake, tiny=SOURCE)


def archives(result):
    return {artifact.path.name: artifact for artifact in result.artifacts if artifact.kind == "symbols"}


def pack_symbols(folder, rid, **how):
    """The staged library of a target, the file with its symbols, and the only row of the archive's manifest."""
    client(folder, rid, **how)
    assert pack_project(folder).not_made == ()
    unpacked = folder / "symbols" / rid
    shutil.unpack_archive(folder / "dist" / "symbols" / f"tiny-1.2.3-{rid}-symbols.zip", unpacked)
    (entry,) = json.loads((unpacked / "symbols.json").read_text("utf-8"))["libraries"]
    return folder / "stage" / rid / entry["library"], unpacked / entry["symbols"], entry


def tool(name, *arguments, llvm=False):
    program = str(LLVM / name) if llvm and (LLVM / name).is_file() else shutil.which(name)
    if program is None:
        pytest.skip(f"not run: {name} is not on this machine: apt-get install binutils elfutils gdb llvm")
    return run_checked(program, *arguments)


def address(library, name):
    return next(function.address for function in lief.parse(str(library)).exported_functions if function.name == name)


@pytest.mark.parametrize(("rid", "host"), [("linux-x64", False), ("linux-arm64", False), ("linux-x64", True)])
def test_a_stripped_elf_library_is_symbolized_by_other_tools(tmp_path, rid, host):
    shipped, debug, entry = pack_symbols(tmp_path / "tiny", rid, host=host)
    assert not read_loaded(shipped.read_bytes(), "shipped").has_debug
    assert entry["sha256"] == sha256(shipped)
    assert read_image(shipped.read_bytes(), "").build_id == read_image(debug.read_bytes(), "").build_id == entry["id"]
    where = tool("addr2line", "-f", "-e", debug, hex(address(shipped, "tiny_add")))
    assert re.search(r"^tiny_add\n\S*source/tiny\.c:\d+", where)
    assert address(shipped, "tiny_add") == address(debug, "tiny_add")


def test_a_crash_in_the_shipped_library_is_named_by_gdb_through_the_id_alone(tmp_path):
    shipped, debug, entry = pack_symbols(tmp_path / "tiny", "linux-x64", host=True)
    assert entry["symbols"] == f".build-id/{entry['id'][:2]}/{entry['id'][2:]}.debug"
    program = tmp_path / "program.c"
    program.write_text("int tiny_crash(int); int main(void) { return tiny_crash(8); }\n", encoding="utf-8")
    tool("cc", program, shipped, "-o", tmp_path / "program", f"-Wl,-rpath,{shipped.parent}")
    commands = [f"set debug-file-directory {debug.parents[2]}", "set startup-with-shell off", "run", "backtrace"]
    printed = tool(
        "gdb", "-nx", "-batch", *(part for command in commands for part in ("-ex", command)), tmp_path / "program"
    )
    if "SIGSEGV" not in printed:
        pytest.skip("not run: gdb may not trace programs here: a container needs CAP_SYS_PTRACE")
    assert re.search(rf"#0 .*tiny_inner .*source/tiny\.c:{CRASH_LINE}\b", printed)
    assert "tiny_crash" in printed


def test_elfutils_join_the_shipped_library_with_its_symbols_by_the_id(tmp_path):
    shipped, debug, entry = pack_symbols(tmp_path / "tiny", "linux-x64")
    joined = tmp_path / "joined.so"
    tool("eu-unstrip", shipped, debug, "-o", joined)
    assert read_loaded(joined.read_bytes(), "joined").has_debug
    assert entry["id"] in tool("eu-unstrip", "-n", "-e", debug)


def test_two_components_with_one_library_share_its_symbols(tmp_path):
    cmake = f"{CMAKE}install(TARGETS tiny COMPONENT more)\n"
    folder = client(tmp_path / "tiny", "linux-x64", cmake=cmake)
    more = '\n[package.more]\ncomponent = "more"\nexports = ["tiny_*"]\nnuget = { id = "More" }\n'
    with (folder / "latebind.toml").open("a", encoding="utf-8") as file:
        file.write(more)
    assert pack_project(folder).not_made == ()
    files = members(folder / "dist" / "symbols" / "tiny-1.2.3-linux-x64-symbols.zip")
    entries = json.loads(files["symbols.json"])["libraries"]
    assert len(files) == 2
    assert len({entry["symbols"] for entry in entries}) == 1 < len(entries)


@pytest.mark.parametrize("rid", ["osx-x64", "osx-arm64"])
def test_a_stripped_macho_library_is_symbolized_by_other_tools(tmp_path, rid):
    if shutil.which("dsymutil") is None:
        pytest.skip("not run: dsymutil is not on this machine: apt-get install llvm")
    shipped, debug, entry = pack_symbols(tmp_path / "tiny", rid)
    assert (debug.parent.parent.parent / "Info.plist").is_file()
    assert not read_loaded(shipped.read_bytes(), "shipped").has_debug
    assert read_image(shipped.read_bytes(), "").build_id == read_image(debug.read_bytes(), "").build_id == entry["id"]
    bundle = debug.parents[3]
    where = tool("llvm-symbolizer", "-e", debug, hex(address(shipped, "_tiny_add")), llvm=True)
    assert re.search(r"^tiny_add\n\S*source/tiny\.c:\d+", where)
    printed = tool("llvm-dwarfdump", "--uuid", bundle, llvm=True)
    assert printed.split()[1].replace("-", "").lower() == entry["id"]


@pytest.mark.slow
def test_two_folders_give_equal_archives_that_name_no_folder_of_the_machine(tmp_path):
    rids = ["linux-x64", "linux-arm64", *(["osx-arm64"] if shutil.which("dsymutil") else [])]
    first = pack_project(client(tmp_path / "one", *rids))
    second = pack_project(client(tmp_path / "a second place" / "with ü in it", *rids))
    assert {name: artifact.sha256 for name, artifact in archives(first).items()} == {
        name: artifact.sha256 for name, artifact in archives(second).items()
    }
    assert len(archives(first)) == len(rids)
    for artifact in archives(first).values():
        assert [name for name, data in members(artifact.path).items() if PLACES.search(data)] == []


def test_the_packages_do_not_depend_on_whether_symbols_are_made(tmp_path):
    results = [
        pack_project(client(tmp_path / name, "linux-x64", symbols=name == "with")) for name in ("with", "without")
    ]
    digests = [
        {name: sha for name, sha in hashes(result).items() if name.endswith(("whl", "nupkg"))} for result in results
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 2
    assert [len(archives(result)) for result in results] == [1, 0]


def test_they_are_made_once_and_removed_when_they_are_wanted_no_more(tmp_path):
    folder = client(tmp_path / "tiny", "linux-x64")
    (artifact,) = archives(pack_project(folder)).values()
    before = artifact.path.stat().st_mtime_ns
    assert archives(pack_project(folder))[artifact.path.name].path.stat().st_mtime_ns == before
    assert any(
        entry.file == f"symbols/{artifact.path.name}"
        for entry in plan_packages(load(folder / "latebind.toml"), ["linux-x64"]).files
    )
    client(folder, "linux-x64", symbols=False)
    pack_project(folder)
    assert not artifact.path.exists()


def test_the_audit_of_dist_passes_over_them_and_takes_one_that_is_named(tmp_path):
    folder = client(tmp_path / "tiny", "linux-x64")
    result = pack_project(folder)
    (artifact,) = archives(result).values()
    assert audit_paths([folder / "dist"]).subjects == len(result.artifacts) - 1
    assert audit_paths([artifact.path]).subjects == 1


def test_where_no_symbols_can_be_made_the_reason_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("latebind.ecosystems.symbols.pack.which", lambda _: None)
    result = pack_project(client(tmp_path / "tiny", "win-x64", "osx-arm64"))
    assert archives(result) == {}
    assert [(omission.kind, omission.reason) for omission in result.not_made] == [("symbols", "no-symbols")] * 2
    assert "win-x64" in result.not_made[0].message
    assert "dsymutil" in result.not_made[1].message


def test_symbols_that_cannot_be_made_are_out_of_date_only_after_a_change(tmp_path):
    folder = client(tmp_path / "tiny", "win-x64", "linux-x64")
    result = pack_project(folder)
    config = load(folder / "latebind.toml")
    assert [omission.kind for omission in result.not_made] == ["symbols"]
    assert inspect_dist(Project(config=config, workdir=folder)) == Present(targets=("win-x64", "linux-x64"))
    assert pack_project(folder).not_made == result.not_made

    (folder / "native" / "tiny.c").write_text(f"{SOURCE}int more;\n", encoding="utf-8")

    outdated = inspect_dist(Project(config=config, workdir=folder)).outdated
    assert {"symbols win-x64", "symbols linux-x64"} <= set(outdated)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (CMAKE.replace("install(", "target_link_options(tiny PRIVATE -s)\ninstall("), "has no debug information"),
        (CMAKE.replace("latebind_hardening(tiny)", ""), "has no build id"),
        (
            CMAKE + "if(LATEBIND_SYMBOLS)\n  target_compile_definitions(tiny PRIVATE FACTOR=3)\nendif()\n",
            "differs from the shipped library",
        ),
    ],
    ids=["stripped", "no id", "other code"],
)
def test_symbols_that_would_not_match_are_not_made(tmp_path, changed, message):
    result = pack_project(client(tmp_path / "tiny", "linux-x64", cmake=changed))
    assert archives(result) == {}
    (omission,) = result.not_made
    assert message in omission.message


def test_a_library_that_was_built_elsewhere_has_no_symbols_from_here(tmp_path):
    folder = client(tmp_path / "tiny", "linux-x64")
    pack_project(folder)
    elsewhere = tmp_path / "elsewhere" / "tiny" / "lib"
    elsewhere.mkdir(parents=True)
    shutil.copyfile(folder / "stage" / "linux-x64" / "tiny" / "lib" / "libtiny.so", elsewhere / "libtiny.so")
    data = (elsewhere / "libtiny.so").read_bytes()
    assert b"%d\n\0" in data
    (elsewhere / "libtiny.so").write_bytes(data.replace(b"%d\n\0", b"%u\n\0"))
    shutil.rmtree(folder / "stage")
    import_native(read_project(folder / "latebind.toml", folder), [elsewhere.parent.parent], "linux-x64")
    (omission,) = pack_project(folder).not_made
    assert "differs from the shipped library" in omission.message
    assert list((folder / "dist").rglob("*-symbols.zip")) == []


def test_an_id_is_replaced_by_one_of_its_own_length_only(tmp_path):
    folder = client(tmp_path / "tiny", "linux-x64", symbols=False)
    pack_project(folder)
    data = (folder / "stage" / "linux-x64" / "tiny" / "lib" / "libtiny.so").read_bytes()
    other = with_id(data, bytes(20), "libtiny.so")
    assert read_image(other, "").build_id == "00" * 20
    assert len(other) == len(data)
    with pytest.raises(InputError, match="20 bytes instead of 16"):
        with_id(data, bytes(16), "libtiny.so")
    with pytest.raises(InputError, match="not an ELF or Mach-O file"):
        read_loaded(b"MZ", "tiny.dll")
    with pytest.raises(InputError):
        read_loaded(data[:200], "libtiny.so")
