"""The build backend that an sdist carries: complete, alone, and with the compiler that the installing machine has."""

import io
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import msgspec
import pytest
from packaging.requirements import Requirement

from latebind import __version__
from latebind.ecosystems.wheel.buildsystem import (
    ABI3_REQUIREMENT,
    BACKEND_REQUIREMENTS,
    BUILD_BACKEND,
    carried_backend,
    refuse_missing_requirements,
    required_backend,
    sdist_pyproject,
)
from latebind.errors import BuildError
from tests.support.building import ROOT
from tests.support.client import PYPROJECT, by_kind, pack_project, write_client
from tests.support.running import run_checked, run_program

ZIG = "ziglang==0.17.0"
SYSTEM = f"/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin"
ASK = (
    "import sys; sys.path[:0] = ['_latebind']; from latebind.backend import pep517 as backend; import latebind;"
    "print(latebind.__file__, *backend.get_requires_for_build_wheel(dict(row.split('=') for row in sys.argv[1:])))"
)
"""Calls a hook as an installer does, which shows the backend's own words."""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return by_kind(pack_project(write_client(tmp_path_factory.mktemp("client") / "tiny")))["sdist"]


@pytest.fixture
def source_tree(sdist, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (root,) = (tmp_path / "unpacked").iterdir()
    return root


def environment(path=SYSTEM, **more):
    return {**{key: value for key, value in os.environ.items() if not key.startswith("LATEBIND")}, "PATH": path, **more}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python with what an sdist requires, and nothing else."""
    folder = tmp_path_factory.mktemp("bare") / "env"
    run_checked(sys.executable, "-m", "uv", "venv", "--quiet", folder)
    python = folder / "bin" / "python"
    run_checked(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *BACKEND_REQUIREMENTS)
    return python


def ask_backend(python, root, *settings, path=SYSTEM, **env):
    """What the backend of an unpacked sdist wants to have installed."""
    return run_program(python, "-c", ASK, *settings, cwd=root, env=environment(path, **env))


def only(folder, *programs):
    """A folder for PATH with links to a few of the system's programs."""
    folder.mkdir()
    for name in programs:
        (folder / name).symlink_to(shutil.which(name, path=SYSTEM))
    return str(folder)


def table(text):
    return msgspec.toml.decode(text)["build-system"]


# ---- what an sdist carries -------------------------------------------------------------------------------------------


@pytest.mark.builds
def test_an_sdist_requires_nothing_that_is_not_on_an_index(source_tree):
    system = table((source_tree / "pyproject.toml").read_text())
    assert system == {
        "requires": list(BACKEND_REQUIREMENTS),
        "build-backend": BUILD_BACKEND,
        "backend-path": ["_latebind"],
    }


@pytest.mark.builds
def test_the_sdist_carries_the_backend_alone_and_its_license(source_tree):
    folder = source_tree / "_latebind"
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    info = f"latebind-{__version__}.dist-info"
    assert {f"{info}/entry_points.txt", f"{info}/METADATA", "recipe.json"} <= names
    assert {"latebind/backend/pep517.py", "latebind/backend/targets.toml"} <= names
    packages = {name.split("/")[1] for name in names if name.startswith("latebind/")}
    assert packages == {"__init__.py", "backend"}
    assert (folder / info / "licenses/LICENSE").read_text().startswith("MIT License")


def test_the_backend_is_small():
    """It is in each sdist of each project: at most 40 modules with 5,000 lines, 70 kB in an archive."""
    modules = [data for name, data in carried_backend().items() if name.endswith(".py")]
    assert len(modules) <= 40
    assert sum(data.count(b"\n") for data in modules) <= 5_000
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in carried_backend().items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    assert packed.tell() <= 70_000


@pytest.mark.builds
def test_the_backend_of_the_sdist_imports_what_it_requires(bare, source_tree):
    """Each of its modules, in an environment with its requirements alone."""
    folder = source_tree / "_latebind"
    modules = [path.relative_to(folder).with_suffix("") for path in (folder / "latebind").rglob("*.py")]
    names = ", ".join(".".join(path.parts).removesuffix(".__init__") for path in modules)
    run_checked(bare, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); import {names}", env=environment())


@pytest.mark.builds
def test_the_sdist_of_an_unpacked_sdist_is_the_same(sdist, source_tree, tmp_path):
    run_checked(
        sys.executable,
        "-m",
        "build",
        "--sdist",
        "--no-isolation",
        "-o",
        tmp_path / "out",
        source_tree,
        env=environment(),
    )
    (again,) = (tmp_path / "out").iterdir()
    with tarfile.open(sdist) as first, tarfile.open(again) as second:
        assert {member.name: member.chksum for member in first} == {member.name: member.chksum for member in second}


# ---- pyproject.toml --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requires", "remaining"),
    [
        ('["hatchling>=1.29", "latebind>=0.1"]', []),
        ('["hatchling", "latebind"]', []),
        ('["hatchling>=1.30", "latebind", "nanobind>=3.1"]', ["hatchling>=1.30", "nanobind>=3.1"]),
        ('["hatchling", "msgspec==0.20"]', ["msgspec==0.20"]),
        ('["hatchling", "?"]', ["?"]),
    ],
)
def test_requirements_of_the_project_stay(tmp_path, requires, remaining):
    file = tmp_path / "pyproject.toml"
    file.write_text(PYPROJECT.replace('["hatchling", "latebind>=0.1"]', requires))
    assert table(sdist_pyproject(file))["requires"] == [*BACKEND_REQUIREMENTS, *remaining]


