"""Advice of kinds of packages and of their consumers: what a message names is changed, and the command succeeds."""

from __future__ import annotations

import shutil

import pytest

from latebind.pack.record import RECORD
from testing.needs import dotnet_environment, require_programs
from tests.advice.following import list_options
from tests.advice.test_release import CONFIGURED
from tests.client import CONFIG, edit, write_client, write_files
from tests.ecosystems.nuget.test_managed import write_package, write_project
from tests.programs import assert_success
from tests.test_inventory import wheel
from tests.verify.test_unplugged import BEGIN, GOOD

pytestmark = [pytest.mark.slow, pytest.mark.builds]

thing_wheel = wheel
MANAGED = CONFIG.replace('{ id = "Tiny" }', '{ id = "Tiny", managed = "dotnet/Plain" }')
NODE = CONFIG + '\n[package.tiny.npm]\nname = "@acme/tiny"\n\n[verify]\nnode = "node"\n'
PROGRAM = """\
import fs from 'node:fs';
import { libraryPath } from '@acme/tiny';
const words = process.argv.slice(2);
const result = { passed: ['found'], failed: [], libraries: [libraryPath()] };
fs.writeFileSync(words[words.indexOf('--out') + 1], JSON.stringify(result));
"""


@pytest.mark.parametrize("change", ["a second file", "no file"])
@pytest.mark.advice("In package.<name>.nuget.managed, name a folder with exactly one .csproj.")
def test_a_managed_project_of_another_number(tmp_path, start_in, advised, change):
    environment = dotnet_environment()
    project = write_client(tmp_path / "tiny", latebind=MANAGED)
    file = write_project(project / "dotnet/Plain") / "Plain.csproj"
    other = file.with_name("Other.csproj")
    shutil.copy(file, other) if change == "a second file" else file.rename(file.with_suffix(".old"))
    assert advised(start_in("pack", at=project, env=environment))
    other.unlink() if change == "a second file" else file.with_suffix(".old").rename(file)
    assert_success(start_in("pack", at=project, env=environment))


@pytest.mark.parametrize("choice", ["write", "remove"])
@pytest.mark.advice(
    'If only the build needs the package, write PrivateAssets="all". Otherwise remove the reference: the NuGet package '
    "requires only the package in nuget.runtime and those in `requires`."
)
def test_a_managed_project_that_references_a_package(tmp_path, start_in, advised, choice):
    environment = dotnet_environment()
    project = write_client(tmp_path / "tiny", latebind=MANAGED)
    reference = '<PackageReference Include="Tools" Version="1.2.0" />'
    folder = write_project(project / "dotnet/Plain", reference)
    write_package(folder.parent / "feed", "Tools", "1.2.0", {"lib/netstandard2.0/_._": ""})
    advice = advised(start_in("pack", at=project, env=environment))
    setting = advice.partition("write ")[2].partition(". ")[0]
    edit(folder / "Plain.csproj", reference, reference.replace(" />", f" {setting} />") if choice == "write" else "")
    assert_success(start_in("pack", at=project, env=environment))


@pytest.mark.advice(
    "In the wheel's pyproject.toml, let [tool.hatch.build.targets.sdist] select it, without `sources` for it."
)
def test_an_sdist_without_its_pyproject(tiny, start_in, advised):
    file = tiny / "python/tiny/pyproject.toml"
    settings = file.read_text("utf-8")
    file.write_text(f'{settings}\n[tool.hatch.build.targets.sdist.sources]\n"" = "inner"\n', encoding="utf-8")
    assert advised(start_in("pack", at=tiny))
    file.write_text(settings, encoding="utf-8")
    assert_success(start_in("pack", at=tiny))


@pytest.mark.advice('Correct "main" of verify.node\'s package.json.')
def test_a_program_for_node_that_is_not_there(tmp_path, start_in, advised):
    require_programs("node", "npm")
    project = write_client(tmp_path / "tiny", latebind=NODE)
    write_files(project, {"node/package.json": '{"main": "smok.mjs"}', "node/smoke.mjs": PROGRAM})
    refused = start_in("verify", "-k", "npm/*/node/*/works", at=project)
    assert refused.returncode == 1
    assert advised(refused)
    edit(project / "node/package.json", "smok.mjs", "smoke.mjs")
    assert_success(start_in("verify", "-k", "npm/*/node/*/works", at=project))


@pytest.mark.advice("{}\n  help: --part {}@VERSION")
def test_a_part_of_unknown_version(thing_wheel, tmp_path, start_in, advised):
    words = ("sbom", thing_wheel, "--output", tmp_path / "out")
    printed = start_in(*words, at=tmp_path)
    assert list_options(advised(printed)) == ["--part"]
    part = advised(printed).rpartition("--part ")[2].replace("VERSION", "1.2.3")
    again = start_in(*words, "--force", "--part", part, at=tmp_path)
    assert f"contains {part.partition('@')[0]}, but its version" not in again.stderr
    assert "1.2.3" in assert_success(again)


@pytest.fixture
def computing(tmp_path):
    """A small project that verifies its wheel."""
    project = write_client(tmp_path / "tiny", latebind=CONFIGURED)
    write_files(project, {"smoke.py": BEGIN + GOOD})
    return project


@pytest.mark.advice(
    "verifying the packages in dist/ as they are, because they were not packed here (to pack: latebind pack)"
)
def test_packages_of_another_build(computing, start_in, follow):
    assert_success(start_in("pack", at=computing))
    (computing / "dist" / RECORD).unlink()
    verified = start_in("verify", "-k", "works", at=computing)
    assert_success(verified)
    assert_success(follow(verified, at=computing))
    assert "as they are" not in start_in("verify", "-k", "works", at=computing).stderr
