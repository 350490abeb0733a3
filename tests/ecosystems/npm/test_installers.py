"""A generated npm package in applications of npm, pnpm, Yarn and bun: each finds the library that it installed."""

import base64
import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.ecosystems.npm.test_pack import RIDS, project
from tests.support.client import member, pack_project, write_files
from tests.support.needs import require_programs
from tests.support.npm_tools import install_tools
from tests.support.running import run_program

APPLICATION = {"name": "app", "version": "1.0.0", "private": True, "dependencies": {"@acme/tiny": "1.2.3"}}
REQUIRE = 'console.log(require("@acme/tiny").libraryPath());\n'
IMPORT = 'import { libraryPath } from "@acme/tiny";\nconsole.log(libraryPath());\n'
WORKER = f"""\
const {{ Worker, isMainThread }} = require("node:worker_threads");
if (isMainThread) new Worker(__filename);
else {REQUIRE}
"""
TEST = 'test("finds", () => expect(require("@acme/tiny").libraryPath()).toContain("libtiny.so"));\n'
VITEST = f'import {{ expect, test }} from "vitest"; import {{ createRequire }} from "node:module";\n\
const require = createRequire(import.meta.url);\n{TEST}'

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Installer:
    """How a tool installs an application."""

    name: str
    command: tuple[str, ...]
    """{tools} stands for the folder of tools."""
    files: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    """Where the program is, in a workspace."""
    node: tuple[str, ...] = ("node",)
    library: str = "app/node_modules/"
    """The start of the library's path."""


_PNPM = ("node", "{tools}/pnpm/bin/pnpm.cjs", "install")
_BERRY = ("node", "{tools}/@yarnpkg/cli-dist/bin/yarn.js", "install")
_BUN = ("{tools}/.bin/bun", "install")
_PNP = ("node", "--require", "{app}/.pnp.cjs", "--no-warnings", "--experimental-loader", "{app}/.pnp.loader.mjs")
_MEMBER = json.dumps({**APPLICATION, "name": "member"})
_WORKSPACES = {
    "package.json": '{"private": true, "workspaces": ["packages/*"]}',
    "packages/member/package.json": _MEMBER,
}
_PNPM_WORKSPACE = {
    "package.json": "{}", "packages/member/package.json": _MEMBER, "pnpm-workspace.yaml": "packages: ['packages/*']"
}  # fmt: skip
INSTALLERS = [
    Installer("npm", ("npm", "install")),
    Installer("npm workspaces", ("npm", "install"), _WORKSPACES, "packages/member"),
    Installer("pnpm", _PNPM),
    Installer("pnpm workspace", _PNPM, _PNPM_WORKSPACE, "packages/member"),
    Installer("pnpm global virtual store", _PNPM, {"pnpm-workspace.yaml": "enableGlobalVirtualStore: true"},
              library="home/.local/share/pnpm/store/"),
    Installer("Yarn 1", ("node", "{tools}/yarn/bin/yarn.js", "install")),
    Installer("Yarn 1 workspaces", ("node", "{tools}/yarn/bin/yarn.js", "install"), _WORKSPACES, "packages/member"),
    Installer("Yarn PnP workspaces", _BERRY, {**_WORKSPACES, "yarn.lock": ""}, "packages/member", _PNP,
              "app/.yarn/unplugged/"),
    Installer("bun isolated", (*_BUN, "--linker", "isolated")),
    Installer("bun, run by bun", _BUN, node=("{tools}/.bin/bun", "run")),
]  # fmt: skip


@pytest.fixture(scope="module")
def tools(kept_builds):
    return install_tools(kept_builds)


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    folder = project(tmp_path_factory.mktemp("npm"), rids=RIDS[:1])
    pack_project(folder)
    with serve_registry(sorted((folder / "dist").glob("*.tgz"))) as address:
        yield address


