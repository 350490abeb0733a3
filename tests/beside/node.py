"""Clients of npm packages."""

from __future__ import annotations

import json
import os
import platform
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.beside.pairs import Clients, run_quietly, without_proc
from tests.support.needs import require_mounts

if TYPE_CHECKING:
    from pathlib import Path

ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "")
NODES = (18, 22, 24, 26)
DENO, BUN = f"@deno/linux-{ARCH}-glibc", f"@oven/bun-linux-{ARCH}"
TOOLS = (
    *(f"node{major}@npm:node-linux-{ARCH}@{major}" for major in NODES),
    *(DENO, BUN, "@vercel/nft@1", "esbuild@0.28", "webpack@5", "webpack-cli@7", "rollup@4", "rolldown@1", "vite@7"),
    *("@rollup/plugin-node-resolve@16", "@rollup/plugin-commonjs@29", "@rspack/core@1", "@rspack/cli@1", "tsup@8"),
    *("parcel@2", "typescript@5", "@types/node@24", "postject@1.0.0-alpha.6", "jest@30", "vitest@3", "mocha@11"),
    *("jasmine@5", "c8@10", "nyc@17", "tsx@4", "jiti@2", "@babel/core@7", "@babel/node@7", "piscina@5", "pnpm@10"),
    *("yarn@1", "@yarnpkg/cli-dist@4"),
)


@dataclass(frozen=True)
class Place:
    """Where a client is tried with one of the two packages."""

    app: Path
    """An application of its own with the package in its node_modules."""
    tools: Path
    """The node_modules with the clients."""
    package: str
    use: str
    """Statements that use `it`, which is the package."""
    dependencies: dict[str, str]
    """What an installer installs."""

    @property
    def require(self) -> str:
        """The program in CommonJS."""
        return f'const it = require("{self.package}"); {self.use}\n'

    @property
    def module(self) -> str:
        """The program as an ES module."""
        return f'import * as all from "{self.package}"; const it = all.default ?? all; {self.use}\n'

    def run(self, *command: object, **options: object) -> str:
        """What a command printed, which must succeed."""
        return run_quietly(*command, **{"cwd": self.app, "env": self.environment(), **options})

    def environment(self, **more: str) -> dict[str, str]:
        """Few variables, so that nothing comes from the tests' own."""
        home = str(self.app.with_name("home"))
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "NODE_EXTRA_CA_CERTS") if key in os.environ}
        own = {"HOME": home, "DENO_DIR": f"{home}/deno", "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1", "CI": "1"}
        yarn = {"ENABLE_TELEMETRY": "0", "NPM_MINIMAL_AGE_GATE": "0", "ENABLE_IMMUTABLE_INSTALLS": "0"}
        return {**kept, **own, **{f"YARN_{key}": value for key, value in yarn.items()}, **more}

    def write(self, name: str, text: str = "PROGRAM") -> Path:
        """A file of the application. PROGRAM stands for the program, PACKAGE, USE and TOOLS for what is here."""
        file = self.app / name
        file.parent.mkdir(parents=True, exist_ok=True)
        program = self.module if file.suffix == ".mjs" else self.require
        values = {"PROGRAM": program, "PACKAGE": self.package, "USE": self.use, "TOOLS": str(self.tools)}
        for word, value in values.items():
            text = text.replace(word, value)
        file.unlink(missing_ok=True)  # other applications may have the same file
        file.write_text(text, encoding="utf-8")
        return file

    def tool(self, name: str) -> Path:
        """A program of the tools."""
        return self.tools / ".bin" / name

    def node(self, major: int) -> Path:
        """A Node.js."""
        return self.tools / f"node{major}/bin/node"

    @property
    def deno(self) -> Path:
        """The program."""
        return self.tools / DENO / "deno"

    @property
    def bun(self) -> Path:
        """The program."""
        return self.tools / BUN / "bin/bun"


CLIENTS: Clients[Place] = Clients()
client = CLIENTS.add


for major in NODES:

    @client(f"node {major}, require()", f"node{major}")
    def start_required(at: Place, major: int = major) -> str:
        return at.run(at.node(major), at.write("app.cjs"))

    @client(f"node {major}, import", f"node{major}")
    def start_imported(at: Place, major: int = major) -> str:
        return at.run(at.node(major), at.write("app.mjs"))


