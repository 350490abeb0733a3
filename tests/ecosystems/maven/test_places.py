"""Where the class of a JAR takes its library from and copies it to: class paths, modules, class loaders, users."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path

import pytest

from tests.client import CONFIG, copy_client, members, pack_project
from tests.ecosystems.maven.test_jar import LIBRARY, TABLE
from tests.needs import require_programs
from tests.programs import run_checked, run_program

STRANGER, USER, UNKNOWN = 12345, 12346, 65534
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
def shared(tmp_path_factory):
    """A folder that every user may enter, which pytest's own are not."""
    require_programs("java", "javac")
    with tempfile.TemporaryDirectory(prefix="latebind-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def jars(shared, tmp_path_factory):
    """Two JARs with different libraries of one name."""

    def pack(group, change):
        folder = copy_client("tiny", tmp_path_factory.mktemp("jar"), latebind=CONFIG + TABLE.replace("acme", group))
        source = folder / "native" / "tiny.c"
        source.write_text(source.read_text().replace("a + b", change))
        packed = pack_project(folder)
        (jar,) = (artifact.path for artifact in packed.artifacts if artifact.kind == "jar")
        return jar.rename(shared / f"{group}-tiny-1.2.3.jar")

    return pack("acme", "a + b"), pack("other", "a - b")


@pytest.fixture
def top():
    with tempfile.TemporaryDirectory(prefix="latebind-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


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


def write_jar(file, *sources):
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in {name: data for source in reversed(sources) for name, data in source.items()}.items():
            archive.writestr(name, data)
    return file


# ---- where the library comes from ----


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


def test_a_merged_jar_has_its_library(start, jars, top):
    compile_program(top, MAIN, jars)
    own = {"app/Main.class": (top / "classes/app/Main.class").read_bytes()}
    fat = write_jar(top / "fat.jar", own, members(jars[0]))
    (top / "classes/app/Main.class").unlink()
    ended = run_program("java", "-cp", fat, "app.Main")
    assert ended.stdout.endswith("/libtiny.so\n"), ended.stderr


def test_a_folder_of_classes_has_its_library(start, jars, top):
    """What an IDE runs."""
    with zipfile.ZipFile(jars[0]) as archive:
        archive.extractall(top / "exploded")
    ended = start(MAIN, class_path=[top / "exploded"])
    assert ended.stdout.endswith("/libtiny.so\n"), ended.stderr


# ---- modules ----


@pytest.fixture
def module(top, jars):
    """A module that requires the JAR's; gives the words of a module path."""
    (top / "source/app").mkdir(parents=True)
    (top / "source/app/Main.java").write_text(MAIN)
    (top / "source/module-info.java").write_text("module app { requires io.github.acme.tiny; }\n")
    sources = sorted((top / "source").rglob("*.java"))
    run_checked("javac", "-p", jars[0], "-d", top / "app", *sources)
    return f"{top / 'app'}{os.pathsep}{jars[0]}"


def test_a_program_on_the_module_path_finds_the_library(module):
    assert run_checked("java", "-p", module, "-m", "app/app.Main").endswith("/libtiny.so\n")


def test_an_image_of_jlink_finds_the_library(module, top):
    (jlink,) = require_programs("jlink")
    run_checked(jlink, "-p", module, "--add-modules", "app", "--output", top / "image")
    assert run_checked(top / "image/bin/java", "-m", "app/app.Main").endswith("/libtiny.so\n")


def test_jdeps_lists_the_module_with_what_it_requires(module, jars):
    (jdeps,) = require_programs("jdeps")
    printed = run_checked(jdeps, "--module-path", jars[0], "-s", "-m", "io.github.acme.tiny")
    assert printed == "io.github.acme.tiny -> java.base\n"


def test_a_module_exports_its_packages_and_requires_what_the_sources_use(tmp_path):
    (tmp_path / "java/com/acme").mkdir(parents=True)
    text = "package com.acme;\npublic class Tiny { java.util.logging.Logger log; }\n"
    (tmp_path / "java/com/acme/Tiny.java").write_text(text)
    (tmp_path / "more/com/more").mkdir(parents=True)
    (tmp_path / "more/com/more/More.java").write_text("package com.more;\npublic class More { com.acme.Tiny tiny; }\n")
    more = '\n[package.more]\ncomponent = "tiny"\nexports = ["tiny_*"]\nrequires = ["tiny"]\nmaven = { group = '
    more += '"io.github.acme", name = "more", source = "more" }\n'
    packed = pack_project(copy_client("tiny", tmp_path, latebind=f'{CONFIG}{TABLE}source = "java"\n{more}'))
    other, jar = sorted(artifact.path for artifact in packed.artifacts if artifact.kind == "jar")
    printed = run_checked("jar", "--describe-module", f"--file={jar}")
    described = {
        "exports com.acme",
        "exports io.github.acme.tiny",
        "requires java.base mandated",
        "requires java.logging",
    }
    assert described <= set(printed.splitlines())
    assert "requires io.github.acme.tiny transitive" in run_checked("jar", "--describe-module", f"--file={other}")
    run_checked("java", "-p", f"{jar}{os.pathsep}{other}", "--validate-modules")


# ---- the folder of the property ----


def name_folder(folder):
    return [f"-Dlatebind.native.folder={folder}"]


def test_a_file_of_an_earlier_version_stays_and_is_not_loaded(start, jars, top):
    (top / "natives").mkdir()
    (top / "natives" / "libtiny.so").write_bytes(b"an earlier version")
    ended = start(MAIN, options=name_folder(top / "natives"))
    assert ended.stdout == f"{top}/natives/2/libtiny.so\n", ended.stderr
    assert (top / "natives" / "libtiny.so").read_bytes() == b"an earlier version"


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022])
def test_a_new_folder_is_for_this_user_alone(start, top, mask):
    before = os.umask(mask)
    try:
        (top / "mine").mkdir(mode=0o755)
        ended = start(MAIN, options=name_folder(top / "mine" / "natives"))
    finally:
        os.umask(before)
    assert ended.stdout == f"{top}/mine/natives/libtiny.so\n", ended.stderr
    assert (top / "mine" / "natives").stat().st_mode & 0o777 == 0o700


