"""Ways to install and start a Node.js application: package managers, a test runner, and packages in NODE_PATH."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from latebind.backend.programs import which
from latebind.ecosystems.npm.programs import npm_environment
from latebind.errors import NotRun
from latebind.system.run import run

_TIME_LIMIT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLayout:
    """How an application is installed and started."""

    name: str
    title: str
    installer: str = ""
    """The program that installs it; npm without one."""
    arguments: tuple[str, ...] = ("install", "--ignore-scripts")
    oldest: int = 0
    """The oldest major version of the program."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files of the application that configure it."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Further packages."""
    arrange: Callable[[Path, Iterable[str]], None] = lambda _app, _names: None
    """What happens to the installed application; it gets the names of the packages of single targets."""
    start: tuple[str, ...] = ("{program}",)
    """What Node.js gets, before the words of the consumer."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the application."""


def _move_to_layer(app: Path, names: Iterable[str]) -> None:
    """Move the packages of single targets out of node_modules."""
    for name in names:
        if (app / "node_modules" / name).is_dir():
            (app / "layer" / name).parent.mkdir(parents=True, exist_ok=True)
            (app / "node_modules" / name).rename(app / "layer" / name)


_JEST = {
    "latebind.jest.cjs": """\
process.chdir(__dirname);
process.argv.splice(1, 1); // what is left is the program with its words
const config = { testMatch: ["**/latebind.test.mjs"], transform: {} };
require("jest").run(["--runInBand", "--silent", "--config", JSON.stringify(config)]);
""",
    "latebind.test.mjs": 'test("runs", async () => { await import(process.argv[1]); }, 600000);\n',
}
_VITEST = {
    "latebind.vitest.mjs": """\
import { startVitest } from "vitest/node";
process.chdir(import.meta.dirname);
process.env.LATEBIND_WORDS = JSON.stringify(process.argv.slice(2));
const vitest = await startVitest("test", [], { include: ["latebind.test.mjs"], reporters: ["dot"], watch: false });
await vitest.close();
""",
    "latebind.test.mjs": """\
import { test } from "vitest";
process.argv.splice(1, Infinity, ...JSON.parse(process.env.LATEBIND_WORDS));
test("runs", async () => { await import(/* @vite-ignore */ process.argv[1]); }, 600000);
""",
}
_WORKER = {
    "latebind.worker.cjs": """\
const { Worker } = require("node:worker_threads");
new Worker(process.argv[2], { argv: process.argv.slice(3) }).on("exit", (status) => { process.exitCode = status; });
"""
}
_ESBUILD = {
    "latebind.esbuild.mjs": """\
import { build } from "esbuild";
const [program, ...words] = process.argv.slice(2);
const outfile = new URL("bundle/program.mjs", import.meta.url).pathname;
await build({ entryPoints: [program], outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
process.argv.splice(1, Infinity, outfile, ...words);
await import(outfile);
"""
}
_WEBPACK = {
    "latebind.webpack.mjs": """\
import { readFileSync } from "node:fs";
import webpack from "webpack";
const [program, ...words] = process.argv.slice(2);
const path = new URL("bundle", import.meta.url).pathname;
const manifest = JSON.parse(readFileSync(new URL("package.json", import.meta.url)));
const externals = Object.keys(manifest.dependencies).map((name) => [name, `node-commonjs ${name}`]);
const output = { path, filename: "program.mjs", module: true, library: { type: "module" } };
const settings = { mode: "production", target: "node20", entry: program, externals: Object.fromEntries(externals),
                   experiments: { outputModule: true }, output };
const stats = await new Promise((end, fail) => webpack(settings, (error, stats) => (error ? fail(error) : end(stats))));
if (stats.hasErrors()) throw new Error(stats.toString());
process.argv.splice(1, Infinity, `${path}/program.mjs`, ...words);
await import(`${path}/program.mjs`);
"""
}
_LINKED = ("install", "--ignore-scripts", "--install-strategy=linked")
LAYOUTS: tuple[NodeLayout, ...] = (
    NodeLayout(name="node-npm-linked", title="installed with npm, in its linked layout", installer="npm", oldest=9,
               arguments=_LINKED),
    NodeLayout(name="node-pnpm", title="installed with pnpm", installer="pnpm"),
    NodeLayout(name="node-pnpm-hoisted", title="installed with pnpm, hoisted", installer="pnpm",
               files={".npmrc": "node-linker=hoisted\n"}),
    NodeLayout(name="node-pnpm-store", title="installed with pnpm, in its global virtual store", installer="pnpm",
               oldest=10, files={"pnpm-workspace.yaml": "enableGlobalVirtualStore: true\n"}),
    NodeLayout(name="node-yarn-pnp", title="installed with Yarn's Plug'n'Play", installer="yarn", oldest=4,
               arguments=("install",), files={"yarn.lock": ""},
               start=("--require", "{app}/.pnp.cjs", "--no-warnings", "--experimental-loader",
                      "file://{app}/.pnp.loader.mjs", "{program}")),
    NodeLayout(name="node-yarn-modules", title="installed with Yarn, in node_modules", installer="yarn", oldest=4,
               arguments=("install",), files={"yarn.lock": "", ".yarnrc.yml": "nodeLinker: node-modules\n"}),
    NodeLayout(name="node-yarn-pnpm", title="installed with Yarn, in pnpm's layout", installer="yarn", oldest=4,
               arguments=("install",), files={"yarn.lock": "", ".yarnrc.yml": "nodeLinker: pnpm\n"}),
    NodeLayout(name="node-bun", title="installed with bun", installer="bun"),
    NodeLayout(name="node-path", title="with the packages of single targets in NODE_PATH, as in a layer of AWS Lambda",
               arrange=_move_to_layer, environment={"NODE_PATH": "{app}/layer"}),
    NodeLayout(name="node-jest", title="as a test of Jest", needs={"jest": "30"}, files=_JEST,
               start=("--experimental-vm-modules", "--no-warnings", "{app}/latebind.jest.cjs", "{program}")),
    NodeLayout(name="node-vitest", title="as a test of vitest", needs={"vitest": "3"}, files=_VITEST,
               start=("{app}/latebind.vitest.mjs", "{program}")),
    NodeLayout(name="node-worker", title="in a worker thread", files=_WORKER,
               start=("{app}/latebind.worker.cjs", "{program}")),
    NodeLayout(name="node-esbuild", title="bundled by esbuild, with the packages external", needs={"esbuild": "0.25"},
               files=_ESBUILD, start=("{app}/latebind.esbuild.mjs", "{program}")),
    NodeLayout(name="node-webpack", title="bundled by webpack, with the packages external", needs={"webpack": "5"},
               files=_WEBPACK, start=("{app}/latebind.webpack.mjs", "{program}")),
)  # fmt: skip


