"""Metadata of wheels and sdists: its version, and extras that installers can resolve on every target."""

import os
import sys
import zipfile

import pytest
from packaging.requirements import Requirement

from latebind.errors import LatebindError
from latebind.tables.presets import preset, presets
from latebind.tables.targets import targets
from tests.support.client import BOUND, CONFIG, PYPROJECT, by_kind, edit, member, members, pack_project, write_client
from tests.support.running import run_checked

DISTRIBUTIONS = [(name, extra) for name, preset in presets().items() for extra in preset.python.extras]


DYNAMIC = PYPROJECT.replace('"optional-dependencies"]', '"optional-dependencies", "urls", "readme", "authors"]')


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The wheel and the sdist of a package with an extra for each distribution of ONNX Runtime."""
    root = write_client(tmp_path_factory.mktemp("metadata"), latebind=BOUND, pyproject=DYNAMIC)
    edit(root / "latebind.toml", 'source = "python/tiny"', 'source = "python/tiny", extras = "channels"')
    return by_kind(pack_project(root))


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """A packed project that describes itself, and names its module and the version of its metadata."""
    chosen = DYNAMIC.replace("build.targets.wheel]\n", 'build.targets.wheel]\ncore-metadata-version = "2.3"\n')
    about = 'readme = "README.md"\nrepository = "https://example.org/tiny"\nauthors = ["A <a@acme.org>", "B"]'
    config = CONFIG.replace('authors = ["Somebody"]', about)
    config = config.replace('source = "python/tiny"', 'source = "python/tiny", module_name = "acme.tiny"')
    root = write_client(tmp_path_factory.mktemp("described"), pyproject=chosen, latebind=config)
    (root / "README.md").write_text("# Tiny, für alle\n", encoding="utf-8")
    return root, by_kind(pack_project(root))["wheel"]


def read_metadata(wheel):
    return member(wheel, "tiny-1.2.3.dist-info/METADATA").decode()


@pytest.mark.builds
def test_the_metadata_version_is_not_hatchlings_latest(distributions):
    information = member(distributions["sdist"], "tiny-1.2.3/PKG-INFO").decode()
    for text in (read_metadata(distributions["wheel"]), information):
        assert text.startswith("Metadata-Version: 2.4\n")
        assert "\nLicense-Expression: MIT\n" in text
        assert "\nProject-URL: " not in text  # there is no repository


def test_a_project_may_choose_another_metadata_version(described):
    assert read_metadata(described[1]).startswith("Metadata-Version: 2.3\n")


@pytest.mark.builds
def test_a_required_runtime_is_a_dependency_from_the_minimum_on(tmp_path):
    bound = BOUND.replace('source = "python/tiny"', 'source = "python/tiny", runtime = "required"')
    metadata = read_metadata(by_kind(pack_project(write_client(tmp_path, latebind=bound)))["wheel"])
    needs = [line for line in metadata.splitlines() if line.startswith(("Requires-Dist", "Provides-Extra"))]
    assert needs == ["Requires-Dist: onnxruntime>=1.20"]


def test_what_describes_the_project_comes_from_latebind_toml(described):
    root, wheel = described
    head, _, readme = read_metadata(wheel).partition("\n\n")
    expected = {
        "Author: B",
        "Author-email: A <a@acme.org>",
        "Description-Content-Type: text/markdown",
        "Project-URL: Source, https://example.org/tiny",
    }
    assert expected <= {*head.split("\n")}
    assert readme == "# Tiny, für alle\n"

    (root / "README.md").unlink()
    with pytest.raises(LatebindError, match=r"README\.md"):
        pack_project(root)


def test_the_libraries_are_in_the_module_that_is_named(described):
    assert "acme/tiny/libtiny.so" in members(described[1])


@pytest.mark.slow
@pytest.mark.parametrize("twine", ["6.0.1", "6.1.0", "6.2.0"])
def test_twine_reads_the_packages_as_for_an_upload(distributions, twine):
    read = "import sys, twine.package as t\nfor file in sys.argv[1:]: t.PackageFile.from_filename(file, None)"
    arguments = ["-m", "uv", "run", "--quiet", "--no-project", "--with", f"twine=={twine}", "python", "-c", read]
    run_checked(sys.executable, *arguments, distributions["wheel"], distributions["sdist"])


@pytest.mark.parametrize(("runtime", "extra"), DISTRIBUTIONS)
def test_an_extra_requires_its_distribution_only_where_that_exists(runtime, extra):
    supply = preset(runtime).python
    requirement = Requirement(supply.render_requirement(extra, "1.19"))
    assert (requirement.name, str(requirement.specifier)) == (supply.extras[extra], ">=1.19")
    for rid, properties in targets().items():
        if properties.libc == "musl":  # markers cannot distinguish it from glibc
            continue
        environment = {"sys_platform": properties.sys_platform, "platform_machine": properties.platform_machine}
        applies = requirement.marker is None or requirement.marker.evaluate(environment)
        assert applies == (extra == supply.extra or supply.is_supplied(extra, rid)), rid


def fake_wheel(folder, name, tag):
    """An empty wheel of a distribution."""
    stem = f"{name.replace('-', '_')}-1.32.0"
    with zipfile.ZipFile(folder / f"{stem}-{tag}.whl", "w") as archive:
        archive.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.32.0\n")
        archive.writestr(f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.mark.builds
@pytest.mark.skipif(sys.platform == "win32", reason="not run: there, every distribution exists")
def test_uv_syncs_all_extras_where_a_distribution_does_not_exist(distributions, tmp_path):
    fake_wheel(tmp_path, "onnxruntime", "py3-none-any")
    for name in ("onnxruntime-directml", "onnxruntime-openvino", "onnxruntime-gpu"):
        fake_wheel(tmp_path, name, "py3-none-win_amd64" if "directml" in name else "py3-none-any")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.10"\n'
        '[project.optional-dependencies]\ncpu = ["tiny[cpu]"]\ndirectml = ["tiny[directml]"]\n'
        "[tool.uv]\npackage = false\n",
        encoding="utf-8",
    )
    links = ["--find-links", tmp_path, "--find-links", distributions["wheel"].parent]
    python = ["--python", sys.executable, "--project", tmp_path]
    env = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(tmp_path / ".venv")}  # uv 0.5 takes the one that it runs in
    run_checked(sys.executable, "-m", "uv", "sync", "--all-extras", "--offline", "--no-index", *python, *links, env=env)
    installed = run_checked(sys.executable, "-m", "uv", "pip", "list", "--python", tmp_path / ".venv")
    assert "onnxruntime" in installed
    assert "directml" not in installed
