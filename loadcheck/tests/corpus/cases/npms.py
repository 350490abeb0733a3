"""Bad subjects for LB9xx, and npm packages that other checks judge."""

from __future__ import annotations

import stat
import zipfile
from typing import TYPE_CHECKING

from corpus.cases.case import Case, contents, dll, dylib, good, made_by, npm, runtime, shared, wheel
from corpus.cases.hygiene import member
from corpus.cases.linkage import STRANGER, with_odd
from corpus.cases.macos import ONE_VERSION, V8_USER, both
from corpus.cases.tags import ARM, cxx_user, thread

if TYPE_CHECKING:
    from corpus.packages import Bench

MUSL = "x86_64-linux-musl"
BUILT = "build/Release/tiny.node"

WHOLE = {"name": "@acme/tiny", "os": None, "cpu": None, "libc": None}
ENTRIES = {
    "main": "./index.cjs",
    "exports": {".": {"types": "./index.d.ts", "import": "./index.mjs", "require": "./index.cjs"}, "./*": "./*.js"},
    "types": "./index.d.ts",
    "bin": {"tiny": "cli.js"},
}
PLATFORM_PACKAGES = ("@acme/tiny-linux-x64-gnu", "@acme/tiny-win32-x64-msvc")
LOADING = "".join(f"try {{ b = require('{name}') }} catch (e) {{ }}\n" for name in PLATFORM_PACKAGES).encode()
FILES = ("index.cjs", "index.mjs", "index.d.ts", "cli.js")


def entries(*lacking: str):
    return npm({name: b"" for name in FILES if name not in lacking}, **WHOLE, **ENTRIES)


def musl(bench: Bench) -> bytes:
    return bench.good(MUSL)


@made_by
def on_musl(bench: Bench, name: str) -> bytes:
    """A library that needs musl, by a stand-in of its name, and a library of that name."""
    odd, libc = (
        bench.compiler.library(f"int {symbol}(void) {{ return 1; }}\n", f"-Wl,-soname,{soname}", name=f"lib{symbol}.so")
        for symbol, soname in (("odd", name), ("libc", "libc.musl-x86_64.so.1"))
    )
    source = f"extern int libc(void);\nint latenn_g(void) {{ return libc(); }}\n{STRANGER}"
    return bench.compiler.library(source, odd, libc, "-nostdlib").read_bytes()


def v8_user(*flags: str):
    return contents(shared(V8_USER, "-Wl,-z,undefs", "-Wl,-z,relro", *flags))


program = made_by(lambda bench: bench.compiler.program("int main(void) { return 0; }\n").read_bytes())()


@made_by
def asks_for_loader(bench: Bench) -> bytes:
    """A program that only its loader shows to be for glibc."""
    library = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", "-nostdlib")
    source = "extern int odd(void);\nvoid _start(void) { odd(); }\n"
    return bench.compiler.program(source, library, "-nostdlib").read_bytes()


def needs_loader(bench: Bench) -> bytes:
    """A library for glibc that takes a function from its loader, as thread-local storage does."""
    code, soname = "int __tls_get_odd(void) { return 1; }\n", "-Wl,-soname,ld-linux-x86-64.so.2"
    loader = bench.compiler.library(code, soname, name="libloader.so")
    source = "#include <unistd.h>\nextern int __tls_get_odd(void);\n"
    source += "int tiny(void) { return __tls_get_odd() + getpid(); }\n"
    return bench.compiler.library(source, loader).read_bytes()


@made_by
def started(bench: Bench, name: str, mode: int):
    """A wheel with a program of that mode."""
    paths = bench.wheel()
    with zipfile.ZipFile(paths[0], "a") as archive:
        member(name, program(bench), stat.S_IFREG | mode)(archive)
    return paths


one_version = contents(shared(ONE_VERSION))
registers = contents(
    shared("extern void node_module_register(void *);\nvoid f(void) { node_module_register(0); }\n", "-Wl,-z,undefs")
)


def for_versions(*numbers: int, more: dict | None = None):
    """An add-on for each of these binary interfaces of Node.js, which its path names."""
    return npm({**{f"build/node-v{number}-linux-x64/tiny.node": registers for number in numbers}, **(more or {})})


def for_linux(files: dict | None = None, **fields: object):
    """An add-on for linux-x64, which node-gyp-build finds on installation."""
    addons = {"prebuilds/linux-x64/tiny.glibc.node": good()}
    return npm({**addons, **(files or {})}, scripts={"install": "node-gyp-build"}, **{**WHOLE, **fields})