PROGRAMS = {
    "import()": 'import("PACKAGE").then((all) => { const it = all.default ?? all; USE });',
    "worker_threads": """
        const worker = require("worker_threads");
        if (worker.isMainThread) new worker.Worker(__filename); else { PROGRAM }""",
    "worker_threads, used before": """
        const worker = require("worker_threads");
        PROGRAM
        if (worker.isMainThread) for (let i = 0; i < 4; i++) new worker.Worker(__filename);""",
    "worker_threads, from a text": """
        const source = (() => { PROGRAM }).toString();
        new (require("worker_threads").Worker)(`(${source})()`, { eval: true });""",
    "cluster": """
        const cluster = require("cluster");
        if (cluster.isPrimary) cluster.fork(); else { PROGRAM process.exit(0); }""",
    "child_process.fork()": """
        if (process.argv[2]) { PROGRAM } else require("child_process").fork(__filename, ["again"]);""",
    "vm.runInThisContext()": """
        global.require = require;
        require("vm").runInThisContext(`(${(() => { PROGRAM }).toString()})()`);""",
    "require() again after its cache was cleared": """
        { PROGRAM }
        for (const name of Object.keys(require.cache)) if (!name.endsWith(".node")) delete require.cache[name];
        { PROGRAM }""",
    "a working folder that changes": 'process.chdir("/"); PROGRAM',
    "process.exit() at once": "PROGRAM process.exit(0);",
}
"""Programs of Node.js in CommonJS that use the package in ways of their own."""

for name, text in PROGRAMS.items():

    @client(name)
    def start_program(at: Place, text: str = text) -> str:
        return at.run("node", at.write("app.cjs", text))


OPTIONS = {
    "node -r app.cjs": ("-r", "./app.cjs", "-e", "0"),
    "node --preserve-symlinks": ("--preserve-symlinks", "--preserve-symlinks-main", "app.cjs"),
    "node --frozen-intrinsics": ("--no-warnings", "--frozen-intrinsics", "app.cjs"),
    "node --disable-proto=throw": ("--disable-proto=throw", "app.cjs"),
    "node --disallow-code-generation-from-strings": ("--disallow-code-generation-from-strings", "app.cjs"),
    "node --enable-source-maps --trace-uncaught": ("--enable-source-maps", "--trace-uncaught", "app.cjs"),
    "node --test": ("--test", "app.cjs"),
}
"""How Node.js is started, in the application's folder."""

for name, words in OPTIONS.items():

    @client(name)
    def start_with_options(at: Place, words: tuple[str, ...] = words) -> str:
        at.write("app.cjs")
        return at.run("node", *words)


@client("node -e")
def start_evaluated(at: Place) -> str:
    return at.run("node", "-e", at.require)


@client("node < app.cjs")
def start_input(at: Place) -> str:
    return at.run("node", input=at.require)


@client("node --input-type=module -e")
def start_module_text(at: Place) -> str:
    return at.run("node", "--input-type=module", "-e", at.module)


for major, how, entry in ((24, "require()", "app.cjs"), (26, "import", "app.mjs")):

    @client(f"node --permission, {how}", f"node{major}")
    def start_with_permissions(at: Place, major: int = major, entry: str = entry) -> str:
        options = ("--permission", "--allow-addons", f"--allow-fs-read={at.app}/")
        return at.run(at.node(major), *options, at.write(entry))


@client("createRequire() in another folder")
def start_created(at: Place) -> str:
    text = 'import { createRequire } from "node:module";\nconst require = createRequire(process.argv[2]);\nPROGRAM'
    file = at.write("app.mjs", text.replace("PROGRAM", at.require))
    moved = file.rename(at.app.with_name("app.mjs"))
    return at.run("node", moved, at.app / "x.js", cwd="/")


@client("NODE_PATH")
def start_node_path(at: Place) -> str:
    lib = at.app.with_name("lib")
    shutil.move(at.app / "node_modules", lib)
    return at.run("node", at.write("app.cjs"), env=at.environment(NODE_PATH=str(lib)))


@client("node_modules reached by a link")
def start_linked(at: Place) -> str:
    shutil.move(at.app / "node_modules", at.app.with_name("store") / "node_modules")
    (at.app / "node_modules").symlink_to("../store/node_modules")
    return at.run("node", at.write("app.cjs"))


