"""Checks LB901 and LB904-LB906: whether npm installs a package, and Node.js finds its files."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from loadcheck.checks.modes import is_program
from loadcheck.ecosystems.npm.checks.addons import is_for_many
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.wording import some
from loadcheck.readers.package_json import (
    MANIFEST,
    ON_INSTALL,
    Manifest,
    admits,
    builds_on_install,
    exported_files,
    installed_files,
    manifest_path,
    prebuilt_for,
    read_manifest,
)
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from loadcheck.model import Severity
    from loadcheck.readers.contents import Contents

_NAME = re.compile(r"(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*", re.IGNORECASE)
"""The names that npm installs; new packages need lower-case names."""
_LONGEST_NAME = 214
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
_FILE = re.compile(r".+?-\d+\.\d+\.\d+.*\.tgz")
_ON_GIT = ("prepublish", "preprepare", "prepare", "postprepare")
_RUNS_FILE = re.compile(r"node (?P<path>[\w./-]+\.[cm]?js)\b")
"""A script that runs a file of the package."""
_CHMOD = re.compile(r"chmod (-R )?([ua]?\+x|0?7[0-7]5) (?P<paths>[\w./ @-]+)")
"""A script that only makes files executable."""
_BUILDS = re.compile(r"node-gyp|node-pre-gyp|prebuild|cmake|make\b|cargo|curl|wget|download|fetch")
"""A script that builds or gets a native file."""
_FINDS_PREBUILT = "node-gyp-build"
"""The script that takes what is prebuilt in the package, and otherwise runs node-gyp."""
_USUAL_PLATFORMS = (("linux", "x64"), ("linux", "arm64"), ("darwin", "x64"), ("darwin", "arm64"), ("win32", "x64"))
_OF_NODE = frozenset({"import", "require", "default", "node", "module-sync", "node-addons"})
"""The conditions by which Node.js chooses a file in `exports`."""
_INSTALLED_BY = ("dependencies", "optionalDependencies", "peerDependencies")
_MAIN_ENDS = ("", ".js", ".json", ".node", "/index.js", "/index.json", "/index.node")
_TYPE_ENDS = ("", ".d.ts", ".ts", "/index.d.ts")


@check(
    "LB901",
    "package.json missing, broken or of another package",
    "error",
    because="npm does not install the package. The finding is a warning if only the file name differs, or if only "
    "npm publish refuses the package.",
    kinds=("npm",),
    example="acme-tiny-1.2.3.tgz has version 1.2.2 in package.json",
    fix="Make the tarball with npm pack.",
)
def manifest_broken(package: Contents) -> Hits:
    """npm reads the name and version from package.json in the top-level folder, whatever the tarball is called.

    `npm publish` refuses packages with `"private": true`, and the registry names of more than 214 characters
    (package.json of npm's documentation).
    """
    inner, manifest = manifest_path(package), read_manifest(package)
    if manifest is None:
        cause, text = ("object", "is not a JSON object") if inner else ("absent", f"has no {MANIFEST} in its folder")
        yield Hit(cause=cause, inner=inner, message=text, evidence=(inner or f"missing: package/{MANIFEST}",))
        return
    name, version = manifest.text("name"), manifest.text("version").strip().lstrip("=v")  # as npm reads it
    seen = (f"name: {name}",)
    if not _NAME.fullmatch(name):
        yield Hit(cause="name", inner=inner, message=f"has {name!r} as its name, which npm refuses", evidence=seen)
    if not _VERSION.fullmatch(version):
        text = f"has {version!r} as its version, which is not SemVer"
        yield Hit(cause="version", inner=inner, message=text, evidence=(f"version: {version}",))
    if len(name) > _LONGEST_NAME:
        text = f"has a name of {len(name)} characters; the registry takes {_LONGEST_NAME}"
        yield Hit(cause="length", inner=inner, message=text, evidence=seen, severity="warning")
    if manifest.fields.get("private") is True:
        text, fix = 'has "private": true, so npm publish refuses it', 'Remove "private" from package.json.'
        seen = ('"private": true',)
        yield Hit(cause="private", inner=inner, message=text, evidence=seen, fix=fix, severity="warning")
    shown = version.partition("+")[0]  # npm leaves build metadata out
    stems = (name.removeprefix("@").replace("/", "-"), name.rpartition("/")[2])
    if _FILE.fullmatch(package.path.name) and package.path.name not in {f"{stem}-{shown}.tgz" for stem in stems}:
        text, seen = f"is {name} {version}, which differs from the file name", (f"file {package.path.name}",)
        yield Hit(cause="file name", inner=inner, message=text, evidence=seen, severity="warning")


@check(
    "LB904",
    "Install script",
    "warning",
    because="npm 12 skips the script, unless the application's allowScripts lists the package. npm with "
    "--ignore-scripts skips it, too. The finding is a note if the script runs "
    "only for an installation from git, or only makes files executable that are executable already. It is also a note "
    "if the package, or a package that it requires, has the native file or the program that bin starts, unless the "
    "script's own file is missing.",
    kinds=("npm",),
    example='"postinstall": "node install.js"',
    fix="Make one package for each platform with its native files, and find the files with require.resolve().",
)
def install_script(package: Contents) -> Hits:
    """A package that needs its install script does not work with npm's safe setting, which blocks scripts.

    A binding.gyp at the root counts as a script: npm runs node-gyp for it.
    """
    manifest = read_manifest(package)
    if manifest is None:
        return
    scripts, installed = manifest.table("scripts"), installed_files(package)
    works_without = _has_addon(package, manifest) or _has_programs(package, manifest)
    for name in (*ON_INSTALL, *_ON_GIT):
        if command := str(scripts.get(name) or ""):
            missing = _missing_file(command, installed) if name in ON_INSTALL else ""
            is_needed = name in ON_INSTALL and (bool(missing) or not works_without)
            is_needed = is_needed and not _changes_nothing(package, command)
            yield Hit(
                cause=f"{name} without file" if missing else name,
                inner=manifest.inner,
                message=f"has the script {name}" + (f", whose file {missing} is missing" if missing else ""),
                evidence=(f"{name}: {command}",),
                severity="warning" if is_needed else "note",
            )
    if unbuilt := _list_unbuilt(manifest, installed):
        yield Hit(
            cause="unbuilt",
            names=tuple(unbuilt),
            inner=manifest.inner,
            message=f"has the script install, which fails on {', '.join(unbuilt)}: nothing is prebuilt for "
            f"{'it' if len(unbuilt) == 1 else 'them'}, and there is no binding.gyp to compile",
            evidence=(f"install: {scripts['install']}", "missing: binding.gyp"),
            fix="Add prebuilt files for these systems, or binding.gyp and its sources, or limit os and cpu.",
            severity="warning",
        )
    path = installed.get("binding.gyp", "")
    if path and not {"install", "preinstall"} & scripts.keys() and manifest.fields.get("gypfile") is not False:
        seen = ("binding.gyp and no script install",)
        yield Hit(cause="node-gyp", inner=path, message="makes npm run node-gyp", evidence=seen)


def _list_unbuilt(manifest: Manifest, installed: Collection[str]) -> list[str]:
    """The usual platforms on which npm installs the package, and node-gyp-build has nothing to find or to compile."""
    command = str(manifest.table("scripts").get("install") or "")
    if command.strip() != _FINDS_PREBUILT or "binding.gyp" in installed:
        return []
    folders = {posixpath.dirname(name) for name in installed if name.endswith(".node")}
    prebuilt = {f"{system}-{cpu}" for system, cpus in map(prebuilt_for, folders) for cpu in cpus}
    admitted = [
        f"{system}-{cpu}"
        for system, cpu in _USUAL_PLATFORMS
        if admits(manifest.read_values("os"), system) and admits(manifest.read_values("cpu"), cpu)
    ]
    return [platform for platform in admitted if platform not in prebuilt]


def _missing_file(command: str, installed: Collection[str]) -> str:
    """The file that a script runs and the package lacks, else ""."""
    match = _RUNS_FILE.match(command)
    return match["path"] if match and posixpath.normpath(match["path"]) not in installed else ""


def _changes_nothing(package: Contents, command: str) -> bool:
    """Whether a script makes files executable that the tarball has as executable files already."""
    match = _CHMOD.fullmatch(command.strip())
    modes = {file.name.partition("/")[2]: file.mode for file in package.files}
    paths = [posixpath.normpath(path) for path in match["paths"].split()] if match else []
    inside = [[mode for name, mode in modes.items() if f"{name}/".startswith(f"{path}/")] for path in paths]
    return bool(paths) and all(found and all(mode & 0o100 for mode in found) for found in inside)


def _has_programs(package: Contents, manifest: Manifest) -> bool:
    """Whether `bin` names commands, and all programs of the package can be started without a script."""
    programs = [file for file in package.native if any(is_program(image) for image in file.images)]
    can_start = all(file.format == "pe" or file.mode & 0o111 for file in programs)
    commands = " ".join(str(manifest.table("scripts").get(name) or "") for name in ON_INSTALL)
    return bool(programs and can_start and manifest.fields.get("bin") and not _BUILDS.search(commands))


def _has_addon(package: Contents, manifest: Manifest) -> bool:
    """Whether Node.js finds an add-on without a script: in the package, or in those for each platform."""
    return manifest.has_platform_packages or any(is_for_many(file) for file in package.native if file.is_node_addon)


@check(
    "LB905",
    "Files that npm does not install as they are",
    "warning",
    profiles=("all",),
    because="The installed package differs from the tarball.",
    kinds=("npm",),
    example="package/libtiny.so is a link to libtiny.so.1",
    fix="Make the tarball with npm pack.",
)
def not_installed(package: Contents) -> Hits:
    """npm leaves out links, and unpacks all folders of the tarball into one.

    Packages below node_modules are installed only if `bundleDependencies` names them; npm ignores all others.
    """
    if package.links:
        what = f"{plural(len(package.links), 'link')} that npm leaves out: {', '.join(package.links[:3])}"
        yield Hit(cause="links", message=f"has {what}", evidence=some([*package.links]))
    if len(tops := sorted(package.tops)) > 1:
        yield Hit(cause="folders", message=f"has {len(tops)} folders, which npm unpacks into one", evidence=some(tops))
    manifest = read_manifest(package)
    names = [file.name for file in package.files if "/node_modules/" in file.name]
    bundled = manifest and (manifest.fields.get("bundleDependencies") or manifest.fields.get("bundledDependencies"))
    if names and not bundled:
        text = "is below node_modules, but no dependency is bundled"
        yield Hit(cause="node_modules", inner=names[0], message=text, evidence=some(names))


@check(
    "LB906",
    "Entry point, or what it requires, missing",
    "error",
    because="Importing the package or starting its program fails. The finding is a warning if the key is types, if "
    "Node.js does not use the file or uses index.js instead, or if the file is the main of a package that only has "
    "programs (bin). It is a note if that main is index.js, which npm init writes. It is a warning if main requires "
    "packages for each platform that package.json does not.",
    kinds=("npm",),
    example='"main": "./index.cjs", which the tarball lacks',
    fix="Correct main, exports, types and bin in package.json, or add the file.",
)
def entry_point_missing(package: Contents) -> Hits:
    """Node.js opens the file that `exports` names for the kind of import, or else the file that `main` names.

    The code of napi-rs in `main` requires the package for the platform, such as `@acme/tiny-linux-x64-gnu`, which npm
    installs if `optionalDependencies` names it: `Cannot find module '@acme/tiny-linux-x64-gnu'`. All of them may be
    missing, or those for platforms that `os` and `cpu` name. Nothing is reported if the package has an add-on or
    WebAssembly itself, or an install script.
    """
    manifest = read_manifest(package)
    if manifest is None:
        return
    yield from _judge_parts(package, manifest)
    installed = installed_files(package).keys()
    for key, named, ends, severity in _list_entry_points(manifest):
        path = named.removeprefix("./").rstrip("/")
        if path and ".." not in path.split("/") and not any(f"{path}{end}" in installed for end in ends):
            if key == "main" and "index.js" in installed:
                severity = "warning"  # noqa: PLW2901  # Node.js falls back to it
            yield Hit(
                cause=f"{key} {named}",
                inner=manifest.inner,
                message=f"names {named} as {key}, but that file is missing",
                evidence=(f"{key}: {named}",),
                severity=severity,
            )


def _judge_parts(package: Contents, manifest: Manifest) -> Hits:
    """The packages for each platform that main requires, and that nothing installs."""
    installed = installed_files(package)
    main = manifest.text("main").removeprefix("./") or "index.js"
    name = next((installed[f"{main}{end}"] for end in _MAIN_ENDS if f"{main}{end}" in installed), "")
    required = next((file.required for file in package.files if file.name == name), ())
    parts = manifest.find_required_parts(required)
    has_code = any(file.is_node_addon or file.base.endswith((".wasm", ".wasi.cjs")) for file in package.files)
    if not parts or has_code or builds_on_install(package, manifest):
        return
    brought = {name for table in _INSTALLED_BY for name in manifest.table(table)}
    lacking = {platform: names for platform, names in parts.items() if brought.isdisjoint(names)}
    if len(lacking) < len(parts):
        systems, cpus = manifest.read_values("os"), manifest.read_values("cpu")
        lacking = {(os, cpu): names for (os, cpu), names in lacking.items() if os in systems and cpu in cpus}
    if lacking:
        where = ", ".join(map("-".join, lacking))
        missing = [part for names in lacking.values() for part in names]
        yield Hit(
            cause="parts",
            names=tuple(missing),
            inner=name,
            message=f"requires packages for {where} that package.json does not require",
            evidence=some([f"require('{part}')" for part in missing]),
            fix="Add the packages to optionalDependencies with their exact version, as napi prepublish does.",
            severity="warning",
            assumption="the code has no other implementation for these systems",
        )


def _judge_main(manifest: Manifest, main: str) -> Severity:
    """How bad it is that main is missing. `npm init` writes index.js there, also for what is only a program."""
    is_library = any(key in manifest.fields for key in ("types", "typings", "module", "browser"))
    if manifest.fields.get("bin") and "exports" not in manifest.fields and not is_library:
        return "note" if main.removeprefix("./") == "index.js" else "warning"
    return "warning" if "exports" in manifest.fields else "error"


def _list_entry_points(manifest: Manifest) -> Iterator[tuple[str, str, tuple[str, ...], Severity]]:
    """Each file that package.json names as an entry point: the key, the file, its possible suffixes, the severity."""
    if main := manifest.text("main"):
        yield "main", main, _MAIN_ENDS, _judge_main(manifest, main)
    for key in ("types", "typings"):
        if named := manifest.text(key):
            yield key, named, _TYPE_ENDS, "warning"
    exports = manifest.fields.get("exports")
    for named, conditions in dict.fromkeys(exported_files(exports)):
        yield "exports", named, ("",), "error" if _OF_NODE.issuperset(conditions) else "warning"
    commands = manifest.fields.get("bin")
    for command in commands.values() if isinstance(commands, dict) else (commands,):
        if isinstance(command, str):
            yield "bin", command, ("", ".js"), "error"
