"""A Node.js program that npm installs the packages for: passing, and failing where a package is broken."""

from __future__ import annotations

import json
import os
import shutil
from functools import partial

import pytest

from latebind.ecosystems.npm.layouts import LAYOUTS
from latebind.system.archive import Entry, write_tar
from tests.ecosystems.conftest import verify_one
from tests.support.client import CONFIG, members, write_client
from tests.support.npm_tools import install_tools

pytestmark = pytest.mark.slow

TABLES = """
[package.tiny.npm]
name = "@acme/tiny"
dependencies = { koffi = "^3" }

[verify]
node = "node"
"""
PROGRAM = """\
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { libraryPath } from '@acme/tiny';

const words = process.argv.slice(2);
const out = words[words.indexOf('--out') + 1];
const koffi = createRequire(import.meta.url)('koffi');
const [result, status] = (() => {
  try {
    const add = koffi.load(libraryPath()).func('int tiny_add(int a, int b)');
    const right = add(2, 3) === EXPECTED;
    const rows = [{ name: 'adds', message: `2 + 3 is ${add(2, 3)}` }];
    return [{ passed: right ? ['adds'] : [], failed: right ? [] : rows, libraries: [libraryPath()] }, Number(!right)];
  } catch (error) {
    return [{ error: { message: error.message } }, 3];
  }
})();
fs.writeFileSync(out, JSON.stringify(result));
process.exitCode = status;
"""


def write_project(folder):
    write_client(folder, latebind=CONFIG + TABLES)
    (folder / "node").mkdir()
    (folder / "node" / "package.json").write_text('{"main": "smoke.mjs", "dependencies": {"koffi": "^3"}}')
    (folder / "node" / "smoke.mjs").write_text(PROGRAM.replace("EXPECTED", "5"))
    return folder


run_verify = partial(verify_one, case="node/*/works")


def change_manifest(tarball, change):
    """Change the package.json of a tarball."""
    files = members(tarball)
    document = json.loads(files["package/package.json"]) | change
    files["package/package.json"] = json.dumps(document).encode()
    write_tar(tarball, [Entry(name=name, data=data) for name, data in files.items()])


def test_it_is_installed_without_scripts_and_computes(project, latebind):
    outcome, text = run_verify(latebind, project)
    assert (outcome, "1 case passed" in text) == ("passed", True)


def test_a_wrong_number_fails_it(project, latebind):
    (project / "node" / "smoke.mjs").write_text(PROGRAM.replace("EXPECTED", "6"))
    outcome, text = run_verify(latebind, project)
    assert (outcome, "adds: 2 + 3 is 5" in text) == ("failed", True)


@pytest.mark.parametrize(
    ("part", "change", "says"),
    [
        ("-linux-x64", {"os": ["win32"]}, "@acme/tiny-linux-x64 is not installed"),
        ("-linux-x64", {"libc": ["musl"]}, "@acme/tiny-linux-x64 is not installed"),
        ("", {"dependencies": {"@acme/no-such-package": "1.0.0"}}, "@acme/no-such-package"),
        ("", {"exports": {".": "./absent.cjs"}}, "absent.cjs"),
    ],
    ids=["os", "libc", "dependency", "entry"],
)
def test_a_broken_package_fails_it(project, latebind, part, change, says):
    change_manifest(project / "dist" / f"acme-tiny{part}-1.2.3.tgz", change)
    outcome, text = run_verify(latebind, project, "--dist", project / "dist")
    assert (outcome, says in text) == ("failed", True), text


@pytest.mark.parametrize(
    ("text", "says"),
    [("{}", "`main`"), ('{"main": "a.mjs", "dependencies": []}', "$.dependencies"), ("[" * 5000, "package.json")],
    ids=["no main", "dependencies", "depth"],
)
def test_a_wrong_package_json_of_the_program_is_named(project, latebind, text, says):
    (project / "node" / "package.json").write_text(text)
    outcome, reason = run_verify(latebind, project)
    assert (outcome, says in reason, "Write at least" in reason) == ("failed", True, True), reason


@pytest.fixture(scope="module")
def tools(kept_builds, tmp_path_factory):
    """A folder with the installers' programs, for PATH."""
    modules, folder = install_tools(kept_builds), tmp_path_factory.mktemp("bin")
    files = {"pnpm": "pnpm/bin/pnpm.cjs", "yarn": "@yarnpkg/cli-dist/bin/yarn.js", "bun": ".bin/bun"}
    for name, file in files.items():
        words = f'exec {"" if name == "bun" else "node "}"{modules / file}"'
        (folder / name).write_text(f'#!/bin/sh\n{words} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("layout", [layout.name for layout in LAYOUTS])
def test_it_computes_in_each_layout(project, latebind, tools, layout):
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    outcome, text = run_verify(latebind, project, env={**os.environ, "PATH": path}, case=f"{layout}/*/consumed")
    assert (outcome, "1 case passed" in text) == ("passed", True), text


@pytest.mark.parametrize("what", ["absent", "too old"])
def test_a_layout_without_its_installer_is_not_run(project, latebind, tmp_path, what):
    folder = tmp_path / "bin"
    folder.mkdir()
    path = os.pathsep.join(
        part for part in os.environ["PATH"].split(os.pathsep) if shutil.which("yarn", path=part) is None
    )
    if what == "too old":
        (folder / "yarn").write_text("#!/bin/sh\necho 1.22.22\n")
        (folder / "yarn").chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{path}"}
    outcome, text = run_verify(latebind, project, env=env, case="node-yarn-pnp/*/consumed")
    says = "there is no yarn on PATH" if what == "absent" else "yarn 4 or newer is needed"
    assert (outcome, "no-program" in text, says in text) == ("not run", True, True), text