@client("npm link")
def start_npm_link(at: Place) -> str:
    """The package lies elsewhere, with its dependencies beside it."""
    elsewhere = at.app.with_name("elsewhere") / "node_modules"
    shutil.copytree(at.app / "node_modules", elsewhere, symlinks=True)
    shutil.rmtree(at.app / "node_modules" / at.package)
    (at.app / "node_modules" / at.package).symlink_to(elsewhere / at.package)
    return at.run("node", at.write("app.cjs"))


@client("an application reached by a link")
def start_app_link(at: Place) -> str:
    at.write("app.cjs")
    at.app.with_name("current").symlink_to(at.app)
    return at.run("node", at.app.with_name("current") / "app.cjs", cwd="/")


for entry in ("app.cjs", "app.mjs"):

    @client(f"a folder with spaces and letters that aren't ASCII, {entry}")
    def start_named(at: Place, entry: str = entry) -> str:
        at.write(entry)
        named = at.app.rename(at.app.with_name("mit Leerzeichen, Größe 中文 #%20?"))
        return at.run("node", named / entry, cwd=named, env=at.environment(LC_ALL="C"))


@client("a working folder that is gone")
def start_without_folder(at: Place) -> str:
    gone = at.app.with_name("gone")
    gone.mkdir()
    return at.run("sh", "-c", 'rmdir "$PWD" && exec node "$0"', at.write("app.cjs"), cwd=gone)


@client("without /proc")
def start_without_proc(at: Place) -> str:
    return at.run(*without_proc("node", at.write("app.cjs")))


@client("no variable in the environment")
def start_bare(at: Place) -> str:
    return at.run("env", "-i", shutil.which("node"), at.write("app.cjs"))


@client("node_modules on a file system of its own")
def start_mounted(at: Place) -> str:
    """As a container's volume."""
    require_mounts()
    at.write("app.cjs")
    mount = "mount --make-rprivate / && mkdir new && mount -t tmpfs none new && cp -r node_modules new/"
    script = f'{mount} && mount --bind new/node_modules node_modules && exec "$@"'
    return at.run("unshare", "-m", "sh", "-c", script, "sh", "node", "app.cjs")


@client("deno run --allow-all", DENO)
def start_deno(at: Place) -> str:
    return at.run(at.deno, "run", "--no-prompt", "--allow-all", at.write("app.cjs"))


@client("deno run, permission to read its folder", DENO)
def start_deno_restricted(at: Place) -> str:
    allowed = ("--allow-ffi", "--allow-env", "--allow-sys", f"--allow-read={at.app}")
    return at.run(at.deno, "run", "--no-prompt", *allowed, at.write("app.cjs"))


@client("deno run, import", DENO)
def start_deno_module(at: Place) -> str:
    return at.run(at.deno, "run", "--no-prompt", "--allow-all", "--node-modules-dir=manual", at.write("app.mjs"))


@client("bun run, require()", BUN)
def start_bun(at: Place) -> str:
    return at.run(at.bun, "run", at.write("app.cjs"))


@client("bun run, import", BUN)
def start_bun_module(at: Place) -> str:
    return at.run(at.bun, "run", at.write("app.mjs"))


@client("bun test", BUN)
def start_bun_test(at: Place) -> str:
    at.write("it.test.js", 'require("bun:test").test("it", () => { PROGRAM });')
    return at.run(at.bun, "test")


@client("bun build --packages=external", BUN)
def start_bun_external(at: Place) -> str:
    options = ("--target=node", "--packages=external", "--outfile=out.cjs", "--format=cjs")
    at.run(at.bun, "build", at.write("app.cjs"), *options)
    return at.run("node", "out.cjs")


@client("bun build --compile", BUN, reference_fails=True)
def start_bun_compiled(at: Place) -> str:
    at.run(at.bun, "build", "--compile", at.write("app.cjs"), "--outfile=out")
    return at.run(at.app / "out")


