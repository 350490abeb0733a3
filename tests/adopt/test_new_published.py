"""A new project's packages, as its users and the indexes see them."""

from __future__ import annotations

import json
import os
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from defusedxml.ElementTree import fromstring

from tests.support.client import edit
from tests.support.needs import require_programs
from tests.support.npm_tools import install_tools
from tests.support.running import CLI, run_checked, run_program

pytestmark = pytest.mark.builds

REPOSITORY = "https://github.com/acme/my-engine"
MORE = """\
npm = { name = "@acme/my-engine", runtime = "onnxruntime-node" }
maven = { group = "org.acme", name = "my-engine", runtime = "com.microsoft.onnxruntime:onnxruntime" }

[verify]
"""
PROGRAM = """\
import my_engine


def double(model: bytes) -> list[float]:
    return my_engine.Model(model).run([1.0, 2.0])


found: str = my_engine.open_runtime()["path"]
"""
POM = "{http://maven.apache.org/POM/4.0.0}"
CENTRAL = (
    *("modelVersion", "groupId", "artifactId", "version", "name", "description", "url"),
    *("licenses/license/name", "licenses/license/url", "developers/developer/name", "developers/developer/email"),
    *("scm/connection", "scm/url"),
)
"""central.sonatype.org, "Requirements", Required Metadata; `packaging` is jar where a POM names none."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A new project with the packages of every ecosystem, and a link to its repository."""
    require_programs("javac")
    folder = tmp_path_factory.mktemp("new")
    author = {"NAME": "A Person", "EMAIL": "a@acme.org"}
    settings = {f"GIT_CONFIG_{part}_{number}": text for number, (key, value) in enumerate(author.items())
                for part, text in (("KEY", f"user.{key.lower()}"), ("VALUE", value))}  # fmt: skip
    env = {**os.environ, **settings, "GIT_CONFIG_COUNT": "2"}
    run_checked(*CLI, "-C", folder, "new", "my-engine", env=env)
    edit(folder / "my-engine" / "latebind.toml", "[verify]\n", MORE)
    edit(folder / "my-engine" / "latebind.toml", '# repository = "https://github.com/OWNER/my-engine"',
         f'repository = "{REPOSITORY}"')  # fmt: skip
    run_checked(*CLI, "-C", folder / "my-engine", "pack")
    return folder / "my-engine"


def find(project: Path, pattern: str) -> Path:
    (path,) = (project / "dist").glob(pattern)
    return path


def tool(name: str, *arguments: object) -> str:
    return run_checked(Path(sys.executable).with_name(name), *arguments)


def test_no_check_finds_anything(project):
    shown = run_checked(*CLI, "-C", project, "audit", "--profile", "all", "--verbose")
    assert "0 errors, 0 warnings, 0 notes\n" in shown


def test_twine_accepts_the_wheel_and_the_sdist(project):
    printed = tool(
        "twine", "--no-color", "check", "--strict", find(project, "*.whl"), find(project, "*_engine*.tar.gz")
    )
    assert printed.count("PASSED") == 2


def test_the_wheel_installs_its_package_and_nothing_else(project):
    """PyInstaller finds its hooks by names that no import statement can have: W004."""
    tool("check-wheel-contents", "--ignore", "W004", find(project, "*.whl"))
    found = run_program(Path(sys.executable).with_name("check-wheel-contents"), find(project, "*.whl")).stdout
    assert re.findall(r"(W\d+)|^  (\S+)$", found, re.MULTILINE) == [
        ("W004", ""), ("", "my_engine/_pyinstaller/hook-my_engine.py"),
    ]  # fmt: skip


def test_pyroma_misses_the_minor_versions_of_python_alone(project):
    ended = run_program(Path(sys.executable).with_name("pyroma"), "--min", "9", find(project, "*_engine*.tar.gz"))
    assert ended.returncode == 0, ended.stdout
    _, complaints, rating, *_ = re.split(r"-{20,}\n", ended.stdout)[1:]
    assert complaints.splitlines() == [
        "The classifiers should specify what minor versions of Python you support as well as what major version."
    ]
    assert "9/10" in rating


def test_the_metadata_come_from_latebind_toml(project):
    with zipfile.ZipFile(find(project, "*.whl")) as wheel:
        names = wheel.namelist()
        metadata = wheel.read("my_engine-0.1.0.dist-info/METADATA").decode()
    head, _, readme = metadata.partition("\n\n")
    assert {
        *("Summary: Runs a model with ONNX Runtime", "Author-email: A Person <a@acme.org>", "License-Expression: MIT"),
        *("Requires-Dist: onnxruntime>=1.19", f"Project-URL: Source, {REPOSITORY}"),
        "Description-Content-Type: text/markdown",
    } <= set(head.splitlines())
    assert readme == (project / "README.md").read_text("utf-8")
    assert [name for name in names if name.endswith("/LICENSE")] == ["my_engine-0.1.0.dist-info/licenses/LICENSE"]
    assert [path.relative_to(project).as_posix() for path in project.rglob("LICENSE") if "build" not in path.parts] == [
        "LICENSE"
    ]


