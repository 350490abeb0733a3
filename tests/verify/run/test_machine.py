"""Machine files: what they say, what is refused and how, and the names that files of ours have elsewhere."""

from __future__ import annotations

import platform
import sys
from pathlib import Path, PurePosixPath

import pytest
from msgspec import structs

from latebind.backend.targets import host_rid
from latebind.errors import InputError, NotRun, ToolError
from latebind.system.run import run
from latebind.verify.run.installers import foreign_installer, installer, uv_platform
from latebind.verify.run.machine import Machine, host_machine, machines, machines_folder, unusable
from tests.support.running import not_run

GOOD = """\
rid = "win-x64"
title = "wine 8.0 with CPython 3.11.9"
command = ["wine.py", "DEST", "--"]
python = "{python}"
python_version = "3.11.9"
path_prefix = "Z:"
platforms = ["win_amd64"]
constraints = ["numpy<2.1"]
"""


def write(folder, text=GOOD, name="win-x64.toml"):
    (folder / name).write_text(text.replace("{python}", sys.executable), encoding="utf-8")
    return folder


def wine(**changed):
    values = {"rid": "win-x64", "title": "", "command": ("wine", "--"), "python": Path("/p/python.exe")}
    return Machine(
        **{**values, "python_version": "3.11.9", "path_prefix": "Z:", "platforms": ("win_amd64",), **changed}
    )


def arm(python=Path("/root/usr/bin/python")):
    tags = ("manylinux_2_36_aarch64",)
    return Machine(
        rid="linux-arm64", title="", command=("qemu",), python=python, python_version="3.11.2", platforms=tags
    )


def test_a_file_is_read(tmp_path):
    (machine,) = machines(write(tmp_path)).values()
    assert (machine.rid, machine.title) == ("win-x64", "wine 8.0 with CPython 3.11.9")
    assert (machine.command, machine.python) == (("wine.py", "DEST", "--"), Path(sys.executable))
    assert (machine.platforms, machine.constraints, machine.jobs) == (("win_amd64",), ("numpy<2.1",), 0)
    assert not machine.is_host


def test_a_machine_for_machine_code_alone_needs_no_python(tmp_path):
    text = 'rid = "osx-arm64"\ntitle = "a processor"\ncommand = ["run"]\nlevel = "glue"\n'
    (machine,) = machines(write(tmp_path, text, "osx-arm64.toml")).values()
    assert (machine.level, machine.python_version) == ("glue", "")
    with pytest.raises(InputError, match="python: not allowed for a machine of the level glue"):
        machines(write(tmp_path, text + 'python = "{python}"\n', "osx-arm64.toml"))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('rid = "win-x64"', 'rid = "win-x86"', "rid: win-x86 is not a target; use one of linux-x64"),
        ('rid = "win-x64"', "", "missing required field `rid`"),
        ('title = "wine 8.0 with CPython 3.11.9"', "title = 8", "Expected `str`, got `int` - at `$.title`"),
        ('command = ["wine.py", "DEST", "--"]', "command = []", "command: must not be empty"),
        ('platforms = ["win_amd64"]', "platforms = []", "platforms: must not be empty"),
        ('"3.11.9"', '"3.11"', "python_version: 3.11 is not of the form 3.11.9"),
        ('"{python}"', '"python.exe"', "python: python.exe is not an absolute path"),
        ('"{python}"', '"/nowhere/python.exe"', "/nowhere/python.exe is not a file; the machine may have been moved"),
        ("path_prefix", "prefix", "unknown field `prefix`"),
        ("path_prefix", "jobs = -1\npath_prefix", "jobs: -1 is less than 0"),
        ("rid =", "rid", "not a machine file"),
        ("wine 8.0", "wine \0", "not a machine file"),
    ],
)
def test_a_bad_file_is_refused_with_what_is_wrong(tmp_path, old, new, says):
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        machines(write(tmp_path, GOOD.replace(old, new, 1)))
    assert says in str(caught.value)
    assert caught.value.where == str(tmp_path / "win-x64.toml")
    assert caught.value.advice.endswith("/docs/verify.md#machines describes.")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not a machine file"):
        machines(tmp_path)


def test_two_files_for_one_target_are_refused(tmp_path):
    write(write(tmp_path), name="other.toml")
    with pytest.raises(InputError, match="another file also describes win-x64"):
        machines(tmp_path)


def test_there_may_be_none(tmp_path):
    assert machines(None) == {}
    assert machines(tmp_path) == {}


def test_where_the_files_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("LATEBIND_MACHINES", raising=False)
    assert machines_folder(None, tmp_path) is None
    (tmp_path / ".machines").mkdir()
    assert machines_folder(None, tmp_path) == tmp_path / ".machines"
    (tmp_path / "named").mkdir()
    monkeypatch.setenv("LATEBIND_MACHINES", str(tmp_path / "named"))
    assert machines_folder(None, tmp_path) == tmp_path / "named"
    assert machines_folder(tmp_path, tmp_path) == tmp_path