def test_the_backend_of_modules_for_the_stable_abi_requires_its_table(tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text(PYPROJECT)
    assert [need for need in table(sdist_pyproject(file, "cp310-abi3"))["requires"] if "abi3info" in need]
    assert not [need for need in table(sdist_pyproject(file, "cpython"))["requires"] if "abi3info" in need]


def test_an_sdist_may_require_latebind_by_name(tmp_path):
    """Of this version or newer, but not of the next minor one, whose recipes may differ."""
    file = tmp_path / "pyproject.toml"
    file.write_text(PYPROJECT)
    system = table(sdist_pyproject(file, "cp310-abi3", "required"))
    assert system == {"requires": ["hatchling>=1.29,<2", required_backend()], "build-backend": BUILD_BACKEND}
    need = Requirement(required_backend())
    major, minor = map(int, __version__.split(".")[:2])
    assert (need.name, need.specifier.contains(__version__)) == ("latebind", True)
    assert not need.specifier.contains(f"{major}.{minor + 1}.0")


def test_every_other_line_stays(tmp_path):
    file = tmp_path / "pyproject.toml"
    head, rest = PYPROJECT.split("\n\n", 1)
    file.write_text(f"# mine\n[tool.other]\nx = 1\n\n{head}\n\n{rest}", encoding="utf-8-sig")
    written = sdist_pyproject(file)
    assert written.startswith("# mine\n[tool.other]\nx = 1\n\n[build-system] # by latebind")
    assert written.endswith(rest)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            '"hatchling.build"',
            '"setuptools.build_meta"',
            "built by setuptools.build_meta, which does not run latebind",
        ),
        ('"hatchling.build"', '"hatchling.build"\nbackend-path = ["."]', "cannot have a backend-path"),
        ('build-backend = "hatchling.build"\n', "", "built by setuptools, which does not run"),
    ],
)
def test_another_build_system_is_refused(tmp_path, old, new, says):
    file = tmp_path / "pyproject.toml"
    file.write_text(PYPROJECT.replace(old, new))
    with pytest.raises(BuildError) as caught:
        sdist_pyproject(file)
    assert says in str(caught.value)


def test_the_former_plugin_is_refused_and_not_to_be_installed(tmp_path):
    """A name that is on no index: advice to install it would be advice to run the code of its next owner."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT.replace("latebind>=0.1", "latebind-build"))
    with pytest.raises(BuildError, match="latebind-build, which no longer exists") as caught:
        refuse_missing_requirements(tmp_path)
    assert "pip install" not in str(caught.value)


# ---- the compiler ----------------------------------------------------------------------------------------------------


@pytest.mark.builds
def test_the_machines_compiler_needs_no_download(bare, source_tree):
    ended = ask_backend(bare, source_tree)
    module_path, *requirements = ended.stdout.split()
    assert Path(module_path).is_relative_to(source_tree)
    assert requirements == []


@pytest.mark.builds
def test_what_a_machine_without_any_tool_lacks_is_required(bare, source_tree, tmp_path):
    ended = ask_backend(bare, source_tree, path=only(tmp_path / "bin"), CC="")
    assert ended.stdout.split()[1:] == ["cmake>=3.30", "ninja>=1.10", ZIG]


@pytest.mark.builds
@pytest.mark.parametrize(("settings", "env"), [(("toolchain=zig",), {}), ((), {"LATEBIND_TOOLCHAIN": "zig"})])
def test_zig_is_required_where_it_is_chosen(bare, source_tree, settings, env):
    assert ask_backend(bare, source_tree, *settings, **env).stdout.split()[1:] == [ZIG]


@pytest.mark.builds
@pytest.mark.parametrize(("programs", "requirements"), [(("cc", "c++"), []), (("cc",), [ZIG])])
def test_cxx_sources_need_a_cxx_compiler(bare, source_tree, tmp_path, programs, requirements):
    (source_tree / "native" / "more.cpp").write_text("int more() { return 1; }\n")
    path = only(tmp_path / "bin", "cmake", "ninja", *programs)
    assert ask_backend(bare, source_tree, path=path, CC="", CXX="").stdout.split()[1:] == requirements


@pytest.mark.builds
@pytest.mark.parametrize(
    ("settings", "env", "says"),
    [
        ((), {"LATEBIND_TOOLCHAIN": "gcc"}, "LATEBIND_TOOLCHAIN: 'gcc' is not a toolchain"),
        ((), {"LATEBIND_TOOLCHAIN": "host", "CC": "nocc"}, "no C compiler (nocc) is on PATH"),
        (("toolchain=gcc",), {}, "--config-settings: 'gcc' is not a toolchain"),
        (("compiler=zig",), {}, "--config-settings: unknown setting compiler"),
        (("toolchain=host",), {"LATEBIND_TOOLCHAIN": "zig", "CC": "nocc"}, "or set LATEBIND_TOOLCHAIN=zig"),
    ],
)
def test_a_wrong_choice_is_an_error_without_a_traceback(bare, source_tree, settings, env, says):
    ended = ask_backend(bare, source_tree, *settings, **env)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.builds
@pytest.mark.parametrize(
    ("settings", "env", "tag"),
    [
        ((), {}, "linux_x86_64"),
        (("--config-setting", "toolchain=zig"), {}, "manylinux_2_28_x86_64"),
        ((), {"LATEBIND_TOOLCHAIN": "zig"}, "manylinux_2_28_x86_64"),
    ],
)
def test_the_tag_says_where_the_wheel_runs(source_tree, tmp_path, settings, env, tag):
    """This environment has an editable latebind, too: the sdist's own copy comes first."""
    out = tmp_path / "out"
    arguments = ["build", "--wheel", "--no-isolation", "-o", out, *settings, source_tree]
    run_checked(sys.executable, "-m", *arguments, env=environment(**env))
    (wheel,) = out.iterdir()
    assert wheel.name == f"tiny-1.2.3-py3-none-{tag}.whl"


