"""How often a command reads the configuration, and what it makes of one that is edited while it runs."""

import json
import os
import subprocess
import sys

import pytest

from latebind.config.project import DIGEST_VARIABLE, find_project, read_project
from latebind.errors import InputError
from tests.support.client import CMAKE, CONFIG, member, write_client

WITHOUT_WHEEL = CONFIG.replace('wheel = { source = "python/tiny" }\n', "")
EDIT = """\
file(READ "${CMAKE_SOURCE_DIR}/../latebind.toml" text)
string(REPLACE "1.2.3" "9.9.9" text "${text}")
file(WRITE "${CMAKE_SOURCE_DIR}/../latebind.toml" "${text}")
"""
COUNTING = """\
import sys
watched, opened = sys.argv.pop(1), []
sys.addaudithook(lambda event, details: event == "open" and details[0] == watched and opened.append(event))
from latebind.cli import main
try:
    sys.exit(main())
finally:
    print(f"read {len(opened)} times", file=sys.stderr)
"""


def count_readings(project, *arguments, file="latebind.toml"):
    """How often a command opens the configuration, in its own process; and the command's exit status."""
    argv = [sys.executable, "-c", COUNTING, project / file, "-C", project, *arguments]
    ended = subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=300, check=False)
    return int(ended.stderr.rpartition("read ")[2].split()[0]), ended.returncode


@pytest.fixture(scope="module")
def verified(tmp_path_factory):
    """A project with packages and a report, and the readings and exit status of the commands that made them."""
    project = write_client(
        tmp_path_factory.mktemp("read") / "tiny", latebind=f'{CONFIG}[verify]\npython = "verify/smoke.py"\n'
    )
    (project / "verify").mkdir()
    (project / "verify/smoke.py").write_text("", encoding="utf-8")
    (project / "CHANGELOG.md").write_text("## [1.2.3] - 2026-01-01\n\n- New.\n", encoding="utf-8")
    return project, {command: count_readings(project, command) for command in ("pack", "verify", "audit")}


@pytest.mark.builds
@pytest.mark.parametrize("command", ["pack", "verify", "audit"])
def test_a_command_reads_the_configuration_once(verified, command):
    _, readings = verified
    assert readings[command][0] == 1


@pytest.mark.builds
def test_a_release_reads_the_configuration_once(verified, tmp_path):
    assert count_readings(verified[0], "release", "--dry-run", "--output", tmp_path / "out") == (1, 1)  # no commit


def test_a_pyproject_is_read_once_more_to_see_whether_it_has_the_table(tmp_path):
    text = CONFIG.replace("[package.tiny]", "[tool.latebind.package.tiny]")
    for name in ("project", "native", "targets"):
        text = text.replace(f"[{name}]", f"[tool.latebind.{name}]")
    project = write_client(tmp_path / "tiny", latebind="")
    (project / "latebind.toml").unlink()
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    assert count_readings(project, "plan", "--target", "linux-x64", file="pyproject.toml") == (2, 0)


@pytest.mark.builds
def test_packages_are_made_of_the_configuration_that_was_there_when_packing_began(latebind, tmp_path):
    project = write_client(tmp_path / "tiny", latebind=WITHOUT_WHEEL, cmakelists=CMAKE + EDIT)
    ended = latebind("-C", project, "pack", "--target", "linux-x64", "--format", "json")
    assert ended.returncode == 0, ended.stderr
    assert "9.9.9" in (project / "latebind.toml").read_text("utf-8")
    (package,) = json.loads(ended.stdout)["packages"]
    assert package["file"] == "Tiny.1.2.3.nupkg"
    assert b"<version>1.2.3</version>" in member(project / "dist" / package["file"], ".nuspec")


@pytest.mark.builds
def test_a_wheel_whose_backend_reads_another_configuration_is_refused(latebind, tmp_path):
    project = write_client(tmp_path / "tiny", cmakelists=CMAKE + EDIT)
    ended = latebind("-C", project, "pack", "--target", "linux-x64")
    assert ended.returncode != 0
    assert "changed while latebind packed it" in ended.stderr
    assert "latebind.toml" in ended.stderr
    assert not list((project / "dist").glob("*.whl"))


def test_packages_and_reports_are_in_the_working_folder(tiny, tmp_path):
    project = read_project(*find_project(tiny, tmp_path / "work"))
    work = (tmp_path / "work").resolve()
    assert (project.dist, project.reports) == (work / "dist", work / "reports")
    assert project.dist in project.outputs
    assert tiny.resolve() / "dist" in project.outputs  # so that sources have one hash wherever they are packed


def test_a_backend_refuses_another_configuration_than_the_command_above_it_has_read(tiny, monkeypatch):
    file, workdir = find_project(tiny)
    project = read_project(file, workdir)
    monkeypatch.setenv(DIGEST_VARIABLE, project.config.digest)
    assert read_project(file, workdir) == project
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"# edited{os.linesep}")
    with pytest.raises(InputError, match="changed while latebind packed it"):
        read_project(file, workdir)
