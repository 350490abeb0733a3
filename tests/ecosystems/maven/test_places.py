"""Where the class of a JAR takes its library from and copies it to: class paths, modules, class loaders, users."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testing.needs import require_programs
from tests.client import by_kind, copy_client, members, pack_project, write_files
from tests.ecosystems.conftest import make_open_folder
from tests.ecosystems.maven.test_jar import JAR_ONLY, LIBRARY, TABLE
from tests.programs import run_checked, run_program

pytestmark = pytest.mark.builds

STRANGER, USER = 12345, 12346
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="not run: only root can give files to other users")
MAIN = """\
package app;
public class Main {
  public static void main(String[] words) throws Exception {
    System.out.println(io.github.acme.tiny.NativeLibrary.load());
  }
}
"""
BOTH = MAIN.replace("tiny.NativeLibrary.load());", "tiny.NativeLibrary.load());\n"
                    "    System.out.println(io.github.other.tiny.NativeLibrary.load());")  # fmt: skip
SHOW_MODE = MAIN.replace(
    "io.github.acme.tiny.NativeLibrary.load()",
    "java.nio.file.attribute.PosixFilePermissions.toString(java.nio.file.Files.getPosixFilePermissions(\n"
    "        io.github.acme.tiny.NativeLibrary.load().getParent()))",
)
LOADERS = """\
package app;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
public class Main {
  public static void main(String[] words) throws Exception {
    for (int index = 0; index < 3; index++) {
      URL[] jars = {new File(words[0]).toURI().toURL()};
      ClassLoader loader = new URLClassLoader(jars, ClassLoader.getPlatformClassLoader());
      Class<?> type = loader.loadClass("io.github.acme.tiny.NativeLibrary");
      System.out.println(type.getMethod("load").invoke(null));
    }
  }
}
"""


@pytest.fixture(scope="module")
def shared():
    require_programs("java", "javac")
    with make_open_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def jars(shared, tmp_path_factory):
    """Two JARs with different libraries of one name."""

    def pack(group, change):
        folder = copy_client("tiny", tmp_path_factory.mktemp("jar"), latebind=JAR_ONLY + TABLE.replace("acme", group))
        source = folder / "native" / "tiny.c"
        source.write_text(source.read_text().replace("a + b", change))
        return by_kind(pack_project(folder))["jar"].rename(shared / f"{group}-tiny-1.2.3.jar")

    return pack("acme", "a + b"), pack("other", "a - b")


@pytest.fixture
def start(top, jars):
    """Compiles and runs a program, as this user or as another."""

    def start_java(text, *arguments, options=(), class_path=jars, user=None):
        paths = os.pathsep.join(map(str, (top / "classes", *class_path)))
        compile_program(top, text, class_path)
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        command = ["java", "-XX:-UsePerfData", *options, "-cp", paths, "app.Main", *map(str, arguments)]
        return run_program(*command, cwd="/", **identity)

    return start_java


def compile_program(top, text, class_path):
    (top / "source" / "app").mkdir(parents=True, exist_ok=True)
    (top / "source" / "app" / "Main.java").write_text(text)
    paths = os.pathsep.join(map(str, class_path))
    run_checked("javac", "-cp", paths, "-d", top / "classes", top / "source" / "app" / "Main.java")


# ---- where the library comes from ----


@pytest.mark.slow
def test_each_class_loader_loads_a_copy_of_its_own(start, jars, top):
    ended = start(LOADERS, jars[0], class_path=(), options=[f"-Djava.io.tmpdir={top}"])
    files = ended.stdout.splitlines()
    assert len(set(files)) == 3, ended.stderr
    assert list(top.glob("latebind-*")) == []


@pytest.mark.parametrize("order", [1, -1])
def test_each_class_loads_the_library_of_its_own_jar(start, jars, top, order):
    """The library's name is the same in both JARs: the first one on the class path hides the other."""
    printed = BOTH.replace("System.out.println(", "print(").replace(
        "  public static", "  static void print(java.nio.file.Path file) throws Exception {\n"
        "    System.out.println(java.util.Arrays.hashCode(java.nio.file.Files.readAllBytes(file)));\n  }\n"
        "  public static",
    )  # fmt: skip
    ended = start(printed, class_path=jars[::order])
    first, second = (members(jar)[LIBRARY] for jar in jars)
    assert first != second
    assert ended.stdout.split() == [hash_as_java(first), hash_as_java(second)], ended.stderr


def hash_as_java(data):
    """The value of Arrays.hashCode(byte[])."""
    value = 1
    for byte in data:
        value = (31 * value + (byte ^ 0x80) - 0x80) & 0xFFFFFFFF
    return str(value - (1 << 32) if value >> 31 else value)


# ---- modules ----