def test_a_named_folder_must_be_there(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="--machines does not name an existing folder"):
        machines_folder(tmp_path / "gone", tmp_path)
    monkeypatch.setenv("LATEBIND_MACHINES", str(tmp_path / "gone"))
    with pytest.raises(InputError, match="LATEBIND_MACHINES does not name"):
        machines_folder(None, tmp_path)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("/home/a b/ä.dll", r"Z:\home\a b\ä.dll"), ("/", "Z:\\"), ("/日本/x", r"Z:\日本\x")],
)
def test_names_of_files_there_and_back(ours, theirs):
    assert wine().path(Path(ours)) == theirs
    assert wine().local(theirs) == Path(ours)
    assert wine().local(theirs.replace("Z:", "z:")) == Path(ours)
    assert arm().path(Path(ours)) == ours
    assert arm().local(ours) == Path(ours)


def test_a_file_of_the_other_system_keeps_its_name():
    assert str(wine().local(r"C:\windows\system32\x.dll")) == r"C:\windows\system32\x.dll"


def test_paths_among_words_are_translated_and_the_program_is_not():
    assert wine().argv(Path("/p/python.exe"), "-I", Path("/a/b.py"), "/a") == [
        "wine", "--", "/p/python.exe", "-I", r"Z:\a\b.py", "/a",
    ]  # fmt: skip


def test_this_machine_needs_no_command():
    machine = host_machine(Path(sys.executable))
    assert (machine.is_host, machine.rid, machine.python_version) == (True, host_rid(), platform.python_version())
    done = run(machine.argv(machine.python, "-I", "-c", "import sys; print(sys.argv[1])", Path(__file__)))
    assert done.output.strip() == str(PurePosixPath(__file__))


def test_a_machine_with_another_python_than_its_file_states_is_unusable(tmp_path):
    machine = structs.replace(arm(Path(sys.executable)), command=("env",), python_version=platform.python_version())
    assert unusable([machine], tmp_path) == {}

    trouble = unusable([structs.replace(machine, python_version="3.0.99")], tmp_path)["linux-arm64"]

    assert trouble.reason == "no-machine"
    assert f"printed {platform.python_version()} as its version" in trouble.message


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("win_amd64", "x86_64-pc-windows-msvc"),
        ("win_arm64", "aarch64-pc-windows-msvc"),
        ("manylinux_2_36_aarch64", "aarch64-manylinux_2_36"),
    ],
)
def test_uvs_name_of_a_platform(tag, name):
    assert uv_platform(wine(platforms=(tag,))) == name


def test_a_platform_that_uv_does_not_know_is_told():
    with not_run("no-machine"):
        uv_platform(wine(platforms=("plan9_mips",)))


def test_an_environment_for_windows_is_laid_out(tmp_path):
    python = tmp_path / "python"
    python.mkdir()
    for name in ("python.exe", "python311.dll", "notes.txt"):
        (python / name).write_text(name, encoding="utf-8")
    machine, folder = wine(python=python / "python.exe"), tmp_path / "an environment"
    foreign_installer(machine, installer(tmp_path)).create(folder, python, tmp_path / "log")
    assert sorted(path.name for path in (folder / "Scripts").iterdir()) == ["python.exe", "python311.dll"]
    assert machine.site_packages(folder).is_dir()
    home = "Z:" + str(python).replace("/", "\\")
    lines = (folder / "pyvenv.cfg").read_text("utf-8").splitlines()
    assert lines == [f"home = {home}", "include-system-site-packages = false", "version = 3.11.9"]


def test_wheels_of_the_machine_are_installed_and_held_back(tmp_path):
    machine, folder, log = wine(constraints=("numpy<2.1",)), tmp_path / "env", tmp_path / "log"
    tool = foreign_installer(machine, installer(tmp_path))
    machine.site_packages(folder).mkdir(parents=True)
    try:
        assert tool.resolve("numpy==2.0.*", machine.python) == "2.0.2"
    except NotRun as error:
        if error.reason == "no-index":
            pytest.skip(f"not run: {error.reason}")
        raise
    with not_run("no-distribution"):
        tool.resolve("numpy==2.2.*", machine.python)
    tool.install(folder, ["ml_dtypes"], log=log)
    site = machine.site_packages(folder)
    assert [path.name for path in site.glob("numpy-*.dist-info")] == ["numpy-2.0.2.dist-info"]
    assert list((site / "ml_dtypes").rglob("*.pyd"))
    with pytest.raises((NotRun, ToolError)):
        tool.install(folder, ["numpy>=2.2"], log=log)