def whole(pin: str = "1.2.3", part: str = "1.2.3"):
    def make(bench: Bench):
        parts = {"@acme/tiny-linux-x64": pin} if pin else {}
        main = bench.npm({}, **WHOLE, optionalDependencies={**parts, "sharp": "^1"})
        return [*main, *bench.npm(version=part)]

    return make


def peer(text: str):
    peers = {"onnxruntime-node": text} if text else {}
    return lambda bench: [*bench.npm({}, **WHOLE, peerDependencies=peers), *bench.npm()]


def host_user(name: str):
    calls = ("napi_create_int32", "BrotliDecoderDecompress", "SSL_new", "_ZTIN10__cxxabiv115__forced_unwindE")
    code = "".join(f"extern int {call}(void);\n" for call in calls)
    code += f"int tiny(void) {{ return {' + '.join(f'{call}()' for call in calls)}; }}\n"
    return npm({name: contents(shared(code, "-Wl,-z,undefs"))})


def link(*names: str):
    """A library that calls functions which nothing that it links defines."""
    code = "".join(f"extern int {name}(void);\n" for name in names)
    return contents(shared(f"{code}int tiny(void) {{ return {' + '.join(f'{name}()' for name in names)}; }}\n",
                           "-Wl,-z,undefs", "-Wl,-soname,libtiny.so", "-fno-builtin"))  # fmt: skip


@made_by
def with_program(bench: Bench, name: str):
    """A package with a library and a program that needs it."""
    library = bench.compiler.library("int tiny(void) { return 1; }\n", "-Wl,-soname,libtiny.so", name="libtiny.so")
    program = bench.compiler.program("extern int tiny(void);\nint main(void) { return tiny(); }\n", library)
    return bench.npm({"libtiny.so": link(name)(bench), "bin/tiny": program.read_bytes()}, mode=0o755)


def hooks(mode: int, script: str = "hooks.js"):
    """A package that is a program, with a script that uses it."""
    files = {"bin/x64/tiny": program, "cli.js": b"", script: b""}
    return npm(files, mode=mode, bin={"tiny": "cli.js"}, scripts={"postinstall": f"node {script}"})


def prebuilt(folder: str, needs: dict[str, str] | None = None):
    fields = {**WHOLE, "optionalDependencies": needs or {}}
    return npm({f"prebuilds/{folder}/libtiny.so": with_odd}, **fields)


@made_by
def prebuilds(bench: Bench, folder: str, *addons: bytes):
    """A package for all platforms with add-ons in the folder of one; without any given, one for Linux on x64."""
    names = (f"tiny{f'-{number}' * bool(number)}.node" for number in range(len(addons) or 1))
    files = zip(names, addons or (bench.good(),), strict=True)
    return bench.npm({f"prebuilds/{folder}/{name}": data for name, data in files}, **WHOLE)


@made_by
def for_alpine(bench: Bench, name: str, second: str = "", folder: str = "prebuilds/linux-x64", **fields: object):
    """A package for all platforms with an add-on that calls a function which only glibc has."""
    addon = bench.compiler.library(
        "extern char *gnu_get_libc_version(void);\nchar *tiny(void) { return gnu_get_libc_version(); }\n"
    )
    files = {f"{folder}/{name}": addon.read_bytes()}
    if second:
        files[f"{folder}/{second}"] = bench.good(MUSL)
    return bench.npm(files, **{**WHOLE, **fields})


def chmod(mode: int):
    return npm({"bin/tiny": b"#!"}, mode=mode, scripts={"postinstall": "chmod +x bin/tiny"})


def rpath_to_odd(needs: dict[str, str]):
    """A package whose library needs one that another package has, next to it in node_modules."""
    odd = shared("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so")
    library = contents(shared(STRANGER, odd, "-Wl,-rpath,$ORIGIN/../../odd/lib"))
    return npm({"libtiny.so": library}, dependencies=needs)


def bundle_runtime(**how: object):
    return npm({"libonnxruntime.so.1": contents(runtime())}, **how)


