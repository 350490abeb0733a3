"""JARs and the bundles of Maven repositories: what they hold, and what a program gets of them."""

import hashlib
import json
import os
import stat
import zipfile

import pytest

from latebind.tables.targets import targets
from tests.support.client import CONFIG, by_kind, copy_client, members, pack_project, rewritten, write_files
from tests.support.needs import require_programs
from tests.support.running import assert_refused, run_checked, run_program

TABLE = """
[package.tiny.maven]
group = "io.github.acme"
name = "tiny"
"""
JAR_ONLY = CONFIG.replace('wheel = { source = "python/tiny" }\nnuget = { id = "Tiny" }\n', "")
CLASS = "io/github/acme/tiny/NativeLibrary.class"
LIBRARY = "native/linux-x64/libtiny.so"
PROGRAM = """\
import io.github.acme.tiny.NativeLibrary;
import java.nio.file.Files;
import java.nio.file.Path;

public class Main {
  public static void main(String[] words) throws Exception {
    Path file = NativeLibrary.load();
    System.out.println(file);
    System.out.println(Files.getPosixFilePermissions(file.getParent()));
    System.out.println(NativeLibrary.VERSION);
    System.out.println(System.getProperty("onnxruntime.native.onnxruntime.path"));
  }
}
"""


@pytest.fixture(autouse=True)
def jdk():
    require_programs("java", "javac")


def pack_jar(folder, table=TABLE):
    packed = pack_project(copy_client("tiny", folder, latebind=JAR_ONLY + table))
    assert [row.message for row in packed.not_made if row.kind == "jar"] == []
    return {artifact.kind: artifact.path for artifact in packed.artifacts if artifact.kind in ("jar", "maven")}


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """JAR and bundle, packed once for all tests of a worker, which must not change them."""
    require_programs("java", "javac")
    return pack_jar(tmp_path_factory.mktemp("packed"))


def run_java(folder, *class_path, text=PROGRAM, options=()):
    """The lines that a program prints with these JARs, or its error."""
    (folder / "Main.java").write_text(text)
    paths = os.pathsep.join(map(str, (folder, *class_path)))
    run_checked("javac", "-cp", paths, "-d", folder, folder / "Main.java")
    ended = run_program("java", *options, "-cp", paths, "Main")
    return ended.stdout.splitlines() or ended.stderr


def test_two_packages_with_one_java_package_are_refused(latebind, tmp_path):
    twin = '\n[package.twin]\ncomponent = "tiny"\nexports = ["tiny_*"]\nmaven = { group = "io.github.acme", '
    twin += 'name = "twin", package = "io.github.acme.tiny" }\n'
    copy_client("tiny", tmp_path, latebind=CONFIG + TABLE + twin)
    message = "packages tiny and twin would both have the class io.github.acme.tiny.NativeLibrary"
    assert_refused(latebind("-C", tmp_path, "pack"), message, "another Java package")
    assert not (tmp_path / "dist").exists()


def test_a_jar_has_a_folder_for_each_target_and_maven_reads_what_it_is(packed):
    jar = packed["jar"]
    names = members(jar)
    assert {CLASS, LIBRARY, "META-INF/maven/io.github.acme/tiny/pom.xml"} <= names.keys()
    assert next(iter(names)) == "META-INF/MANIFEST.MF"
    assert b"artifactId=tiny" in names["META-INF/maven/io.github.acme/tiny/pom.properties"]
    assert names[CLASS][6:8] == (55).to_bytes(2, "big")  # Java 11's class files


@pytest.mark.builds
def test_the_class_uses_nothing_but_the_base_of_the_jdk_so_that_jdeps_need_not_be_asked(packed):
    assert run_checked("jdeps", "--multi-release", "base", "--print-module-deps", packed["jar"]).split() == [
        "java.base"
    ]


