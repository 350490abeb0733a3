"""A Node.js program that npm installs the packages for: passing, and failing where a package is broken."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from tests.client import CONFIG, write_client

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


@pytest.fixture
def project(tmp_path):
    folder = write_client(tmp_path, latebind=CONFIG + TABLES)
    (folder / "node").mkdir()
    (folder / "node" / "package.json").write_text('{"main": "smoke.mjs", "dependencies": {"koffi": "^3"}}')
    (folder / "node" / "smoke.mjs").write_text(PROGRAM.replace("EXPECTED", "5"))
    return folder


def run_verify(latebind, folder, *more, env=None):
    """The outcome of the one test case, its reason, and all that was printed."""
    ended = latebind("-C", folder, "verify", "--target", "linux-x64", "-k", "*/node/*/works", *more, env=env)
    report = json.loads((folder / "reports" / "verify.json").read_text("utf-8"))
    (case,) = report["cases"]
    if case.get("reason") == "no-index":
        pytest.skip("not run: the npm registry cannot be reached")
    return case["outcome"], f"{case.get('reason', '')} {case.get('summary', '')}", ended


def rewritten(tarball, change):
    """Change the package.json of a tarball."""
    with tarfile.open(tarball) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
    document = json.loads(files["package/package.json"])
    change(document)
    files["package/package.json"] = json.dumps(document).encode()
    with tarfile.open(tarball, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_it_is_installed_without_scripts_and_computes(project, latebind):
    outcome, text, _ = run_verify(latebind, project)
    assert (outcome, "1 case passed" in text) == ("passed", True)


def test_a_wrong_number_fails_it(project, latebind):
    (project / "node" / "smoke.mjs").write_text(PROGRAM.replace("EXPECTED", "6"))
    outcome, text, _ = run_verify(latebind, project)
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
    assert latebind("-C", project, "pack", "--target", "linux-x64").returncode == 0
    rewritten(project / "dist" / f"acme-tiny{part}-1.2.3.tgz", lambda document: document.update(change))
    outcome, text, _ = run_verify(latebind, project, "--dist", project / "dist")
    assert (outcome, says in text) == ("failed", True), text


@pytest.mark.parametrize(
    ("text", "says"),
    [("{}", "`main`"), ('{"main": "a.mjs", "dependencies": []}', "$.dependencies"), ("[" * 5000, "package.json")],
    ids=["no main", "dependencies", "depth"],
)
def test_a_wrong_package_json_of_the_program_is_named(project, latebind, text, says):
    (project / "node" / "package.json").write_text(text)
    outcome, reason, _ = run_verify(latebind, project)
    assert (outcome, says in reason, "Write at least" in reason) == ("failed", True, True), reason