CALLED_OTHERWISE = {
    "ia32": "x86 x32 i386 i686 386 x86_32",
    "x64": "amd64 x86_64 x86-64 x64_64",
    "arm64": "aarch64 armv8",
    "arm": "armv6 armv6l armv7 armv7l armhf arm32",
    "ppc64": "ppc64le powerpc64le",
}
CASES = [
    Case("LB901", "no package.json", npm({"other/package.json": b"{}"}, text=b" "), npm(), at="!package/package.json",
         says="not a JSON object"),
    Case("LB901", "nested too deeply", npm(text=b"[" * 100_000), npm(), at="!package/package.json", says="JSON object"),
    Case("LB901", "a name that npm refuses", npm(name="@acme/ti ny", file_name="tiny.tgz"), npm(),
         at="!package/package.json", says="'@acme/ti ny'"),
    Case("LB106", "a library next to add-ons; what Node.js has loaded or exports",
         npm({"libtiny.so": link("odd")}),
         npm({"libtiny.so": link("_ZNKSt13runtime_error4whatEv", "__cxa_throw", "inflate", "uv_run")}),
         at="!package/libtiny.so", says="that nothing provides: odd"),
    *(Case("LB902", f"the processor {name}, which Node.js calls otherwise", npm({}, name="tiny", cpu=["s390x", name]),
           npm({}, name="tiny", cpu=["s390x", usual]), at="!package/package.json",
           says=f"names cpu {name}, which Node.js does not use; Node.js calls it {usual}", severity="warning")
      for usual, names in CALLED_OTHERWISE.items() for name in names.split()),
    Case("LB902", "a system that Node.js calls otherwise, and no other", npm({}, name="tiny", os=["macos"], cpu=None),
         npm({}, name="tiny", os=["!win32"], cpu=None), at="!package/package.json", says="names os macos"),
    Case("LB901", "a name that the registry refuses", npm(name="a" * 215, file_name="a.tgz"),
         npm(name="a" * 214, file_name="a.tgz"), at="!package/package.json", says="215 characters", severity="warning"),
    Case("LB901", "a package that npm publish refuses", npm(private=True), npm(private=False),
         at="!package/package.json", says='"private": true', severity="warning"),
    Case("LB901", "a version that is not SemVer", npm(version="1.2"), npm(), at="!package/package.json", says="'1.2'"),
    Case("LB901", "a version with a v, which npm reads without it", npm(version="v1.2"),
         npm(version="v1.2.3", file_name="tiny-linux-x64-1.2.3.tgz"), at="!package/package.json", says="'1.2'"),
    Case("LB901", "a file of another version", npm(file_name="acme-tiny-linux-x64-1.2.4.tgz"),
         npm(file_name="tiny-linux-x64-1.2.3.tgz"), at="!package/package.json", says="1.2.4", severity="warning"),
    Case("LB901", "build metadata, which npm leaves out", npm(version="1.2.3+5", file_name="tiny-1.2.4.tgz"),
         npm(version="1.2.3+5", file_name="acme-tiny-linux-x64-1.2.3.tgz"), at="!package/package.json",
         says="1.2.3+5", severity="warning"),
    Case("LB902", "a library of another processor", npm({"libtiny.so": good(ARM)}), npm(), at="!package/libtiny.so",
         says="arm64"),
    Case("LB902", "a library of another system", npm({"libtiny.so": dylib()}),
         npm({"libtiny.dylib": dylib()}, os=["!win32"], cpu="arm64", name="tiny"), at="!package/libtiny.so",
         says="macOS"),
    Case("LB902", "a library of another system next to one that fits", npm({"a.so": dylib(), "b.so": good()}), npm(),
         at="!package/a.so", says="macOS", severity="note"),
    Case("LB902", "another system than the name says", npm(os=["darwin"]), npm(), at="!package/package.json",
         says="its name says linux"),
    Case("LB902", "no processor", npm(cpu=None), npm(name="tiny", cpu=None), at="!package/package.json",
         says="no cpu", severity="warning"),
    Case("LB902", "no processor, in a package without native files", npm({"libtiny.so": b""}, cpu=None),
         npm({"libtiny.so": b""}, cpu=None, name="tiny"), at="!package/package.json", says="no cpu", severity="note"),
    Case("LB903", "a library for musl in a package for glibc", npm({"libtiny.so": musl}), npm(),
         at="!package/libtiny.so", says="linked against musl"),
    Case("LB903", "libraries for both", npm({"a.so": musl, "b.so": good()}), npm(), at="!package/a.so",
         says="linked against musl", severity="note"),
    Case("LB903", "no C library is named", npm(libc=None), npm(libc=None, os=["darwin"]), at="!package/package.json",
         says="without glibc", severity="warning"),
    Case("LB902", "a processor without an add-on", npm({BUILT: good()}, name="tiny", cpu=["x64", "arm64"]),
         npm({BUILT: good()}, name="tiny", cpu=["x64", "arm64"], scripts={"install": "node get.js"}),
         at="!package/package.json", says="names cpu arm64, but has no add-on for it", severity="warning"),
    Case("LB902", "a processor with a library, but without an add-on",
         npm({BUILT: good(), "libtiny.so": good(ARM)}, name="tiny", cpu=["x64", "arm64"]),
         npm({BUILT: good(), "build/arm64/tiny.node": good(ARM)}, name="tiny", cpu=["x64", "arm64"]),
         at="!package/package.json", says="names cpu arm64, but has no add-on for it", severity="warning"),
    Case("LB903", "no C library is named in a package for Linux alone", npm({BUILT: good()}, name="tiny", libc=None),
         npm({BUILT: good()}, name="tiny", os=["linux", "darwin"], libc=None), at="!package/package.json",
         says="without glibc", severity="warning"),
    Case("LB903", "a program for musl that asks for the loader of glibc",
         npm({"bin/tiny": asks_for_loader()}, libc=["musl"]), npm({"bin/tiny": asks_for_loader()}),
         at="!package/bin/tiny", says="linked against glibc"),
    Case("LB903", "an add-on that node-gyp-build opens on musl systems", for_alpine("tiny.node"),
         for_alpine("tiny.glibc.node"), at="!package/prebuilds/linux-x64/tiny.node",
         says="is also opened on musl systems, which lack gnu_get_libc_version", severity="warning"),
    *(Case("LB903", f"an add-on for glibc in linux-x64, and in {folder}", for_alpine("tiny.node"),
           for_alpine("tiny.node", folder=f"prebuilds/{folder}"), at="!package/prebuilds/linux-x64/tiny.node",
           says="is also opened on musl systems", severity="warning")
      for folder in ("linux-x64-gnu", "linux-x64-glibc", "linux_amd64-gnu")),
    Case("LB903", "an add-on that needs the loader of glibc, which musl systems lack",
         npm({"prebuilds/linux-x64/tiny.node": needs_loader}, **WHOLE),
         npm({"prebuilds/linux-x64/tiny.node": good()}, **WHOLE), at="!package/prebuilds/linux-x64/tiny.node",
         says="which lack ld-linux-x86-64.so.2", severity="warning"),
    Case("LB903", "an add-on that bindings opens on musl systems", for_alpine("tiny.node", folder="build/Release"),
         for_alpine("tiny.node", folder="build/Release", os=["win32"]), at="!package/build/Release/tiny.node",
         says="is also opened on musl systems, which lack gnu_get_libc_version", severity="warning"),
    Case("LB903", "a program for musl that asks for the loader of glibc, next to one that does not",
         npm({"bin/tiny": asks_for_loader(), "bin/other": musl}, libc=["musl"]),
         npm({"bin/tiny": asks_for_loader()}), at="!package/bin/tiny", says="ld-linux-x86-64.so.2", severity="warning"),
    Case("LB903", "an add-on that a script compiles on musl systems",
         for_alpine("tiny.node", scripts={"install": "node-gyp-build"}), for_alpine("tiny.node", "tiny.musl.node"),
         at="!package/prebuilds/linux-x64/tiny.node", says="gnu_get_libc_version", severity="note"),
    Case("LB904", "a script after installing", npm(scripts={"postinstall": "node get.js"}),
         npm(scripts={"test": "node test.js"}), at="!package/package.json", says="node get.js", severity="warning"),
    Case("LB904", "a script that finds the add-on in the package",
         npm({"prebuilds/linux-x64/tiny.node": good()}, scripts={"install": "node-gyp-build"}), npm(scripts={}),
         at="!package/package.json", says="node-gyp-build", severity="note"),
    Case("LB904", "a script that has nothing for most systems, nor anything to compile", for_linux(),
         for_linux({"binding.gyp": b""}), at="!package/package.json", severity="warning",
         says="which fails on linux-arm64, darwin-x64, darwin-arm64, win32-x64: nothing is prebuilt for them",
         good_severity="note"),
    Case("LB904", "a script that has nothing for one of two processors", for_linux(os=["linux"], cpu=["x64", "arm64"]),
         for_linux(os=["linux"], cpu=["x64"]), at="!package/package.json", severity="warning",
         says="which fails on linux-arm64: nothing is prebuilt for it", good_severity="note"),
    Case("LB904", "a script next to packages for each platform",
         npm({"build.js": b""}, scripts={"install": "node ./build.js"}, **WHOLE,
             optionalDependencies=dict.fromkeys(PLATFORM_PACKAGES, "1.2.3")),
         npm(scripts={}), at="!package/package.json", says="node ./build.js", severity="note"),
    Case("LB904", "a script next to one package for a platform; to several, whatever their name",
         npm({"build.js": b""}, scripts={"install": "node ./build.js"},
             optionalDependencies={"@acme/bindings-linux-x64-gnu": "1.2.3", "acme-tiny-a": "1", "acme-tiny-b": "1"}),
         npm({"build.js": b""}, scripts={"install": "node ./build.js"},
             optionalDependencies={"@acme/bindings-linux-x64-gnu": "1.2.3", "@acme/bindings-darwin-arm64": "1.2.3"}),
         at="!package/package.json", says="node ./build.js", severity="warning", good_severity="note"),
    Case("LB904", "a script next to an add-on for one version of Node.js; for many",
         npm({"tiny.node": one_version}, scripts={"install": "node-gyp rebuild"}),
         npm({"tiny.node": good()}, scripts={"install": "node-gyp rebuild"}), at="!package/package.json",
         says="node-gyp rebuild", severity="warning", good_severity="note"),
    Case("LB906", "packages for each platform that nothing installs",
         npm({"index.cjs": LOADING}, **WHOLE, main="index.cjs"),
         npm({"index.cjs": LOADING}, **WHOLE, main="index.cjs", optionalDependencies={PLATFORM_PACKAGES[0]: "1.2.3"}),
         at="!package/index.cjs", says="packages for linux-x64, win32-x64 that", severity="warning"),
    Case("LB906", "a package for one of the systems that os names",
         npm({"index.js": LOADING}, **WHOLE | {"os": ["linux", "win32"], "cpu": ["x64"]},
             optionalDependencies={PLATFORM_PACKAGES[0]: "1.2.3"}),
         npm({"index.js": LOADING}, **WHOLE | {"os": ["linux"], "cpu": ["x64"]},
             optionalDependencies={PLATFORM_PACKAGES[0]: "1.2.3"}),
         at="!package/index.js", says="packages for win32-x64 that", severity="warning"),
    Case("LB906", "packages for each platform; an add-on of its own, and one that an install script builds",
         npm({"index.cjs": LOADING}, **WHOLE, main="index.cjs"),
         npm({"index.cjs": LOADING, "binding.gyp": b"{}"}, **WHOLE, main="index.cjs"),
         at="!package/index.cjs", says="require('@acme/tiny-linux-x64-gnu')", severity="warning"),
    Case("LB904", "a script that is missing, next to packages for each platform",
         npm(scripts={"install": "node build.js"}, **WHOLE,
             optionalDependencies=dict.fromkeys(PLATFORM_PACKAGES, "1.2.3")),
         npm(scripts={}), at="!package/package.json", says="whose file build.js is missing", severity="warning"),
    Case("LB108", "a folder of a package that is not required", rpath_to_odd({}), rpath_to_odd({"@acme/odd": "1.2.3"}),
         at="!package/libtiny.so", says="points outside the package", severity="warning"),
    Case("LB904", "a script for installing from git", npm(scripts={"prepare": "tsc"}), npm(scripts={}),
         at="!package/package.json", says="prepare: tsc", severity="note"),
    Case("LB904", "a script next to programs that do not start without it", hooks(0o644), npm(scripts={}),
         at="!package/package.json", says="node hooks.js", severity="warning"),
    Case("LB904", "a script next to programs that bin starts", hooks(0o755), npm(scripts={}),
         at="!package/package.json", says="node hooks.js", severity="note"),
    Case("LB904", "a script that downloads the programs that bin starts", hooks(0o755, "download.js"), npm(scripts={}),
         at="!package/package.json", says="node download.js", severity="warning"),
    Case("LB904", "a build by node-gyp", npm({"binding.gyp": b""}), npm({"binding.gyp": b""}, gypfile=False),
         at="!package/binding.gyp", says="node-gyp", severity="warning"),
    Case("LB904", "a script that makes a program executable", chmod(0o644), chmod(0o755), at="!package/package.json",
         says="chmod +x bin/tiny", severity="warning", good_severity="note"),
    Case("LB904", "a script that makes a program executable that already is", chmod(0o755), npm(scripts={}),
         at="!package/package.json", says="chmod +x bin/tiny", severity="note"),
    Case("LB905", "a link", npm(links=["libtiny.so.1"]), npm(), at=".tgz", says="libtiny.so.1", severity="warning"),
    Case("LB905", "packages that are not bundled", npm({"node_modules/koffi/index.js": b""}),
         npm({"node_modules/koffi/index.js": b""}, bundleDependencies=["koffi"]), at="koffi/index.js",
         says="no dependency is bundled", severity="warning"),
    *(Case("LB906", f"{name} is missing", entries(name), entries(), at="!package/package.json", says=f"{name} as {key}")
      for name, key in (("index.cjs", "exports"), ("index.mjs", "exports"), ("cli.js", "bin"))),
    *(Case("LB906", f"a file for the condition {condition} is missing", npm({}, **tree), npm({"a.js": b""}, **tree),
           at="!package/package.json", says="a.js as exports")
      for condition in ("import", "require", "default", "node", "module-sync", "node-addons")
      for tree in [{**WHOLE, "exports": {condition: "./a.js"}}]),
    Case("LB906", "types are missing", entries("index.d.ts"), entries(), at="!package/package.json",
         says="names ./index.d.ts as types", severity="warning"),
    Case("LB906", "main is missing", npm({}, **WHOLE, main="lib"), npm({"lib/index.js": b""}, **WHOLE, main="lib"),
         at="!package/package.json", says="names lib as main"),
    Case("LB906", "main is missing, and Node.js takes index.js", npm({"index.js": b""}, **WHOLE, main="lib"),
         npm({"index.js": b""}, **WHOLE), at="!package/package.json", says="names lib as main", severity="warning"),
    Case("LB906", "main of a program is missing", npm({"cli.js": b""}, **WHOLE, main="./lib.js", bin="cli.js"),
         npm({"cli.js": b"", "lib.js": b""}, **WHOLE, main="./lib.js", bin="cli.js"), at="!package/package.json",
         says="names ./lib.js as main", severity="warning"),
    Case("LB906", "the main that npm init writes for a program",
         npm({"cli.js": b""}, **WHOLE, main="index.js", bin="cli.js"), npm({"cli.js": b""}, **WHOLE, bin="cli.js"),
         at="!package/package.json", says="names index.js as main", severity="note"),
    Case("LB906", "the main that npm init writes for a library with types",
         npm({"cli.js": b"", "i.d.ts": b""}, **WHOLE, main="index.js", bin="cli.js", types="i.d.ts"),
         npm({"cli.js": b""}, **WHOLE, main="index.js", bin="cli.js"), at="!package/package.json",
         says="names index.js as main", good_severity="note"),
    Case("LB907", "an add-on of the build machine", prebuilds("linux-arm64"), prebuilds("linux-x64"),
         at="!package/prebuilds/linux-arm64/tiny.node", says="is for Linux on x64, but its folder is linux-arm64"),
    Case("LB907", "an add-on for Linux in a folder for two processors of macOS", prebuilds("darwin-x64+arm64"),
         npm({"prebuilds/darwin-x64+arm64/tiny.node": both}, **WHOLE),
         at="!package/prebuilds/darwin-x64+arm64/tiny.node", says="is for Linux on x64"),
    Case("LB907", "one slice in a folder for two processors", prebuilds("darwin-x64+arm64", dylib()),
         prebuilds("darwin-arm64", dylib()), at="!package/prebuilds/darwin-x64+arm64/tiny.node", says="is for macOS"),
    *(Case("LB907", f"one slice in {folder}", prebuilds(folder, dylib()),
           npm({f"prebuilds/{folder}/tiny.node": both}, **WHOLE), at=f"!package/prebuilds/{folder}/tiny.node",
           says=f"is for macOS on arm64, but its folder is {folder}")
      for folder in ("darwin-x64_arm64", "darwin-universal")),
    *(Case("LB907", f"an add-on for Linux on x64 in {folder}, and in {fitting}", prebuilds(folder), prebuilds(fitting),
           at=f"!package/prebuilds/{folder}/tiny.node", says=f"is for Linux on x64, but its folder is {folder}")
      for folder, fitting in (
          ("mac-x64", "linux-amd64"), ("macos_arm64", "linux_x64"), ("osx-x64", "linux-x86_64"),
          ("win64-x64", "linux-x64-gnu"), ("windows-x86_64", "linux_x86-64"), ("linux-aarch64", "linux-amd64"),
          ("linux-386", "linux-x64_64"), ("linux-arm64-musl", "linux-x64-glibc"),
          # folders that only look like those of a platform
          ("win-amd64", "darwin"), ("macosx_amd64", "imac-x64"), ("osx_arm64", "osx-x64-legacy"),
          ("linux_armv7", "linux-x640"), ("linux_ppc64le", "linux.arm64"), ("windows-arm64", "windows-universal"))),
    *(Case("LB907", f"an add-on for {what} in {folder}", prebuilds(folder), prebuilds(folder, data),
           at=f"!package/prebuilds/{folder}/tiny.node", says=f"its folder is {folder}")
      for what, folder, data in (
          ("macOS", "mac-arm64", dylib()), ("macOS", "osx_aarch64", dylib()), ("macOS", "macos-universal", both),
          ("Windows", "win-x64", dll()), ("Windows", "windows_amd64", dll()), ("Windows", "win64-x86_64", dll()),
          ("Linux on arm64", "linux-aarch64", good(ARM)), ("Linux on arm64", "linux_armv8", good(ARM)))),
    Case("LB907", "an add-on that is named for another processor", npm({"tiny.linux-arm64-gnu.node": good()}, **WHOLE),
         npm({"tiny.linux-x64-gnu.node": good()}, **WHOLE), at="!package/tiny.linux-arm64-gnu.node",
         says="is for Linux on x64, but its name says linux-arm64"),
    Case("LB907", "next to an add-on that fits", prebuilds("linux-arm64", good(ARM), good()),
         prebuilds("linux-arm64", good(ARM)), at="!package/prebuilds/linux-arm64/tiny-1.node",
         says="is for Linux on x64", severity="note"),
    Case("LB908", "a newer glibc than Node.js needs", npm({"tiny.node": thread("2.34")}),
         npm({"tiny.node": thread("2.17")}), at="!package/tiny.node",
         says="needs GLIBC_2.34 for pthread_create, but Node.js runs with 2.28", severity="warning"),
    Case("LB908", "a newer libstdc++ than Node.js needs", npm({"tiny.node": cxx_user("3.4.26")}),
         npm({"tiny.node": cxx_user("3.4.25"), "tiny.musl.node": cxx_user("3.4.26")}), at="!package/tiny.node",
         says="needs GLIBCXX_3.4.26", severity="warning"),
    Case("LB909", "a function of V8 in an add-on for Node-API that musl loads",
         npm({"tiny.napi.musl.node": v8_user("-Wl,-z,lazy")}),
         npm({"tiny.napi.glibc.node": v8_user("-Wl,-z,lazy")}), at="!package/tiny.napi.musl.node",
         says="is for Node-API, but uses 1 function of V8", severity="warning", good_severity="note"),
    Case("LB909", "a function of V8 that is looked for at once", npm({"tiny.node": v8_user("-Wl,-z,now")}),
         npm({"tiny.node": v8_user("-Wl,-z,lazy")}), at="!package/tiny.node", says="v8::Isolate::GetCurrent",
         severity="warning", good_severity="note"),
    Case("LB910", "an add-on for one version of Node.js", npm({"tiny.node": one_version}),
         npm({"tiny.node": one_version}, scripts={"install": "node-gyp rebuild"}), at="!package/tiny.node",
         says="is for ABI version 93 of Node.js", severity="warning"),
    Case("LB910", "add-ons for old versions of Node.js alone", for_versions(64, 93), for_versions(64, 115),
         at="!package/build/node-v93-linux-x64/tiny.node", severity="warning",
         says="(ABI 64, 93); Node.js 18 and newer find none"),
    Case("LB910", "an add-on for an old Node.js", for_versions(93), for_versions(93, more={"tiny.node": good()}),
         at="!package/build/node-v93-linux-x64/tiny.node", severity="warning", says="(ABI 93); Node.js"),
    Case("LB911", "a program of a package that another one uses", npm({"tiny": program}),
         npm({"tiny": program}, mode=0o755), at="!package/tiny",
         says="mode 644, so it does not start unless the package that uses it changes the mode", severity="warning"),
    Case("LB911", "a program in a wheel", wheel({"latenn/bin/tiny": program}),
         started("latenn/bin/tiny", 0o755), at="!latenn/bin/tiny",
         says="is a program with the mode 600, which pip keeps", severity="warning"),
    Case("LB911", "a program that nobody may start, and one that only others than its owner may",
         started("latenn/bin/tiny", 0o644), started("latenn/bin/tiny", 0o645), at="!latenn/bin/tiny", says="mode 644",
         severity="warning"),
    Case("LB911", "a program in a wheel, and one that its tests start", wheel({"latenn/bin/tiny": program}),
         wheel({"latenn/tests/tiny": program}), at="!latenn/bin/tiny", says="mode 600", severity="warning"),
    Case("LB911", "a program in the scripts folder of a wheel", started("latenn-1.0.data/scripts/tiny", 0o644),
         started("latenn-1.0.data/scripts/tiny", 0o755), at="/scripts/tiny",
         says="with the mode 644 in the scripts folder, where pip, unlike uv, keeps the mode", severity="warning"),
    Case("LB911", "a program in a wheel whose code changes its mode", wheel({"latenn/bin/tiny": program}),
         wheel({"latenn/bin/tiny": program, "latenn/start.py": b"os.chmod(tiny, 0o755)"}), at="!latenn/bin/tiny",
         says="mode 600", severity="warning"),
    Case("LB911", "a program that is not executable", npm({"bin/tiny": program}),
         npm({"bin/tiny": program}, mode=0o755), at="!package/bin/tiny", says="is a program with the mode 644",
         severity="warning"),
    Case("LB911", "a program that bin does not name", npm({"bin/tiny": program}, bin={"other": "bin/other"}),
         npm({"bin/tiny": program}, bin={"tiny": "./bin/tiny"}), at="!package/bin/tiny", says='"bin" does not name it',
         severity="warning"),
    Case("LB911", "a program whose mode no code changes", npm({"bin/tiny": program, "start.js": b"spawn('tiny')"}),
         npm({"bin/tiny": program, "start.js": b"fs.chmodSync(path, 0o755)"}), at="!package/bin/tiny", says="mode 644",
         severity="warning"),
    Case("LB910", "an add-on that registers itself", npm({"tiny.node": registers}),
         npm({"prebuilds/linux-x64/node.abi115.node": registers}), at="!package/tiny.node",
         says="imports node_module_register", severity="warning"),
    Case("LB410", "a range of a part", whole(pin="^1.2.3"), whole(), at="acme-tiny-1.2.3.tgz", says="^1.2.3"),
    Case("LB410", "a part that the main package does not name", whole(pin=""), whole(), at="acme-tiny-1.2.3.tgz",
         says="@acme/tiny-linux-x64, so nothing installs it"),
    Case("LB106", "what Node.js exports, to a library that a program of the package loads", with_program("uv_run"),
         npm({"libtiny.so": link("uv_run")}), at="!package/libtiny.so", says="that nothing provides: uv_run"),
    Case("LB106", "what Node.js exports, to a library that it does not load",
         wheel({"latenn/libtiny.so": link("uv_run")}), host_user("tiny.node"), at="!latenn/libtiny.so", says="uv_run"),
    *(Case("LB107", f"{other}, and {name}, which Node.js needs itself on musl",
           *(npm({"tiny.node": on_musl(library)}, libc=["musl"]) for library in (other, name)),
           at="!package/tiny.node", says=f"needs {other}, which is not in the package", severity="warning")
      for name, other in (("libstdc++.so.6", "libodd.so.3"), ("libgcc_s.so.1", "libgomp.so.1"),
                          ("libstdc++.so.6", "libstdc++.so.5"))),
    Case("LB107", "a library that another system has", prebuilt("linux-x64"), prebuilt("android-x64"),
         at="!package/prebuilds/linux-x64/libtiny.so", says="libodd.so.3", severity="warning"),
    Case("LB107", "a library that a required package may have", prebuilt("linux-x64"),
         prebuilt("linux-x64", {"@acme/libodd": "1.2.3"}),
         at="!package/prebuilds/linux-x64/libtiny.so", says="libodd.so.3", severity="warning"),
    Case("LB410", "a part of another version", whole(part="1.2.2"), whole(), at="acme-tiny-1.2.3.tgz",
         says="which is missing"),
    Case("LB602", "a file outside the package", npm({"../../evil.js": b""}), npm(), at="evil.js", says="plain"),
    Case("LB611", "a secret", npm({".env": b"API_KEY=x"}), npm(), at="!package/.env", says=".env"),
]  # fmt: skip