def test_a_bundle_is_a_repository_with_sources_and_checksums(packed, tmp_path):
    files = members(packed["maven"])
    stem = "io/github/acme/tiny/1.2.3/tiny-1.2.3"
    parts = {f"{stem}{end}" for end in (".jar", "-sources.jar", ".pom")}
    assert parts <= files.keys()
    for name in parts:
        for algorithm in ("md5", "sha1", "sha256", "sha512"):
            assert files[f"{name}.{algorithm}"].decode() == hashlib.new(algorithm, files[name]).hexdigest()
    (tmp_path / "sources.jar").write_bytes(files[f"{stem}-sources.jar"])
    assert "io/github/acme/tiny/NativeLibrary.java" in members(tmp_path / "sources.jar")


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes(packed, tmp_path):
    again = pack_jar(tmp_path)
    assert {kind: path.read_bytes() for kind, path in packed.items()} == {
        kind: path.read_bytes() for kind, path in again.items()
    }


def test_a_program_loads_the_library_from_a_private_folder_that_is_gone_afterwards(packed, tmp_path):
    jar = packed["jar"]
    file, permissions, version, _ = run_java(tmp_path, jar, options=[f"-Djava.io.tmpdir={tmp_path}"])
    assert (file.endswith("/libtiny.so"), file.startswith(str(tmp_path))) == (True, True)
    assert (permissions.count("GROUP"), permissions.count("OTHERS"), version) == (0, 0, "1.2.3")
    assert list(tmp_path.glob("latebind-*")) == []


@pytest.mark.slow
def test_the_runtime_is_put_next_to_it_and_its_own_interface_uses_the_same_file(tmp_path):
    bound = 'runtime = "onnxruntime"\n\n[[runtime]]\npreset = "onnxruntime"\nminimum = "1.20"\n'
    config = CONFIG.replace("nuget = ", 'runtime = "onnxruntime"\nnuget = ') + bound.partition("\n\n")[2]
    jar = by_kind(pack_project(copy_client("tiny", tmp_path, latebind=config + TABLE)))["jar"]
    with zipfile.ZipFile(tmp_path / "onnxruntime-1.21.0.jar", "w") as archive:
        archive.writestr("ai/onnxruntime/native/linux-x64/libonnxruntime.so", b"a library")
    file, _, _, location = run_java(tmp_path, jar, tmp_path / "onnxruntime-1.21.0.jar")
    assert location == file.replace("libtiny.so", "libonnxruntime.so")
    chosen = run_java(
        tmp_path, jar, tmp_path / "onnxruntime-1.21.0.jar", options=["-Donnxruntime.native.onnxruntime.path=/elsewhere"]
    )
    assert chosen[3] == "/elsewhere"


def test_a_jar_that_was_repackaged_without_its_libraries_is_named(packed, tmp_path):
    jar = rewritten(packed["jar"], tmp_path / "again", lambda name, data: (name, data) if name != LIBRARY else None)
    printed = run_java(tmp_path, jar)
    assert f"{LIBRARY} of tiny is not in the JAR of io.github.acme.tiny.NativeLibrary: keep the JAR's folder" in printed
    assert "or set -Dio.github.acme.tiny.library to the library's path" in printed


@pytest.mark.slow
def test_another_system_is_named_as_its_folder_is(packed, tmp_path):
    jar = packed["jar"]
    named = {
        "osx-arm64": ("Mac OS X", "aarch64"),
        "win-x64": ("Windows Server 2025", "amd64"),
        "linux-arm": ("Linux", "arm"),
        "linux-riscv64": ("Linux", "riscv64"),
    }
    assert set(named) <= set(targets())
    for rid, (name, arch) in named.items():
        printed = run_java(tmp_path, jar, options=[f"-Dos.name={name}", f"-Dos.arch={arch}"])
        assert f"tiny has no native library for {rid}, only for linux-x64" in printed


@pytest.mark.builds
def test_the_projects_own_sources_are_compiled_and_may_use_the_class(tmp_path):
    text = (
        "package io.github.acme.tiny;\npublic class Tiny { public static final Object FILE = NativeLibrary.VERSION; }\n"
    )
    write_files(tmp_path, {"java/io/github/acme/tiny/Tiny.java": text})
    jar = pack_jar(tmp_path, table=f'{TABLE}source = "java"\n')["jar"]
    assert "io/github/acme/tiny/Tiny.class" in members(jar)


