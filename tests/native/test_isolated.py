"""Isolated builds, as users run them: `python -m build` and `pip install`, from the tree and from the sdist.

The tree's build system is latebind, which is on no index yet and comes from a folder (`--find-links`). An sdist has its
own: latebind, Jinja2 and rich are not in its environments. Or it requires latebind by name, from an index that has it.
"""

import hashlib
import os
import sys
import tarfile
import zipfile
from contextlib import contextmanager

import pytest

from latebind.config.file import load
from latebind.ecosystems.publishing import RehearsalInputs
from latebind.ecosystems.wheel.buildsystem import BACKEND_REQUIREMENTS
from latebind.ecosystems.wheel.publishing import open_pypi
from latebind.verify.run.installers import installer
from tests.support.client import by_kind, edit, pack_project, write_client
from tests.support.running import run_checked, run_program

ZIG = {"LATEBIND_TOOLCHAIN": "zig"}
"""An sdist is built with this machine's compiler otherwise, whose files differ."""

pytestmark = pytest.mark.slow


def run(*arguments, **environment):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("LATEBIND", "PYTHON"))}
    command = [str(argument) for argument in arguments]
    return run_checked(*command, env={**env, **environment})


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The folder of the wheel in a copy of the small project."""
    return write_client(tmp_path_factory.mktemp("tree") / "tiny") / "python" / "tiny"


@pytest.fixture(scope="module")
def distributions(links, tree, tmp_path_factory):
    """What `python -m build` makes of the tree: an sdist, and the wheel of that sdist."""
    out = tmp_path_factory.mktemp("built")
    settings = {"PIP_FIND_LINKS": str(links), "UV_FIND_LINKS": str(links), **ZIG}
    run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", out, tree, **settings)
    return out


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_build_from_tree_and_from_sdist_give_equal_wheels(distributions, links, tree, tmp_path):
    (from_sdist,) = distributions.glob("*.whl")
    settings = {"PIP_FIND_LINKS": str(links), "UV_FIND_LINKS": str(links)}
    run(sys.executable, "-m", "build", "--installer", "uv", "--wheel", "--outdir", tmp_path, tree, **settings)
    (from_tree,) = tmp_path.glob("*.whl")
    assert (from_tree.name, digest(from_tree)) == (from_sdist.name, digest(from_sdist))


def test_pip_installs_the_sdist_with_equal_results(distributions, tmp_path):
    """From a tree it is shown by test_pack.py."""
    (sdist,) = distributions.glob("*.tar.gz")
    (wheel,) = distributions.glob("*.whl")
    env = tmp_path / "env"
    run(sys.executable, "-m", "virtualenv", "--quiet", env)
    install = ["-m", "pip", "install", "--no-deps", "--target", tmp_path / "site"]
    run(env / "bin" / "python", *install, sdist, **ZIG)
    with zipfile.ZipFile(wheel) as archive:
        expected = {name: archive.read(name) for name in archive.namelist() if name.startswith("tiny/")}
    assert {name: (tmp_path / "site" / name).read_bytes() for name in expected} == expected


def test_the_sdist_is_built_without_latebind(distributions, tmp_path):
    (sdist,) = distributions.glob("*.tar.gz")
    env = tmp_path / "env"
    run(sys.executable, "-m", "uv", "venv", "--quiet", env)
    python = env / "bin" / "python"
    tools = ["build", "cmake", "ninja", "ziglang==0.17.0", *BACKEND_REQUIREMENTS]
    run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *tools)
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked")  # noqa: S202  # ours
    (source,) = (tmp_path / "unpacked").iterdir()
    run(python, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "out", source, **ZIG)
    (wheel,), (expected,) = (tmp_path / "out").glob("*.whl"), distributions.glob("*.whl")
    assert digest(wheel) == digest(expected)
    heavy = ("latebind", "lief", "jinja2", "rich", "shtab")
    probe = f"import importlib.util as u; print([name for name in {heavy} if u.find_spec(name)])"
    assert run(python, "-c", probe).strip() == "[]"


INDEXED = "tiny-of-latebinds-tests"


@pytest.fixture
def make_index(tmp_path):
    """Starts a package index on this machine with some files; the folder below is its own."""

    @contextmanager
    def make(config, files):
        folder = tmp_path / "index"
        folder.mkdir()
        tool = installer(tmp_path / "home")
        inputs = RehearsalInputs(config=config, folder=folder, python=sys.executable, tool=tool, rid="linux-x64")
        with open_pypi(inputs) as registry:
            for file in files:
                registry.upload(file)
            yield registry.place + "/simple/"

    return make


def pack_indexed(folder, backend):
    """The configuration and the sdist of a project whose name no other index has."""
    root = write_client(folder / "tiny")
    edit(
        root / "latebind.toml",
        'source = "python/tiny"',
        f'source = "python/tiny", name = "{INDEXED}", module_name = "tiny"',
    )
    edit(root / "latebind.toml", "[project]", f'[project]\nsdist_backend = "{backend}"')
    edit(root / "python/tiny/pyproject.toml", 'name = "tiny"', f'name = "{INDEXED}"')
    return load(root / "latebind.toml"), by_kind(pack_project(root))["sdist"]


def install_indexed(python, place):
    """What pip prints when it installs the project from that index, and what it requires from others as well."""
    others = run_program(python, "-m", "pip", "config", "get", "global.extra-index-url").stdout.split()
    env = {key: value for key, value in os.environ.items() if not key.startswith(("LATEBIND", "PYTHON"))}
    env["PIP_EXTRA_INDEX_URL"] = " ".join([place, *others])
    return run_program(python, "-m", "pip", "install", "--no-deps", INDEXED, env=env)


@pytest.mark.parametrize(("backend", "needs"), [("carried", ()), ("required", ("latebind", "loadcheck"))])
def test_pip_builds_the_sdist_from_an_index(make_index, links, tmp_path, backend, needs):
    config, sdist = pack_indexed(tmp_path, backend)
    wheels = [wheel for wheel in links.glob("*.whl") if wheel.name.startswith(needs)]
    assert len(wheels) == len(needs)
    run(sys.executable, "-m", "virtualenv", "--quiet", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    with make_index(config, [sdist, *wheels]) as place:
        ended = install_indexed(python, place)
    assert ended.returncode == 0, ended.stderr
    assert run(python, "-c", "import tiny; print(tiny.__name__)") == "tiny\n"


def test_an_sdist_that_requires_latebind_needs_an_index_that_has_it(make_index, tmp_path):
    config, sdist = pack_indexed(tmp_path, "required")
    run(sys.executable, "-m", "virtualenv", "--quiet", tmp_path / "env")
    with make_index(config, [sdist]) as place:
        ended = install_indexed(tmp_path / "env" / "bin" / "python", place)
    assert ended.returncode != 0
    assert "No matching distribution found for latebind" in ended.stderr