ORDINARY = NodeLayout(name="node", title="")


def find_layout(name: str) -> NodeLayout:
    """The layout of that name."""
    return next((layout for layout in LAYOUTS if layout.name == name), ORDINARY)


def install_layout(layout: NodeLayout, app: Path, home: Path, log: Path) -> None:
    """Install an application in place, with the layout's own installer.

    Raises NotRun `no-program` without it, otherwise ToolError.
    """
    program = which(layout.installer)
    if program is None:
        raise NotRun(
            "no-program", f"there is no {layout.installer} on PATH", advice=f"npm install -g {layout.installer}"
        )
    environment = {**npm_environment(home), **_isolate(home)}
    version = run([program, "--version"], cwd=app, env=environment, timeout=_TIME_LIMIT).output.strip()
    if int(version.partition(".")[0]) < layout.oldest:
        raise NotRun("no-program", f"{layout.installer} {layout.oldest} or newer is needed, but {program} is {version}")
    run([program, *layout.arguments], cwd=app, env=environment, timeout=_TIME_LIMIT, log=log)


def list_stores(home: Path) -> tuple[Path, ...]:
    """Where installers keep packages outside of applications."""
    return (home / "pnpm",)


def _isolate(home: Path) -> dict[str, str]:
    """Settings of the installers: their caches, and that a package of today may be installed."""
    (store,) = list_stores(home)
    yarn = {
        "GLOBAL_FOLDER": str(home / "yarn"),
        "ENABLE_IMMUTABLE_INSTALLS": "0",
        "ENABLE_SCRIPTS": "0",
        "ENABLE_TELEMETRY": "0",
        "NPM_MINIMAL_AGE_GATE": "0",
        "PNP_ENABLE_ESM_LOADER": "1",
    }
    return {
        "npm_config_store_dir": str(store),
        "BUN_INSTALL_CACHE_DIR": str(home / "bun"),
        **{f"YARN_{key}": value for key, value in yarn.items()},
    }