@pytest.mark.builds
@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("io/github/acme/tiny/NativeLibrary.java", "", "latebind writes that file"),
        ("Broken.java", "class Broken {", "error: java: the Java sources do not compile"),
        ("Broken.java", "class Broken {", "    ./Broken.java:1: error: "),
        (
            "Lost.java",
            "class Lost { NativeLibrary o; }",
            "Sources may use io.github.acme.tiny.NativeLibrary, the JDK",
        ),
    ],
)
def test_sources_that_cannot_be_packed_are_an_error(tmp_path, latebind, name, text, says):
    copy_client("tiny", tmp_path, latebind=f'{CONFIG}{TABLE}source = "java"\n')
    write_files(tmp_path / "java", {name: text})
    assert_refused(latebind("-C", tmp_path, "pack", "--target", "linux-x64"), says)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (f'{TABLE}package = "1.2"', "not a Java package"),
        (f'{TABLE}package = "io.github.new"', "'io.github.new' is not a Java package"),
        (f'{TABLE}runtime = "onnxruntime"', "not an artifact"),
        (f"{TABLE}release = 8", "release must be >= 11"),
        (f'{TABLE}source = "absent"', "package.tiny.maven.source: there is no file or folder 'absent'"),
        (TABLE.replace("io.github.acme", "io..acme"), "package.tiny.maven.group: 'io..acme' has an empty part"),
        (TABLE.replace("io.github.acme", "io.github."), "package.tiny.maven.group: 'io.github.' has an empty part"),
        (TABLE.replace('"tiny"', '"tiny..core"'), "package.tiny.maven.name: 'tiny..core' has an empty part"),
    ],
)
def test_a_wrong_table_is_an_error_with_its_key(tmp_path, latebind, table, says):
    copy_client("tiny", tmp_path, latebind=f"{CONFIG}{table}\n")
    assert_refused(latebind("-C", tmp_path, "pack", "--target", "linux-x64"), says)


@pytest.mark.builds
def test_a_word_of_java_in_the_group_gets_an_underscore(tmp_path):
    table = TABLE.replace("github.acme", "native.3d")
    assert "io/native_/_3d/tiny/NativeLibrary.class" in members(pack_jar(tmp_path, table=table)["jar"])


@pytest.mark.builds
def test_without_a_jdk_the_rest_is_packed_and_the_jar_is_not_made(tmp_path, latebind):
    copy_client("tiny", tmp_path, latebind=CONFIG + TABLE)
    ended = latebind("-C", tmp_path, "pack", "--target", "linux-x64", env={"JAVA_HOME": str(tmp_path)})
    assert f"not made: jar of tiny: no-program: there is no javac in JAVA_HOME ({tmp_path})" in ended.stdout
    assert "Install a JDK, 11 or newer" in ended.stdout
    assert [path.suffix for path in sorted((tmp_path / "dist").glob("*.jar"))] == []
    assert any((tmp_path / "dist").glob("*.whl"))


def test_plan_names_the_files(tmp_path, latebind):
    copy_client("tiny", tmp_path, latebind=CONFIG + TABLE)
    planned = json.loads(latebind("-C", tmp_path, "plan", "--format", "json").stdout)
    assert {"tiny-1.2.3.jar", "tiny-1.2.3-maven.zip"} <= {row["file"] for row in planned["files"]}


def test_a_jar_with_the_runtime_in_it_fails_the_audit(packed, tmp_path, latebind):
    runtime = ("ai/onnxruntime/native/linux-x64/libonnxruntime.so", members(packed["jar"])[LIBRARY])
    jar = rewritten(packed["jar"], tmp_path, add=[runtime])
    ended = latebind("-C", packed["jar"].parent.parent, "audit", jar)
    assert (ended.returncode, "LB953" in ended.stdout) == (1, True), ended.stdout


def test_what_is_packed_passes_the_audit_and_has_modes_of_files(packed, latebind):
    jar = packed["jar"]
    ended = latebind("-C", packed["jar"].parent.parent, "audit", jar, packed["maven"])
    assert ended.returncode == 0, ended.stdout
    with zipfile.ZipFile(jar) as archive:
        assert {stat.S_IMODE(entry.external_attr >> 16) for entry in archive.infolist()} == {0o644}