@pytest.mark.builds
def test_a_tree_is_built_with_the_compiler_that_a_user_chooses(tiny, tmp_path):
    arguments = ["build", "--wheel", "--no-isolation", "-x", "-o", tmp_path / "out", tiny / "python" / "tiny"]
    for toolchain in ("host", "zig"):
        run_checked(sys.executable, "-m", *arguments, env=environment(LATEBIND_TOOLCHAIN=toolchain))
    tags = {wheel.stem.partition("-none-")[2] for wheel in (tmp_path / "out").iterdir()}
    assert tags == {"linux_x86_64", "manylinux_2_28_x86_64"}


@pytest.mark.builds
def test_packing_takes_the_compiler_of_the_configuration_alone(tiny, monkeypatch):
    monkeypatch.setenv("LATEBIND_TOOLCHAIN", "host")
    assert "manylinux" in by_kind(pack_project(tiny))["wheel"].name


@pytest.mark.slow
def test_pip_installs_a_new_project_offline_with_the_machines_compiler(latebind, tmp_path):
    """No index, no zig, no latebind: hatchling and three small libraries in a folder, and the compiler."""
    assert latebind("new", tmp_path / "fresh").returncode == 0
    assert latebind("-C", tmp_path / "fresh", "pack", "--target", "linux-x64").returncode == 0
    (sdist,) = (tmp_path / "fresh" / "dist").glob("*.tar.gz")
    links = tmp_path / "links"
    run_checked(sys.executable, "-m", "pip", "download", "--quiet", "--dest", links, *BACKEND_REQUIREMENTS)
    run_checked(sys.executable, "-m", "virtualenv", "--quiet", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    env = environment(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(links), PIP_NO_CACHE_DIR="1")
    printed = run_checked(python, "-m", "pip", "install", "--no-deps", "--verbose", sdist, env=env)
    assert "filename=fresh-0.1.0-py3-none-linux_x86_64.whl" in printed
    assert run_checked(python, "-c", "import fresh; print(fresh.__name__)", cwd=tmp_path) == "fresh\n"


@pytest.mark.builds
def test_an_sdist_without_its_backend_is_not_built(source_tree, tmp_path):
    shutil.rmtree(source_tree / "_latebind" / "latebind" / "backend")
    ended = run_program(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path, source_tree, env=environment()
    )
    assert ended.returncode != 0


@pytest.mark.builds
def test_the_wheel_of_the_sdist_has_nothing_of_the_backend(source_tree, tmp_path):
    run_checked(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path / "o", source_tree, env=environment()
    )
    (wheel,) = (tmp_path / "o").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if "latebind/" in name]


def test_all_pin_the_same_stable_abi():
    own, auditor = (
        msgspec.toml.decode((ROOT / path).read_bytes())["project"]["dependencies"]
        for path in ("pyproject.toml", "loadcheck/pyproject.toml")
    )
    assert ABI3_REQUIREMENT in own
    assert ABI3_REQUIREMENT in auditor
