"""What an npm package says where its native package cannot be read, and that it works when that is done."""

from __future__ import annotations

import platform
import re
import shutil

import pytest

from tests.beside.node import ARCH
from tests.ecosystems.npm.test_pack import NPM, RIDS, project
from tests.support.client import pack_project, write_files
from tests.support.npm_tools import install
from tests.support.running import run_checked, run_program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.system() != "Linux", reason="not run: the clients are tried on Linux"),
]

OURS = 'const file = require("@acme/tiny").libraryPath(); require("fs").accessSync(file); console.log("works");\n'
TOOLS = (f"node-linux-{ARCH}@24", "@vercel/ncc@0.38", "@vercel/nft@1")
RUNTIME = '[[runtime]]\npreset = "onnxruntime"\nminimum = "1.19"\n'
TRACE = """\
const { nodeFileTrace } = require(process.argv[2]);
nodeFileTrace(["ours.cjs"]).then(({ fileList }) => console.log([...fileList].join("\\n")));
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The node_modules with the clients."""
    return install(tmp_path_factory.mktemp("tools"), *TOOLS)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An application with the package."""
    packed = project(tmp_path_factory.mktemp("packed"), npm=NPM, rids=RIDS[:1], runtime=RUNTIME)
    pack_project(packed)
    folder = tmp_path_factory.mktemp("app")
    (folder / "package.json").write_text('{"private": true, "type": "commonjs"}')
    files = [packed / "dist" / name for name in ("acme-tiny-1.2.3.tgz", "acme-tiny-linux-x64-1.2.3.tgz")]
    install(folder, *files)
    (folder / "ours.cjs").write_text(OURS)
    return folder


def test_a_tracer_copies_the_runtimes_library_too(tools, installed, tmp_path):
    """Next.js, Vercel and Nitro deploy what @vercel/nft finds. The runtime's package lies beside this one."""
    app = tmp_path / "app"
    shutil.copytree(installed, app, symlinks=True)
    library = f"node_modules/onnxruntime-node/bin/napi-v6/linux/{ARCH}/libonnxruntime.so.1"
    manifest = "node_modules/onnxruntime-node/package.json"
    write_files(app, {library: "", manifest: '{"name": "onnxruntime-node"}', "trace.cjs": TRACE})
    traced = run_checked("node", "trace.cjs", tools / "@vercel/nft", cwd=app).splitlines()
    assert {library, manifest} <= set(traced)


def test_a_bundler_that_renames_the_module_is_named_with_what_helps(installed, tmp_path):
    """Next.js with Turbopack compiles a module under a name below /ROOT, which does not exist."""
    source = (installed / "node_modules/@acme/tiny/latebind-trusted.cjs").read_text("utf-8")
    wrapped = f"(function (module, exports, require, __filename) {{\n{source}\n}})"
    called = '({ exports: {} }, {}, require, "/ROOT/node_modules/@acme/tiny/latebind-trusted.cjs");\n'
    (tmp_path / "chunk.js").write_text(wrapped + called)
    said = run_program("node", tmp_path / "chunk.js").stderr
    assert 'serverExternalPackages: ["@acme/tiny"] in next.config.js' in said


def start_with_permissions(tools, app, entry):
    (node,) = tools.glob("node-linux-*/bin/node")
    return [node, "--permission", "--allow-addons", f"--allow-fs-read={app}/", app / entry]


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
