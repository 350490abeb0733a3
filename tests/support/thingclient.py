"""A small project that binds a runtime which latebind.toml describes, and that runtime; see client.py for the rest."""

from __future__ import annotations

from pathlib import Path

from tests.support.client import CONFIG, copy_client, read_client, write_files
from tests.support.needs import require_programs
from tests.support.running import run_checked

DESCRIBED = """
[[runtime]]
minimum = "2.1"

[runtime.describe]
name = "thing"
title = "The Thing"
entry = "thing_version"
version = "text"
built = "2.9"
files.linux = ["libthing.so", "libthing.so.*"]
python = { folder = "thing/lib", extras = { cpu = "thing-runtime" } }
"""
CMAKE = read_client("thing", "native/CMakeLists.txt")
SOURCE = read_client("thing", "native/tiny.c")
TELLS = {
    "text": 'const char* thing_version(void) { return "thing v%d.%d.%d"; }',
    "three-numbers": "void thing_version(unsigned* a, unsigned* b, unsigned* c) { *a = %d; *b = %d; *c = %d; }",
    "four-numbers": "void thing_version(unsigned* a, unsigned* b, unsigned* c, unsigned* d)"
    " { *a = %d; *b = %d; *c = %d; *d = 7; }",
    "own": "int thing_version(void) { return (%d * 100 + %d) * 100 + %d; }",
}
"""How a runtime reports its version, in C, for each word of the description."""
OWN_READER = """
int lb_thing_read_version(void* entry, char* text, size_t size)
{
  int (*tell)(void) = *(int (**)(void))&entry;
  return snprintf(text, size, "%d.%d.%d", tell() / 10000, tell() / 100 % 100, tell() % 100) <= 0;
}
"""


def write_thing_client(folder: Path, described: str = DESCRIBED, **changed: str) -> Path:
    """Copy the project `thing` with that description; `changed` is as in copy_client()."""
    config = CONFIG.replace('component = "tiny"', 'component = "tiny"\nruntime = "thing"') + described
    config += '\n[targets.linux-x64]\ntoolchain = "host"\n'  # the quicker one
    return copy_client("thing", folder, **{"latebind": config, **changed})


def build_thing(folder: Path, form: str, version: tuple[int, int, int], name: str = "libthing.so") -> Path:
    """The runtime of a version, built by the machine's own compiler; the test is skipped where there is none."""
    (compiler,) = require_programs("cc")
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "thing.c"
    source.write_text(TELLS[form] % version + "\n", encoding="utf-8")
    run_checked(compiler, "-shared", "-fPIC", "-o", folder / name, source)
    return folder / name


ADDON_PACKAGE = """\
[project]
name = "addon"
version = "1.0.0"
license = "MIT"
license_file = "LICENSE"
authors = ["A"]
[native]
source = "native"
build = "external"
[[runtime]]
preset = "portaudio"
minimum = "19.6"
drop_in = true
[targets]
include = ["linux-x64"]
glibc = "2.36"
[package.addon]
component = "addon"
runtime = "portaudio"
exports = ["{exports}"]
npm = {{ name = "addon", source = "npm" }}
"""
"""Packs an npm package of an add-on that binds PortAudio late."""
MINE = """
name = "mine"
entry = "mine_version"
version = "text"
minimum = "3.0"
built = "3.1"
files.linux = ["libmine.so.3"]
advice = "apt-get install libmine3"
[stub]
functions = ["mine_version", "mine_add"]
failures = { "mine_v*" = "message" }
"""
"""Describes a library that latebind does not know."""


def build_mine(folder: Path) -> Path:
    """A library that links one which latebind does not know: libmine.so.3 next to it, described by mine.toml."""
    mine, user = folder / "libmine.so.3", folder / "libuser.so"
    write_files(
        folder,
        {
            "mine.c": 'const char* mine_version(void) { return "3.1"; }',
            "user.c": "const char* mine_version(void); int use(void) { return *mine_version(); }",
            "mine.toml": MINE,
        },
    )
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{mine.name}", folder / "mine.c", "-o", mine)
    run_checked("cc", "-shared", "-fPIC", folder / "user.c", mine, "-o", user)
    return user