@client("@vercel/nft", "@vercel/nft")
def start_traced(at: Place) -> str:
    at.write("app.cjs")
    trace = """
const { nodeFileTrace } = require("TOOLS/@vercel/nft"), fs = require("fs"), path = require("path");
nodeFileTrace(["app.cjs"], { base: "." }).then(({ fileList }) => {
  for (const file of fileList) {
    const copy = path.join(process.argv[2], file);
    fs.mkdirSync(path.dirname(copy), { recursive: true });
    fs.copyFileSync(file, copy);
  }
});"""
    out = at.app.with_name("traced")
    at.run("node", at.write("trace.cjs", trace), out)
    shutil.rmtree(at.app / "node_modules")
    return at.run("node", out / "app.cjs", cwd=out)


@dataclass(frozen=True)
class Bundler:
    """How a bundler is called; the bundle runs where node_modules is."""

    package: str
    command: tuple[str, ...]
    """The first word is a program of the tools, or a script of them."""
    entry: str = "app.cjs"
    out: str = "out.cjs"
    files: tuple[tuple[str, str], ...] = ()
    reference_fails: bool = False
    says: str = ""


_ESBUILD = ("esbuild", "app.cjs", "--bundle", "--platform=node", "--outfile=out.cjs", "--log-level=error")
_WEBPACK = """module.exports = { mode: "production", target: "node", entry: "./app.cjs", externals: {EXTERNALS},
  output: { path: __dirname, filename: "out.cjs" } };"""
_ROLLUP = """
const resolve = require("TOOLS/@rollup/plugin-node-resolve"), commonjs = require("TOOLS/@rollup/plugin-commonjs");
const resolves = { preferBuiltins: true, exportConditions: ["node"] };
const plugins = [resolve(resolves), commonjs({ ignoreDynamicRequires: true })];
const external = [/^node:/, EXTERNAL];
module.exports = { input: "app.mjs", external, plugins, output: { file: "out.mjs", format: "es" } };"""
_VITE_CONFIG = 'export default { ssr: { noExternal: true, external: [EXTERNAL], target: "node" } };'
_EXTERNAL = "mark it as external"
_PARCEL = """{ "private": true, "source": "app.cjs", "main": "out.cjs", "engines": { "node": ">=20" },
  "targets": { "main": { "includeNodeModules": false } }, "dependencies": { "PACKAGE": "*" } }"""
_VITE = ("vite/bin/vite.js", "build", "--outDir", "out", "--logLevel=error", "--ssr", "app.mjs")
BUNDLERS = {
    "esbuild --bundle": Bundler("esbuild", _ESBUILD),
    "esbuild --bundle --packages=external": Bundler("esbuild", (*_ESBUILD, "--packages=external")),
    "esbuild --bundle --format=esm --packages=external": Bundler(
        "esbuild", ("esbuild", "app.mjs", *_ESBUILD[2:4], "--outfile=out.mjs", "--format=esm", "--packages=external"),
        "app.mjs", "out.mjs"),
    "esbuild --bundle --format=esm": Bundler(
        "esbuild", ("esbuild", "app.mjs", *_ESBUILD[2:4], "--outfile=out.mjs", "--format=esm"),
        "app.mjs", "out.mjs", reference_fails=True, says="Dynamic require of"),
    "esbuild --bundle --minify --keep-names": Bundler("esbuild", (*_ESBUILD, "--minify", "--keep-names")),
    "webpack, target node": Bundler(
        "webpack", ("webpack-cli/bin/cli.js", "build", "-c", "webpack.config.cjs"),
        files=(("webpack.config.cjs", _WEBPACK.replace("EXTERNALS", "")),), reference_fails=True),
    "webpack, the package external": Bundler(
        "webpack", ("webpack-cli/bin/cli.js", "build", "-c", "webpack.config.cjs"),
        files=(("webpack.config.cjs", _WEBPACK.replace("EXTERNALS", '"PACKAGE": "commonjs PACKAGE"')),)),
    "rspack, the package external": Bundler(
        "@rspack/core", ("rspack", "build", "-c", "rspack.config.cjs"),
        files=(("rspack.config.cjs", _WEBPACK.replace("EXTERNALS", '"PACKAGE": "commonjs PACKAGE"')),)),
    "rspack, target node": Bundler(
        "@rspack/core", ("rspack", "build", "-c", "rspack.config.cjs"),
        files=(("rspack.config.cjs", _WEBPACK.replace("EXTERNALS", "")),), reference_fails=True),
    "rollup, to an ES module": Bundler(
        "rollup", ("rollup", "--silent", "-c", "rollup.config.cjs"), "app.mjs", "out.mjs",
        files=(("rollup.config.cjs", _ROLLUP.replace("EXTERNAL", "")),), reference_fails=True, says=_EXTERNAL),
    "rollup, the package external": Bundler(
        "rollup", ("rollup", "--silent", "-c", "rollup.config.cjs"), "app.mjs", "out.mjs",
        files=(("rollup.config.cjs", _ROLLUP.replace("EXTERNAL", '"PACKAGE"')),)),
    "rolldown": Bundler("rolldown", ("rolldown", "app.cjs", "--platform=node", "--format=cjs", "--file=out.cjs")),
    "vite build --ssr": Bundler("vite", _VITE, "app.mjs", "out/app.mjs"),
    "vite build --ssr, noExternal": Bundler(
        "vite", _VITE, "app.mjs", "out/app.mjs",
        files=(("vite.config.mjs", _VITE_CONFIG.replace("EXTERNAL", "")),), reference_fails=True, says=_EXTERNAL),
    "vite build --ssr, all but the package": Bundler(
        "vite", _VITE, "app.mjs", "out/app.mjs",
        files=(("vite.config.mjs", _VITE_CONFIG.replace("EXTERNAL", '"PACKAGE"')),)),
    "tsup": Bundler("tsup", ("tsup", "app.cjs", "--format=cjs", "--silent", "--out-dir=out"), out="out/app.js"),
    "parcel, target node": Bundler(
        "parcel", ("parcel", "build", "--no-cache", "--no-autoinstall"), files=(("package.json", _PARCEL),)),
}  # fmt: skip

