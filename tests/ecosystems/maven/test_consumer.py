"""A Java program with a class path from a repository of the packages: passing, and failing where one is broken."""

import io
import zipfile
from functools import partial

import pytest

from latebind.ecosystems.maven.layouts import LAYOUTS
from tests.ecosystems.conftest import verify_one
from tests.support.client import CONFIG, copy_client
from tests.support.needs import require_programs

pytestmark = pytest.mark.slow

TABLES = """
[package.tiny.maven]
group = "io.github.acme"
name = "tiny"

[verify]
java = "java"
"""
SOURCE = """\
__attribute__((visibility("default"))) int tiny_add(int a, int b);
int tiny_add(int a, int b) { return a + b; }
__attribute__((visibility("default"))) int Java_Main_add(void* environment, void* type, int a, int b);
int Java_Main_add(void* environment, void* type, int a, int b) { return environment && type ? tiny_add(a, b) : 0; }
"""
PROGRAM = """\
import java.nio.file.Files;
import java.nio.file.Path;

public class Main {
  static native int add(int a, int b);

  public static void main(String[] words) throws Exception {
    Path library = io.github.acme.tiny.NativeLibrary.load();
    boolean right = add(2, 3) == EXPECTED;
    String failed = right ? "" : "{\\"name\\": \\"adds\\", \\"message\\": \\"2 + 3 is " + add(2, 3) + "\\"}";
    Files.writeString(Path.of(words[1]), "{\\"passed\\": [" + (right ? "\\"adds\\"" : "") + "], \\"failed\\": ["
        + failed + "], \\"libraries\\": [\\"" + library + "\\"]}");
    System.exit(right ? 0 : 1);
  }
}
"""


def write_project(folder):
    require_programs("java", "javac")
    config = CONFIG.replace('exports = ["tiny_*"]', 'exports = ["tiny_*", "Java_*"]') + TABLES
    copy_client("tiny", folder, latebind=config, tiny=SOURCE)
    (folder / "java").mkdir()
    (folder / "java" / "Main.java").write_text(PROGRAM.replace("EXPECTED", "5"))
    return folder


run_verify = partial(verify_one, case="java/*/works")


def test_its_native_methods_are_bound_and_compute(project, latebind):
    outcome, text = run_verify(latebind, project)
    assert (outcome, "1 case passed" in text) == ("passed", True), text


@pytest.mark.slow
@pytest.mark.parametrize("layout", [layout.name for layout in LAYOUTS])
def test_it_computes_in_each_layout(project, latebind, layout):
    outcome, text = run_verify(latebind, project, case=f"{layout}/*/consumed")
    assert (outcome, "1 case passed" in text) == ("passed", True), text


@pytest.mark.slow
def test_an_image_needs_a_module(project, latebind):
    change_bundle(project, "1.2.3.jar", lambda name, data: (name, rewrite(data, rename_module)))
    outcome, text = run_verify(latebind, project, "--dist", project / "dist", case="java-jlink/*/consumed")
    assert (outcome, "Module io.github.acme.tiny not found" in text) == ("failed", True), text


def rename_module(name, data):
    return name.replace("module-info.class", "module-info.bin"), data


def test_a_wrong_number_fails_it(project, latebind):
    (project / "java" / "Main.java").write_text(PROGRAM.replace("EXPECTED", "6"))
    outcome, text = run_verify(latebind, project)
    assert (outcome, "adds: 2 + 3 is 5" in text) == ("failed", True), text


@pytest.mark.parametrize(
    ("suffix", "change", "says"),
    [
        ("1.2.3.jar", lambda name, data: (name, rewrite(data, rename_platform)), "ended with status 1"),
        (".pom", lambda name, data: (name, add_dependency(data)), "acme:absent:1.0 is not in the repository"),
        (".pom", lambda name, _: (name, b"<project"), "is not a POM"),
    ],
    ids=["platform", "dependency", "pom"],
)
def test_a_broken_package_fails_it(project, latebind, suffix, change, says):
    change_bundle(project, suffix, change)
    outcome, text = run_verify(latebind, project, "--dist", project / "dist")
    assert (outcome, says in text) == ("failed", True), text


def change_bundle(project, suffix, change):
    """Change the members of the bundle in dist/ whose names end so."""
    bundle = project / "dist" / "tiny-1.2.3-maven.zip"
    data = bundle.read_bytes()
    bundle.write_bytes(rewrite(data, lambda name, data: change(name, data) if name.endswith(suffix) else (name, data)))


def rename_platform(name, data):
    return name.replace("linux-x64", "linux-x86"), data


def add_dependency(pom):
    names = b"<groupId>acme</groupId><artifactId>absent</artifactId><version>1.0</version>"
    return pom.replace(b"</project>", b"<dependencies><dependency>" + names + b"</dependency></dependencies></project>")


def rewrite(data, change):
    """An archive with each member changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = dict(change(name, archive.read(name)) for name in archive.namelist())
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return changed.getvalue()


def test_a_pass_is_remembered_until_the_bundle_changes(project, latebind):
    assert run_verify(latebind, project)[0] == "passed"
    change_bundle(project, ".pom", lambda name, _: (name, b"<project"))
    assert run_verify(latebind, project, "--dist", project / "dist")[0] == "failed"


def test_a_bundle_of_another_version_is_refused(project, latebind):
    assert latebind("-C", project, "pack", "--target", "linux-x64").returncode == 0
    (project / "dist" / "tiny-1.2.3-maven.zip").rename(project / "dist" / "tiny-1.2.2-maven.zip")
    ended = latebind("-C", project, "verify", "--target", "linux-x64", "--dist", project / "dist")
    assert (ended.returncode, "tiny-1.2.2-maven.zip is not of version 1.2.3" in ended.stderr) == (2, True), ended.stderr


def test_a_program_for_a_newer_java_is_not_run(project, latebind):
    (project / "java" / ".java-version").write_text("99\n")
    outcome, text = run_verify(latebind, project)
    assert (outcome, "no-program" in text) == ("not run", True), text


def test_a_folder_without_the_program_fails_it(project, latebind):
    (project / "java" / "Main.java").unlink()
    outcome, text = run_verify(latebind, project)
    assert (outcome, "has no Main.java" in text) == ("failed", True), text