def test_every_package_has_the_readme_for_users(project):
    readme = (project / "README.md").read_bytes()
    assert b"latebind" not in readme
    with zipfile.ZipFile(find(project, "*.nupkg")) as nupkg:
        assert nupkg.read("README.md") == readme
    for path in (project / "dist").glob("acme-my-engine-*.tgz"):
        with tarfile.open(path) as tarball:
            assert tarball.extractfile("package/README.md").read() == readme


def test_publint_accepts_the_npm_package(project, tmp_path, kept_builds):
    tools = install_tools(kept_builds)
    with tarfile.open(find(project, "acme-my-engine-0*.tgz")) as tarball:
        tarball.extractall(tmp_path, filter="data")
    assert "All good!" in run_checked("node", tools / "publint/src/cli.js", "--strict", tmp_path / "package")
    manifest = json.loads((tmp_path / "package/package.json").read_bytes())
    assert manifest["dependencies"] == {"onnxruntime-node": ">=1.19.0"}
    assert "peerDependencies" not in manifest
    assert manifest["author"] == "A Person <a@acme.org>"


def test_the_pom_has_what_maven_central_requires(project):
    with zipfile.ZipFile(find(project, "*.jar")) as jar:
        pom = fromstring(jar.read("META-INF/maven/org.acme/my-engine/pom.xml"))
    assert [path for path in CENTRAL if not (pom.findtext(POM + path.replace("/", f"/{POM}")) or "").strip()] == []
    assert pom.findtext(f"{POM}url") == REPOSITORY


@pytest.fixture(scope="module")
def editable_python(project, links, tmp_path_factory):
    """An environment with latebind, as CONTRIBUTING.md has it, and the project in editable mode."""
    environment = tmp_path_factory.mktemp("env")
    run_checked(sys.executable, "-m", "uv", "venv", "--quiet", "--seed", environment)
    python = environment / "bin" / "python"
    run_checked(python, "-m", "pip", "install", "--quiet", "--find-links", links, "latebind[native]", "pytest", "mypy")
    run_checked(python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--editable", project / "python")
    return python


@pytest.mark.slow
def test_an_editable_installation_passes_the_projects_own_tests(project, editable_python):
    assert "2 passed" in run_checked(editable_python, "-m", "pytest", "-q", project / "tests", cwd=project)


@pytest.mark.slow
def test_a_program_that_imports_it_is_typed(project, editable_python, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    source = project / "python/src/my_engine"
    for path in (tmp_path / "program.py", source):
        run_checked(editable_python, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", path, cwd=tmp_path)


@pytest.mark.slow
def test_an_isolated_build_passes_over_the_programs_of_the_environment(project, editable_python, links):
    """pip hides the environment's packages from the build, so that their scripts in the same folder do not start."""
    run_checked(editable_python, "-m", "pip", "uninstall", "--quiet", "--yes", "my-engine")
    for folder in ("build", "stage"):
        (project / folder).rename(project / f"{folder}.old")
    editable = ("--editable", project / "python")
    run_checked(editable_python, "-m", "pip", "install", "--quiet", "--find-links", links, *editable)
    run_checked(editable_python, "-c", "import my_engine; my_engine.open_runtime()")


def test_verify_tries_the_wheel_with_and_without_the_runtime_that_it_requires(project):
    """In `absent`, the runtime that the installer added is uninstalled."""
    run_checked(*CLI, "-C", project, "verify")
    report = json.loads((project / "reports/verify.json").read_bytes())
    states = {case["scenario"]: case["outcome"] for case in report["cases"] if case["kind"] == "wheel"}
    assert {states[name] for name in ("works", "extra", "absent", "too-old", "truncated")} == {"passed"}


def test_the_distribution_alone_works(project, tmp_path):
    """What a user types: pip install my-engine."""
    run_checked(sys.executable, "-m", "uv", "venv", "--quiet", tmp_path)
    python = tmp_path / "bin" / "python"
    run_checked(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, "--find-links",
                project / "dist", "my-engine==0.1.0")  # fmt: skip
    run_checked(python, "-c", "import my_engine; my_engine.open_runtime()")
