"""npm's own tools on generated packages: publint, are-the-types-wrong, TypeScript, webpack and esbuild."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from tests.ecosystems.npm.test_pack import NPM, RIDS, RUNTIME, SOURCE, project, sources
from tests.support.client import pack_project
from tests.support.npm_tools import INSTALL, install
from tests.support.running import run_checked, run_program

TOOLS = ("publint@0.3", "@arethetypeswrong/cli@0.18", "typescript@5", "webpack@5", "webpack-cli@7", "esbuild@0.28")
TSC = ("--module", "nodenext", "--target", "es2022", "--esModuleInterop", "--noEmit")
CALL = "console.log(libraryPath());\n"
IMPORT = f'import {{ libraryPath }} from "@acme/tiny";\n{CALL}'
REQUIRE = f'const {{ libraryPath }} = require("@acme/tiny");\n{CALL}'

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    """The words that start one of the tools, which npm has installed in a folder of their own."""
    installed = install(tmp_path_factory.mktemp("tools"), *TOOLS)
    return lambda name: installed / ".bin" / name


@pytest.fixture(scope="module")
def tarballs(tmp_path_factory):
    """The main packages of three projects by name: without code of its own, with both modules, with require() alone."""
    archives = {}
    settings = f'{NPM}source = "npm"\n'
    for name, npm, files in (
        ("generated", NPM, {}),
        ("both", settings, SOURCE),
        ("require", settings, {key: text for key, text in SOURCE.items() if not key.endswith(".mjs")}),
    ):
        folder = project(tmp_path_factory.mktemp(name), npm=npm, rids=RIDS[:1], runtime=RUNTIME)
        sources(folder, files)
        pack_project(folder)
        archives[name] = folder / "dist" / "acme-tiny-1.2.3.tgz"
    return archives


@pytest.fixture
def app(tmp_path, tarballs):
    """An application with the generated package and the one for this machine."""
    main = tarballs["generated"]
    (tmp_path / "package.json").write_text('{"private": true, "type": "commonjs"}')
    command = (*INSTALL, "--offline", "--legacy-peer-deps")
    run_checked(*command, main, main.with_name("acme-tiny-linux-x64-1.2.3.tgz"), cwd=tmp_path)
    return tmp_path


def findings(tool, tarball):
    """What both linters find in a package."""
    texts = [
        run_program(tool("publint"), "run", "--strict", tarball),
        run_program(tool("attw"), "--no-color", "-f", "ascii", tarball),
    ]
    return [ended.stdout + ended.stderr for ended in texts if ended.returncode or "Suggestions" in ended.stdout]


@pytest.mark.parametrize("name", ["generated", "both", "require"])
def test_a_main_package_has_no_finding(tool, tarballs, name):
    assert findings(tool, tarballs[name]) == []


def test_the_package_of_a_target_has_no_finding(tool, tarballs):
    assert findings(tool, tarballs["generated"].with_name("acme-tiny-linux-x64-1.2.3.tgz")) == []


def test_the_linters_find_what_they_found_before(tool, tarballs, tmp_path):
    """One file of types for both modules."""
    shutil.unpack_archive(tarballs["generated"], tmp_path, filter="data")
    manifest = tmp_path / "package" / "package.json"
    fields = json.loads(manifest.read_text())
    del fields["type"]
    entry = {"types": "./latebind.d.ts", "import": "./latebind.mjs", "require": "./latebind.cjs"}
    fields["exports"] = {".": entry, "./package.json": "./package.json"}
    manifest.write_text(json.dumps(fields))
    run_checked("npm", "pack", "--silent", cwd=tmp_path / "package")
    linted, typed = findings(tool, tmp_path / "package" / "acme-tiny-1.2.3.tgz")
    assert 'types is interpreted as CJS when resolving with the "import" condition' in linted
    assert "Masquerading as CJS" in typed


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("a.mts", IMPORT, ""),
        ("a.cts", f'import tiny = require("@acme/tiny");\n{CALL.replace("library", "tiny.library")}', ""),
        (
            "a.mts",
            f'import tiny from "@acme/tiny";\n{CALL.replace("library", "tiny.library")}',
            "has no default export",
        ),
        ("a.mts", f'import {{ libraryPath }} from "@acme/tiny/latebind";\n{CALL}', ""),
    ],
    ids=["import", "require", "default", "generated module"],
)
def test_typescript_accepts_what_node_runs(tool, app, file, text, says):
    declared = "declare const console: { log(text: string): void };\n"
    (app / file).write_text(declared + text)
    ended = run_program(tool("tsc"), *TSC, file, cwd=app)
    assert bool(ended.returncode) == bool(says), ended.stdout
    assert says in ended.stdout
    if says:
        (app / "a.mjs").write_text(text)
        assert "does not provide an export named 'default'" in run_program("node", "a.mjs", cwd=app).stderr


@pytest.mark.parametrize(("entry", "text"), [("main.mjs", IMPORT), ("main.cjs", REQUIRE)])
def test_bundles_of_webpack_and_esbuild_find_the_library(tool, app, entry, text):
    (app / entry).write_text(text)
    packed_by = {
        "webpack": (tool("webpack"), "--mode=production", "--target=node", f"--entry=./{entry}", "-o", "out"),
        "esbuild": (tool("esbuild"), entry, "--bundle", "--platform=node", "--outfile=out/esbuild.js"),
    }
    for name, command in packed_by.items():
        ended = run_program(*command, cwd=app)
        printed = ended.stdout + ended.stderr
        assert ended.returncode == 0, printed
        assert not [level for level in ("WARNING", "ERROR", "warning") if level in printed], printed
        bundle = app / "out" / ("main.js" if name == "webpack" else "esbuild.js")
        library = run_checked("node", bundle, cwd=os.sep)
        assert library == f"{app}/node_modules/@acme/tiny-linux-x64/libtiny.so\n"


def test_a_bundle_as_an_es_module_says_what_to_do(tool, app):
    (app / "main.cjs").write_text(REQUIRE)
    banner = "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
    run_checked(
        tool("esbuild"), "main.cjs", "--bundle", "--platform=node", "--format=esm", banner, "--outfile=out.mjs", cwd=app
    )
    assert "mark it as external" in run_program("node", "out.mjs", cwd=app).stderr