for name, bundler in BUNDLERS.items():

    @client(name, bundler.package, reference_fails=bundler.reference_fails, says=bundler.says)
    def start_bundle(at: Place, bundler: Bundler = bundler) -> str:
        program, *words = bundler.command
        for file, text in ((bundler.entry, "PROGRAM"), *bundler.files):
            at.write(file, text)
        at.run(*(["node", at.tools / program] if "/" in program else [at.tool(program)]), *words)
        return at.run("node", bundler.out)


@client("tsc, module nodenext", "typescript")
def start_tsc(at: Place) -> str:
    at.write("app.cts", 'import it = require("PACKAGE"); USE')
    options = ("--module", "nodenext", "--target", "es2022", "--types", "node", "--typeRoots", at.tools / "@types")
    at.run(at.tool("tsc"), *options, "app.cts")
    return at.run("node", "app.cjs")


@client("a single executable application, node_modules beside it", "node24")
def start_single_executable(at: Place) -> str:
    """By createRequire(), since its own require() has built-in modules alone."""
    at.write("app.cjs", 'require = require("module").createRequire(process.execPath); PROGRAM')
    at.write("sea.json", '{"main": "app.cjs", "output": "app.blob", "disableExperimentalSEAWarning": true}')
    node, fuse = at.node(24), "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"
    at.run(node, "--experimental-sea-config", "sea.json")
    shutil.copy(node, at.app / "out")
    at.run(at.tool("postject"), "out", "NODE_SEA_BLOB", "app.blob", "--sentinel-fuse", fuse)
    return at.run(at.app / "out")


@client("jest", "jest")
def start_jest(at: Place) -> str:
    at.write("it.test.js", 'test("it", () => { PROGRAM });')
    at.write("jest.config.json", "{}")
    return run_jest(at)


@client("jest, resetModules, two files in one process", "jest")
def start_jest_again(at: Place) -> str:
    for file in ("one.test.js", "two.test.js"):
        tests = "for (const name of ['a', 'b']) test(name, () => { PROGRAM });"
        at.write(file, f"beforeEach(() => jest.resetModules()); {tests}")
    at.write("jest.config.json", "{}")
    return run_jest(at, "--runInBand")


def run_jest(at: Place, *options: str) -> str:
    """What Jest prints; it prints to standard error."""
    words = ("--config=jest.config.json", "--rootDir=.", "--useStderr=false", *options)
    script = 'exec "$@" 2>&1'
    return at.run("sh", "-c", script, "sh", "node", at.tools / "jest/bin/jest.js", *words)


