"""A package of ours beside sharp, which also has its native files in packages of targets: where that works, ours does.

Each client starts two programs that differ in the package alone.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from pathlib import Path

import pytest

from tests.ecosystems.npm.test_pack import NPM, RIDS, project
from tests.support.client import pack_project
from tests.support.npm_tools import install
from tests.support.running import run_checked, run_program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.system() != "Linux", reason="not run: the clients are tried on Linux"),
]

OURS = 'const file = require("@acme/tiny").libraryPath(); require("fs").accessSync(file); console.log("works");\n'
THEIRS = 'require("sharp"); console.log("works");\n'
ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "")
TOOLS = (f"node-linux-{ARCH}@24", f"@deno/linux-{ARCH}-glibc", "@vercel/nft@1", "@vercel/ncc@0.38", "esbuild@0.28")
TRACE = """const { nodeFileTrace } = require(process.argv[2] + "/@vercel/nft");
const fs = require("fs"), path = require("path");
const [entry, out] = process.argv.slice(3);
nodeFileTrace([entry], { base: "." }).then(({ fileList }) => { for (const file of fileList) {
  fs.mkdirSync(path.dirname(path.join(out, file)), { recursive: true });
  fs.copyFileSync(file, path.join(out, file)); } });
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The node_modules with the clients."""
    installed = install(tmp_path_factory.mktemp("tools"), *TOOLS)
    for file in installed.glob("@deno/*/deno"):
        file.chmod(0o755)
    return installed


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An application with both packages and a program for each."""
    packed = project(tmp_path_factory.mktemp("packed"), npm=NPM, rids=RIDS[:1])
    pack_project(packed)
    folder = tmp_path_factory.mktemp("app")
    (folder / "package.json").write_text('{"private": true, "type": "commonjs"}')
    files = [packed / "dist" / name for name in ("acme-tiny-1.2.3.tgz", "acme-tiny-linux-x64-1.2.3.tgz")]
    install(folder, *files, "sharp")
    (folder / "ours.cjs").write_text(OURS)
    (folder / "theirs.cjs").write_text(THEIRS)
    return folder


def start_node(tools, app, entry):
    return ["node", app / entry]


def start_with_permissions(tools, app, entry):
    (node,) = tools.glob("node-linux-*/bin/node")
    return [node, "--permission", "--allow-addons", f"--allow-fs-read={app}/", app / entry]


def start_deno(tools, app, entry):
    (deno,) = tools.glob("@deno/*/deno")
    allowed = ("--allow-ffi", "--allow-env", "--allow-sys", f"--allow-read={app}")
    return [deno, "run", "--no-prompt", *allowed, app / entry]


def start_traced(tools, app, entry):
    (app / "trace.cjs").write_text(TRACE)
    out = app.with_name("traced")
    run_checked("node", "trace.cjs", tools, entry, out, cwd=app)
    shutil.rmtree(app / "node_modules")
    return ["node", out / entry]


def start_esbuild(tools, app, entry):
    bundle = [tools / ".bin/esbuild", entry, "--bundle", "--platform=node", f"--outfile={app}/bundle.cjs"]
    run_checked(*bundle, "--log-level=error", cwd=app)
    return ["node", app / "bundle.cjs"]


CLIENTS = {
    "node": start_node,
    "node --permission": start_with_permissions,
    "deno --allow-read": start_deno,
    "@vercel/nft": start_traced,
    "esbuild": start_esbuild,
}


@pytest.mark.parametrize("client", CLIENTS)
def test_where_sharp_works_our_package_does(tools, installed, tmp_path, client):
    outcomes = {}
    for entry in ("theirs.cjs", "ours.cjs"):
        app = tmp_path / Path(entry).stem / "app"
        shutil.copytree(installed, app, symlinks=True)
        env = {**os.environ, "DENO_DIR": str(tmp_path / "deno"), "DENO_NO_UPDATE_CHECK": "1"}
        try:
            ended = run_program(*CLIENTS[client](tools, app, entry), cwd=app, env=env, timeout=120)
            outcomes[entry] = ended.stdout.strip() or ended.stderr
        except AssertionError as error:
            outcomes[entry] = str(error)
    assert outcomes["ours.cjs"] == "works" or outcomes["theirs.cjs"] != "works", outcomes["ours.cjs"]
    if client in ("node", "node --permission", "deno --allow-read", "@vercel/nft"):
        assert outcomes["theirs.cjs"] == "works", outcomes["theirs.cjs"]


def test_a_bundle_without_the_native_package_says_what_to_copy(tools, installed, tmp_path):
    """ncc copies no library that is not the bundled package's own, and cannot bundle sharp at all."""
    app = tmp_path / "app"
    shutil.copytree(installed, app, symlinks=True)
    run_checked(tools / ".bin/ncc", "build", "ours.cjs", "--out", tmp_path / "ncc", cwd=app)
    said = run_program("node", tmp_path / "ncc/index.cjs", cwd=app)
    assert said.returncode == 1
    source, target = re.search(
        r"is a bundle, .* Copy (\S+) to (\S+), or mark @acme/tiny as external", said.stderr
    ).groups()
    shutil.copytree(app / source, target)
    shutil.rmtree(app / "node_modules")
    assert run_checked("node", tmp_path / "ncc/index.cjs", cwd=app) == "works\n"


def test_a_read_that_is_denied_names_the_permission_that_helps(tools, installed, tmp_path):
    """The native package is in a node_modules above the folder that Node.js may read."""
    app = tmp_path / "top/app"
    shutil.copytree(installed, app, symlinks=True)
    native = tmp_path / "top/node_modules/@acme/tiny-linux-x64"
    native.parent.mkdir(parents=True)
    shutil.move(app / "node_modules/@acme/tiny-linux-x64", native)
    command = start_with_permissions(tools, app, "ours.cjs")
    assert run_checked("node", app / "ours.cjs") == "works\n"
    allowed = []
    for _ in range(12):  # a folder on the way at a time
        ended = run_program(command[0], *allowed, *command[1:], cwd=app)
        if not ended.returncode:
            break
        option = re.search(r"Node\.js may not read \S+: (--allow-fs-read=\S+) allows it", ended.stderr)
        assert option, ended.stderr
        assert option[1] not in allowed
        allowed.append(option[1])
    assert ended.stdout == "works\n", allowed
    assert allowed