def give(folder, user=STRANGER):
    os.chown(folder, user, user)
    return f"{folder} belongs to another user, number {user}"


def give_above(folder):
    os.chown(folder.parent, STRANGER, STRANGER)
    return f"{folder.parent} belongs to another user, number {STRANGER}"


def give_to_no_one(folder):
    os.chown(folder, UNKNOWN, UNKNOWN)
    return f"{folder} belongs to an unknown user, number {UNKNOWN}"


def open_folder(folder):
    folder.chmod(0o1777)
    return f"other users may write to {folder}"


def open_above(folder):
    folder.parent.chmod(0o777)
    return f"other users may write to {folder.parent}"


def share(folder):
    os.chown(folder, 0, STRANGER)
    folder.chmod(0o775)
    return f"other users may write to {folder}"


def link(folder):
    real = folder.parent / "strangers"
    real.mkdir()
    os.chown(real, STRANGER, STRANGER)
    folder.rmdir()
    folder.symlink_to(real)
    return f"{real} belongs to another user, number {STRANGER}"


@NEEDS_ROOT
@pytest.mark.parametrize("user", [None, USER])
@pytest.mark.parametrize("change", [give, give_above, give_to_no_one, open_folder, open_above, share, link])
def test_a_folder_that_others_may_change_is_refused_and_the_help_works(start, jars, top, change, user):
    folder = top / "above" / "natives"
    folder.mkdir(parents=True)
    reason = change(folder)
    if change in (give, give_above):
        folder.chmod(0o1777)
    ended = start(MAIN, options=name_folder(folder), user=user)
    assert f"-Dlatebind.native.folder={folder} is not used: {reason}" in ended.stderr, ended.stdout
    assert "Name a folder that only you may change, or set -Dio.github.acme.tiny.library to" in ended.stderr
    assert list(folder.iterdir()) == []
    (top / "libtiny.so").write_bytes(members(jars[0])[LIBRARY])
    named = [f"-Dio.github.acme.tiny.library={top / 'libtiny.so'}"]
    assert start(MAIN, options=[*name_folder(folder), *named], user=user).stdout == f"{top}/libtiny.so\n"
    (top / "own").mkdir()
    os.chown(top / "own", user or 0, user or 0)
    assert start(MAIN, options=name_folder(top / "own"), user=user).stdout == f"{top}/own/libtiny.so\n"


@NEEDS_ROOT
@pytest.mark.parametrize("what", ["file", "link", "folder"])
def test_what_another_user_left_in_the_folder_is_not_loaded(start, jars, top, what):
    natives, library = top / "natives", members(jars[0])[LIBRARY]
    natives.mkdir()
    (top / "theirs.so").write_bytes(library)
    os.chown(top / "theirs.so", STRANGER, STRANGER)
    if what == "link":
        (natives / "libtiny.so").symlink_to(top / "theirs.so")
    else:
        (natives / "libtiny.so").write_bytes(library)
        os.chown(natives / "libtiny.so", STRANGER, STRANGER)
    if what == "folder":
        (natives / "2").mkdir()
        os.chown(natives / "2", STRANGER, STRANGER)
    ended = start(MAIN, options=name_folder(natives))
    assert ended.stdout == f"{natives}/{3 if what == 'folder' else 2}/libtiny.so\n", ended.stderr