@pytest.fixture
def install(tmp_path, tools, registry):
    """Installs an application; gives its folder, and what fills the placeholders of command lines."""
    require_programs("node", "npm")

    def install_application(installer):
        app = tmp_path / "app"
        write_files(app, {"package.json": json.dumps(APPLICATION), **installer.files})
        ended = run_program(*fill(installer.command), cwd=app, env=environment())
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return app

    def fill(command):
        return [word.format(tools=tools, app=tmp_path / "app") for word in command]

    def environment(**more):
        named = {"npm_config_registry": registry, "BUN_CONFIG_REGISTRY": registry, "YARN_NPM_REGISTRY_SERVER": registry}
        yarn = {
            "UNSAFE_HTTP_WHITELIST": "127.0.0.1", "NPM_MINIMAL_AGE_GATE": "0", "ENABLE_IMMUTABLE_INSTALLS": "0",
            "PNP_ENABLE_ESM_LOADER": "1", "ENABLE_TELEMETRY": "0",
        }  # fmt: skip
        yarn = {f"YARN_{key}": value for key, value in yarn.items()}
        home = {"HOME": str(tmp_path / "home"), "npm_config_cache": str(tmp_path / "home" / "npm")}
        return {"PATH": os.environ["PATH"], **home, **named, **yarn, **more}

    install_application.fill = fill
    install_application.environment = environment
    return install_application


@pytest.mark.parametrize("installer", INSTALLERS, ids=lambda row: row.name)
def test_require_import_and_a_worker_find_the_library(install, tmp_path, installer):
    folder = install(installer) / installer.folder
    for name, text in {"main.cjs": REQUIRE, "main.mjs": IMPORT, "worker.cjs": WORKER}.items():
        (folder / name).write_text(text)
        ended = run_program(*install.fill(installer.node), folder / name, cwd=folder, env=install.environment())
        assert ended.stdout.startswith(f"{tmp_path}/{installer.library}"), (name, ended.stdout + ended.stderr)
        assert ended.stdout.endswith("/libtiny.so\n")


@pytest.mark.parametrize("installer", [INSTALLERS[0], INSTALLERS[2], INSTALLERS[4]], ids=lambda row: row.name)
def test_jest_and_vitest_find_the_library(install, tools, installer):
    folder = install(installer)
    (folder / "jest.config.json").write_text('{"testMatch": ["**/*.test.cjs"]}')
    (folder / "one.test.cjs").write_text(f"beforeEach(() => jest.resetModules());\n{TEST}{TEST}")
    (folder / "two.test.cjs").write_text(TEST)
    (folder / "three.test.mjs").write_text(VITEST)
    (folder / "node_modules" / "vitest").symlink_to(tools / "vitest")
    jest = run_program(
        "node", tools / "jest" / "bin" / "jest.js", "--runInBand", "--config=jest.config.json", cwd=folder
    )
    assert "Tests:       3 passed" in jest.stderr, jest.stderr
    environment = {**install.environment(), "NO_COLOR": "1"}
    vitest = run_program("node", tools / "vitest" / "vitest.mjs", "run", "three", cwd=folder, env=environment)
    assert "1 passed" in vitest.stdout, vitest.stdout + vitest.stderr


@contextmanager
def serve_registry(tarballs: Iterable[Path]) -> Iterator[str]:
    """The address of a registry that has these packages and no others."""
    files = {path.name: path.read_bytes() for path in tarballs}
    manifests = {path.name: json.loads(member(path, "/package.json")) for path in tarballs}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = unquote(self.path).lstrip("/")
            rows = {file: fields for file, fields in manifests.items() if fields["name"] == name}
            body = files.get(name) or (json.dumps(_describe(address, rows, files)).encode() if rows else b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()


def _describe(address: str, rows: dict[str, dict], files: dict[str, bytes]) -> dict:
    """The answer of a registry for a package (its documentation: "Package Metadata")."""
    versions = {}
    for file, fields in rows.items():
        digest = base64.b64encode(hashlib.sha512(files[file]).digest()).decode()
        shasum = hashlib.sha1(files[file]).hexdigest()  # noqa: S324  # Yarn 1 asks for it
        dist = {"tarball": f"{address}/{file}", "integrity": f"sha512-{digest}", "shasum": shasum}
        versions[fields["version"]] = {**fields, "dist": dist}
    latest = next(reversed(versions))
    return {"name": versions[latest]["name"], "dist-tags": {"latest": latest}, "versions": versions}