for pool in ("threads", "forks", "vmThreads"):

    @client(f"vitest, {pool}", "vitest")
    def start_vitest(at: Place, pool: str = pool) -> str:
        use = 'const all = await import("PACKAGE"), it = all.default ?? all; USE'
        at.write("it.test.mjs", f'test("it", async () => {{ {use} }});')
        return at.run("node", at.tools / "vitest/vitest.mjs", "run", "--globals", f"--pool={pool}")


@client("mocha", "mocha")
def start_mocha(at: Place) -> str:
    at.write("test/it.js", 'it("it", () => { PROGRAM });')
    return at.run("node", at.tools / "mocha/bin/mocha.js")


@client("jasmine", "jasmine")
def start_jasmine(at: Place) -> str:
    at.write("it.spec.js", 'it("it", () => { PROGRAM expect(1).toBe(1); });')
    return at.run("node", at.tools / "jasmine/bin/jasmine.js", "it.spec.js")


RUNNERS = {
    "c8": ("c8", "node"),
    "nyc": ("nyc", "node"),
    "tsx": ("tsx",),
    "jiti": ("jiti",),
    "@babel/node": ("babel-node",),
}
"""Programs that run programs."""

for name, words in RUNNERS.items():

    @client(name, name)
    def start_by(at: Place, words: tuple[str, ...] = words) -> str:
        return at.run(at.tool(words[0]), *words[1:], at.write("app.cjs"))


@client("piscina", "piscina")
def start_piscina(at: Place) -> str:
    at.write("work.cjs", "module.exports = () => { PROGRAM };")
    pool = 'new (require("TOOLS/piscina").Piscina)({ filename: __dirname + "/work.cjs" })'
    return at.run("node", at.write("app.cjs", f"const pool = {pool}; pool.run().then(() => pool.destroy());"))


@dataclass(frozen=True)
class Installer:
    """How an installer fills node_modules."""

    package: str
    """The one that has it; "" for npm."""
    command: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    node: tuple[str, ...] = ("node",)


_NPM = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
_PNPM = ("node", "TOOLS/pnpm/bin/pnpm.cjs", "install", "--ignore-scripts")
_YARN = ("node", "TOOLS/@yarnpkg/cli-dist/bin/yarn.js", "install")
_LOCK = ("yarn.lock", "")
INSTALLERS = {
    "npm --install-strategy=nested": Installer("", (*_NPM, "--install-strategy=nested")),
    "npm --install-strategy=linked": Installer("", (*_NPM, "--install-strategy=linked")),
    "pnpm": Installer("pnpm", _PNPM),
    "pnpm, node-linker=hoisted": Installer("pnpm", _PNPM, ((".npmrc", "node-linker=hoisted\n"),)),
    "Yarn 1": Installer("yarn", ("node", "TOOLS/yarn/bin/yarn.js", "install", "--ignore-scripts", "--silent")),
    "Yarn 4, nodeLinker: node-modules": Installer(
        "@yarnpkg/cli-dist", _YARN, ((".yarnrc.yml", "nodeLinker: node-modules\n"), _LOCK)),
    "Yarn 4, nodeLinker: pnpm": Installer("@yarnpkg/cli-dist", _YARN, ((".yarnrc.yml", "nodeLinker: pnpm\n"), _LOCK)),
    "Yarn 4, nodeLinker: pnp": Installer(
        "@yarnpkg/cli-dist", _YARN, ((".yarnrc.yml", "nodeLinker: pnp\n"), _LOCK), ("node", "-r", "./.pnp.cjs")),
    "bun install": Installer(BUN, (f"TOOLS/{BUN}/bin/bun", "install", "--ignore-scripts")),
}  # fmt: skip

for name, installer in INSTALLERS.items():

    @client(name, installer.package)
    def start_installed(at: Place, installer: Installer = installer) -> str:
        shutil.rmtree(at.app / "node_modules")
        for file, text in installer.files:
            at.write(file, text)
        pinned = dict.fromkeys(("dependencies", "resolutions", "overrides"), at.dependencies)
        about = {"name": "app", "version": "1.0.0", "private": True, "pnpm": {"overrides": at.dependencies}}
        at.write("package.json", json.dumps({**about, **pinned}))
        at.run(*(word.replace("TOOLS", str(at.tools)) for word in installer.command))
        return at.run(*installer.node, at.write("app.cjs"))