@pytest.mark.slow
def test_a_module_exports_its_packages_and_requires_what_the_sources_use(tmp_path):
    tiny = "package com.acme;\npublic class Tiny { java.util.logging.Logger log; }\n"
    using = "package com.more;\npublic class More { com.acme.Tiny tiny; }\n"
    write_files(tmp_path, {"java/com/acme/Tiny.java": tiny, "more/com/more/More.java": using})
    more = '\n[package.more]\ncomponent = "tiny"\nexports = ["tiny_*"]\nrequires = ["tiny"]\nmaven = { group = '
    more += '"io.github.acme", name = "more", source = "more" }\n'
    packed = pack_project(copy_client("tiny", tmp_path, latebind=f'{JAR_ONLY}{TABLE}source = "java"\n{more}'))
    other, jar = sorted(artifact.path for artifact in packed.artifacts if artifact.kind == "jar")
    printed = run_checked("jar", "--describe-module", f"--file={jar}")
    exports, requires = {"exports com.acme", "exports io.github.acme.tiny"}, "requires java.base mandated"
    assert {*exports, requires, "requires java.logging"} <= set(printed.splitlines())
    assert "requires io.github.acme.tiny transitive" in run_checked("jar", "--describe-module", f"--file={other}")
    run_checked("java", "-p", f"{jar}{os.pathsep}{other}", "--validate-modules")


# ---- where the files go ----


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_a_new_folder_is_for_this_user_alone(start, top, mask):
    before = os.umask(mask)
    try:
        ended = start(SHOW_MODE, options=[f"-Djava.io.tmpdir={top}"])
    finally:
        os.umask(before)
    assert ended.stdout == "rwx------\n", ended.stderr


@NEEDS_ROOT
@pytest.mark.parametrize("user", [None, USER])
def test_a_folder_that_another_user_made_is_never_used(start, jars, top, user):
    """Where earlier versions took files from, and by the name that this one gives to its folder."""
    for name in ("natives", "latebind-1"):
        (top / name).mkdir()
        (top / name / "libtiny.so").write_bytes(members(jars[1])[LIBRARY])
        (top / name).chmod(0o777)
        os.chown(top / name, STRANGER, STRANGER)
    top.chmod(0o1777)
    options = [f"-Djava.io.tmpdir={top}", f"-Dlatebind.native.folder={top / 'natives'}"]
    ended = start(MAIN, options=options, user=user)
    folder = Path(ended.stdout.strip()).parent
    assert (folder.parent, folder.name.startswith("latebind-"), folder.name != "latebind-1") == (top, True, True), ended


@NEEDS_ROOT
def test_a_temporary_folder_that_cannot_be_written_to_is_named_and_the_help_works(start, jars, top):
    ended = start(MAIN, options=[f"-Djava.io.tmpdir={top}"], user=USER)
    assert "set -Djava.io.tmpdir to a folder that this user alone may write to" in ended.stderr, ended.stdout
    (top / "libtiny.so").write_bytes(members(jars[0])[LIBRARY])
    named = [f"-Djava.io.tmpdir={top}", f"-Dio.github.acme.tiny.library={top / 'libtiny.so'}"]
    assert start(MAIN, options=named, user=USER).stdout == f"{top}/libtiny.so\n"
    (top / "own").mkdir()
    os.chown(top / "own", USER, USER)
    assert start(MAIN, options=[f"-Djava.io.tmpdir={top / 'own'}"], user=USER).stdout.startswith(f"{top}/own/")


def give(path, owner, mode, group=None):
    path.mkdir(exist_ok=True)
    os.chown(path, owner, owner if group is None else group)
    path.chmod(mode)
    return path


OPEN = {
    "everybody": (0, 0o777, None, "every user may write to"),
    "a-group": (0, 0o775, STRANGER, "other users of its group may write to"),
    "another-user": (STRANGER, 0o777, None, "another user owns"),
    "another-user-with-a-sticky-bit": (STRANGER, 0o1777, None, "another user owns"),
}


@NEEDS_ROOT
@pytest.mark.parametrize("user", [None, USER])
@pytest.mark.parametrize("depth", [0, 1], ids=["itself", "above"])
@pytest.mark.parametrize("name", OPEN)
def test_a_temporary_folder_that_others_can_exchange_is_refused_and_the_help_works(
    start, top, name, depth, user, monkeypatch
):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    owner, mode, group, reason = OPEN[name]
    folder = give(top / "open\u202e\x85", owner, mode, group)
    below = give(folder / "own", user or 0, 0o700) if depth else folder
    if not depth and group:
        below = give(folder, user or 0, mode, group)
    ended = start(MAIN, options=[f"-Djava.io.tmpdir={below}"], user=user)
    assert f"can exchange the folder: {reason} {top}/open\ufffd\ufffd\n" in ended.stderr, ended.stdout
    assert list(below.glob("latebind-*")) == []
    alone = give(top / "alone", user or 0, 0o700)
    assert start(MAIN, options=[f"-Djava.io.tmpdir={alone}"], user=user).stdout.startswith(f"{alone}/latebind-")


@NEEDS_ROOT
@pytest.mark.parametrize(("mode", "group"), [(0o1777, 0), (0o3775, STRANGER), (0o775, 0), (0o775, USER)])
def test_a_temporary_folder_in_which_others_change_nothing_is_used(start, top, mode, group):
    folder = give(top / "shared", 0 if mode == 0o1777 else USER, mode, group)
    assert start(MAIN, options=[f"-Djava.io.tmpdir={folder}"], user=USER).stdout.startswith(f"{folder}/latebind-")
