"""npm packages: what is in them, whether npm takes them, and whether Node.js finds the library."""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile

import pytest

from latebind.checks.policy import project_policy
from latebind.config.file import load
from latebind.ecosystems.npm.files import npm_file
from latebind.ecosystems.npm.pack import entry_points
from latebind.errors import BuildError
from latebind.pack.planned import plan_packages
from loadcheck.api import audit_here
from tests.support.client import (
    CONFIG,
    PORTABLE_CMAKE,
    PORTABLE_SOURCE,
    edit,
    hashes,
    member,
    members,
    pack_project,
    write_client,
    write_files,
)
from tests.support.needs import require_programs
from tests.support.running import run_program

RIDS = ["linux-x64", "win-x64"]
NPM = '[package.tiny.npm]\nname = "@acme/tiny"\n'
ABOUT = 'repository = "https://git.example/acme/tiny"\nlicense_file = "LICENSE"\nreadme = "README.md"\n'
RUNTIME = '\n[[runtime]]\npreset = "onnxruntime"\nminimum = "1.20"\n'
SOURCE = {
    "index.cjs": 'exports.path = require("./latebind.cjs").libraryPath;\n',
    "index.mjs": 'export { libraryPath as path } from "./latebind.mjs";\n',
    "index.d.ts": "export declare function path(): string;\n",
    "node_modules/koffi/index.js": "",
    "lib/more.cjs": "",
}


def project(folder, *, npm=NPM, rids=RIDS, runtime=""):
    text = CONFIG.replace('["linux-x64"]', str(list(rids))).replace('license = "MIT"\n', f'license = "MIT"\n{ABOUT}')
    bound = 'runtime = "onnxruntime"\n' if runtime else ""
    text = text.replace('wheel = { source = "python/tiny" }\n', bound)
    write_client(folder, latebind=f"{text}\n{npm}{runtime}", cmakelists=PORTABLE_CMAKE, tiny=PORTABLE_SOURCE)
    (folder / "LICENSE").write_text("MIT\n")
    (folder / "README.md").write_text("# Tiny\n")
    return folder


def sources(folder, files=SOURCE):
    write_files(folder / "npm", files)


@pytest.fixture(scope="module")
def tarballs(tmp_path_factory):
    folder = project(tmp_path_factory.mktemp("npm"))
    result = pack_project(folder)
    return {artifact.path.name: artifact.path for artifact in result.artifacts if artifact.kind == "npm"}


def manifest(tarball):
    return json.loads(member(tarball, "/package.json"))


def node(folder, *command):
    environment = {**os.environ, "npm_config_cache": str(folder / "cache"), "npm_config_offline": "true"}
    return run_program(*command, cwd=folder, env=environment)


@pytest.fixture
def app(tmp_path, tarballs):
    """A folder into which the main package was installed, and the one for this machine where npm asks for it."""

    def install(*names, options=()):
        require_programs("npm")
        chosen = [str(tarballs[name]) for name in names]
        ended = node(tmp_path, "npm", "install", "--ignore-scripts", "--no-audit", *options, *chosen)
        assert ended.returncode == 0, ended.stderr
        return tmp_path

    return install


def test_each_target_has_a_package_that_npm_chooses_by_its_fields(tarballs):
    assert sorted(tarballs) == [
        "acme-tiny-1.2.3.tgz", "acme-tiny-linux-x64-1.2.3.tgz", "acme-tiny-win32-x64-1.2.3.tgz"
    ]  # fmt: skip
    linux, windows = (manifest(tarballs[f"acme-tiny-{name}-1.2.3.tgz"]) for name in ("linux-x64", "win32-x64"))
    assert [linux[key] for key in ("name", "os", "cpu", "libc")] == [
        "@acme/tiny-linux-x64",
        ["linux"],
        ["x64"],
        ["glibc"],
    ]
    assert [windows[key] for key in ("os", "cpu")] == [["win32"], ["x64"]]
    assert "libc" not in windows
    assert linux["license"] == "MIT"
    assert linux["repository"]["url"] == "git+https://git.example/acme/tiny.git"
    assert sorted(members(tarballs["acme-tiny-linux-x64-1.2.3.tgz"])) == [
        f"package/{name}" for name in ("LICENSE", "README.md", "latebind.cdx.json", "libtiny.so", "package.json")
    ]
    for tarball in tarballs.values():
        assert "scripts" not in manifest(tarball)


def test_the_archives_name_no_owner_and_one_time(tarballs):
    for tarball in tarballs.values():
        with tarfile.open(tarball) as archive:
            entries = archive.getmembers()
        assert {(entry.uid, entry.gid, entry.uname, entry.mode, entry.mtime) for entry in entries} == {
            (0, 0, "", 0o644, 1580601600)
        }
        assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)
        assert tarball.read_bytes()[4:8] == bytes(4)  # RFC 1952: no time


def test_they_hold_the_library_of_the_nupkg_and_their_audit_is_clean(tarballs):
    dist = tarballs["acme-tiny-1.2.3.tgz"].parent
    linux = member(tarballs["acme-tiny-linux-x64-1.2.3.tgz"], "libtiny.so")
    assert linux == members(dist / "Tiny.1.2.3.nupkg")["runtimes/linux-x64/native/libtiny.so"]
    report = audit_here([dist], project_policy(load(dist.parent / "latebind.toml")))
    assert (report.subjects, report.findings, report.skipped) == (4, (), ())


def test_the_main_package_requires_each_target_at_the_exact_version(tarballs):
    main = manifest(tarballs["acme-tiny-1.2.3.tgz"])
    assert main["optionalDependencies"] == {"@acme/tiny-linux-x64": "1.2.3", "@acme/tiny-win32-x64": "1.2.3"}
    assert "dependencies" not in main
    assert "peerDependencies" not in main
    bill = json.loads(member(tarballs["acme-tiny-1.2.3.tgz"], "cdx.json"))
    assert [component["purl"] for component in bill["components"]] == [
        f"pkg:npm/%40acme/tiny-{name}@1.2.3" for name in ("linux-x64", "win32-x64")
    ]
    assert bill["metadata"]["component"]["name"] == "@acme/tiny"


@pytest.mark.builds
def test_npm_takes_each_without_a_complaint(tmp_path, tarballs):
    for tarball in tarballs.values():
        ended = node(tmp_path, "npm", "publish", "--dry-run", "--access=public", str(tarball))
        warned = [line for line in ended.stderr.splitlines() if "warn" in line]
        assert ended.returncode == 0, ended.stderr
        assert [line for line in warned if "logged in" not in line and "user config" not in line] == []
        listed = json.loads(node(tmp_path, "npm", "pack", "--dry-run", "--json", str(tarball)).stdout)
        assert [package["filename"] for package in listed] == [tarball.name]


def test_require_and_import_find_the_library(app):
    folder = app("acme-tiny-1.2.3.tgz", "acme-tiny-linux-x64-1.2.3.tgz")
    library = folder / "node_modules/@acme/tiny-linux-x64/libtiny.so"
    required = node(folder, "node", "-p", 'const t = require("@acme/tiny"); `${t.target} ${t.libraryPath()}`')
    code = 'import { libraryPath, target } from "@acme/tiny"; console.log(target, libraryPath())'
    imported = node(folder, "node", "--input-type=module", "-e", code)
    assert required.stdout == imported.stdout == f"linux-x64 {library}\n", required.stderr + imported.stderr


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("", r"@acme/tiny-linux-x64 is not installed.* Install it: npm install @acme/tiny-linux-x64@1\.2\.3"),
        (
            "process.report.getReport = () => ({ header: {} });",
            "no native library for linux-x64-musl, only for linux-x64, win32-x64",
        ),
        (
            'Object.defineProperty(process, "arch", { value: "riscv64" });',
            "no native library for linux-riscv64, only for linux-x64, win32-x64. If you have one, set ACME_TINY_LIB",
        ),
    ],
    ids=["omitted", "musl", "no such target"],
)
def test_a_missing_library_is_an_error_that_names_the_package(app, before, sentence):
    folder = app("acme-tiny-1.2.3.tgz", options=["--omit=optional"])
    ended = node(folder, "node", "-e", f'{before} require("@acme/tiny").libraryPath()')
    assert ended.returncode == 1
    assert re.search(sentence, ended.stderr), ended.stderr


def test_a_package_of_another_version_is_an_error(app):
    folder = app("acme-tiny-1.2.3.tgz", "acme-tiny-linux-x64-1.2.3.tgz")
    edit(folder / "node_modules/@acme/tiny-linux-x64/package.json", '"1.2.3"', '"1.2.4"')
    ended = node(folder, "node", "-e", 'require("@acme/tiny").libraryPath()')
    sentence = "@acme/tiny-linux-x64 is 1.2.4, but @acme/tiny needs exactly 1.2.3. Install it: npm install @acme/tiny"
    assert ended.returncode == 1
    assert sentence in ended.stderr


@pytest.mark.builds
@pytest.mark.parametrize("is_unpacked", [True, False])
def test_in_electron_the_library_is_next_to_the_archive(app, is_unpacked):
    """Without Electron, which reads archives as folders, the archive is a folder."""
    folder = app("acme-tiny-1.2.3.tgz", "acme-tiny-linux-x64-1.2.3.tgz")
    inside = folder / "resources" / "app.asar"
    shutil.copytree(folder / "node_modules", inside / "node_modules")
    outside = folder / "resources" / "app.asar.unpacked" / "node_modules/@acme/tiny-linux-x64/libtiny.so"
    if is_unpacked:
        outside.parent.mkdir(parents=True)
        (inside / "node_modules/@acme/tiny-linux-x64/libtiny.so").rename(outside)
        (inside / "node_modules/@acme/tiny-linux-x64/libtiny.so").touch()
    code = 'process.versions.electron ??= "40.0.0"; console.log(require("@acme/tiny").libraryPath())'
    ended = node(inside, "node", "-e", f"Object.defineProperty(process, 'versions', {{ value: {{}} }}); {code}")
    assert ended.stdout == (f"{outside}\n" if is_unpacked else "")
    assert ("Add @acme/tiny-linux-x64 to asarUnpack" in ended.stderr) is not is_unpacked


def test_a_required_runtime_is_a_dependency(tmp_path):
    npm = f'{NPM}runtime = "onnxruntime-node"\n'
    folder = project(tmp_path, npm=npm, rids=RIDS[:1], runtime=RUNTIME)
    pack_project(folder)
    fields = manifest(folder / "dist" / "acme-tiny-1.2.3.tgz")
    assert fields["dependencies"] == {"onnxruntime-node": ">=1.20.0"}
    assert "peerDependencies" not in fields


def test_a_folder_of_ones_own_has_the_entry_points_and_dependencies(tmp_path):
    npm = f'{NPM}source = "npm"\ndependencies = {{ koffi = "^3" }}\n'
    folder = project(tmp_path, npm=npm, rids=RIDS[:1], runtime=RUNTIME)
    sources(folder)
    result = pack_project(folder)
    main = folder / "dist" / "acme-tiny-1.2.3.tgz"
    fields = manifest(main)
    assert fields["exports"]["."] == {
        "import": {"types": "./index.d.mts", "default": "./index.mjs"},
        "require": {"types": "./index.d.ts", "default": "./index.cjs"},
    }
    assert member(main, "index.d.mts") == member(main, "index.d.ts")
    assert [fields["main"], fields["types"]] == ["./index.cjs", "./index.d.ts"]
    assert fields["dependencies"] == {"koffi": "^3"}
    assert fields["peerDependencies"] == {"onnxruntime-node": ">=1.20.0"}
    assert fields["peerDependenciesMeta"] == {"onnxruntime-node": {"optional": True}}
    assert {"package/lib/more.cjs", "package/index.mjs", "package/latebind.cjs"} <= set(members(main))
    assert not any("node_modules" in name for name in members(main))
    planned = [
        entry.file for entry in plan_packages(load(folder / "latebind.toml"), RIDS[:1]).files if entry.kind == "npm"
    ]
    assert sorted(planned) == sorted(artifact.path.name for artifact in result.artifacts if artifact.kind == "npm")
    sources(folder, {"lib/more.cjs": "exports.more = 1;\n"})
    again = pack_project(folder)
    assert [name for name, digest in hashes(result).items() if hashes(again)[name] != digest] == [main.name]
    for name in ("package.json", "latebind.cjs"):
        sources(folder, {name: "{}"})
        with pytest.raises(BuildError, match=f"{re.escape(name)} is in the folder npm.source of package tiny"):
            pack_project(folder)
        (folder / "npm" / name).unlink()


@pytest.mark.parametrize(
    ("own_folder", "entry"),
    [
        ((), "latebind"),
        (("index.cjs", "index.d.ts"), {"types": "./index.d.ts", "default": "./index.cjs"}),
        (("index.js",), {"default": "./index.js"}),
        (("index.mjs", "index.d.ts", "index.d.mts"), {"types": "./index.d.mts", "default": "./index.mjs"}),
        (
            ("index.cjs", "index.mjs", "index.d.cts", "index.d.mts"),
            {
                "import": {"types": "./index.d.mts", "default": "./index.mjs"},
                "require": {"types": "./index.d.cts", "default": "./index.cjs"},
            },
        ),
    ],
)
def test_each_module_has_its_own_types(own_folder, entry):
    exports = entry_points(own_folder)["exports"]
    assert exports["."] == (exports["./latebind"] if entry == "latebind" else entry)
    assert exports["./latebind"]["import"]["types"] == "./latebind.d.mts"
    assert exports["./latebind"]["require"]["types"] == "./latebind.d.cts"


@pytest.mark.parametrize(
    ("repository", "homepage", "issues"),
    [
        (
            "https://github.com/acme/tiny.git",
            "https://github.com/acme/tiny#readme",
            "https://github.com/acme/tiny/issues",
        ),
        (
            "https://gitlab.com/acme/tiny",
            "https://gitlab.com/acme/tiny#readme",
            "https://gitlab.com/acme/tiny/-/issues",
        ),
        ("https://git.example/acme/tiny", "https://git.example/acme/tiny", ""),
    ],
)
def test_homepage_and_issues_follow_from_the_repository(tmp_path, repository, homepage, issues):
    npm = f'{NPM}keywords = ["onnx", "inference"]\n'
    folder = project(tmp_path, npm=npm, rids=RIDS[:1])
    edit(folder / "latebind.toml", "https://git.example/acme/tiny", repository)
    pack_project(folder)
    for name in ("acme-tiny-1.2.3.tgz", "acme-tiny-linux-x64-1.2.3.tgz"):
        fields = manifest(folder / "dist" / name)
        assert fields["keywords"] == ["onnx", "inference"]
        assert fields["type"] == "commonjs"
        assert [fields.get("homepage", ""), fields.get("bugs", {}).get("url", "")] == [homepage, issues]


def test_a_package_that_another_requires_is_its_peer_and_may_find_it(tmp_path):
    folder = project(tmp_path, rids=RIDS[:1], runtime=RUNTIME)
    more = '\n[package.more]\ncomponent = "tiny"\nexports = ["tiny_*"]\nrequires = ["tiny"]\n'
    more += 'npm = { name = "@acme/more" }\n'
    edit(folder / "latebind.toml", "\n[[runtime]]", f"{more}\n[[runtime]]")
    pack_project(folder)
    fields = manifest(folder / "dist" / "acme-more-1.2.3.tgz")
    assert "dependencies" not in fields
    assert fields["peerDependencies"] == {"@acme/tiny": "~1.2.0"}
    assert "peerDependenciesMeta" not in fields
    loading = manifest(folder / "dist" / "acme-tiny-1.2.3.tgz")
    assert loading["peerDependencies"]["@acme/more"] == "~1.2.0"
    assert loading["peerDependenciesMeta"]["@acme/more"] == {"optional": True}


@pytest.mark.parametrize(
    ("version", "what"),
    [
        ("1.2.3.4", "has four numbers"),
        ("1.2.3.post1", "is a post-release"),
        ("9007199254740992.0", "has a number above 9007199254740991"),
    ],
)
def test_a_version_that_npm_cannot_express_is_refused(version, what):
    with pytest.raises(BuildError, match=f"{what}, which npm cannot express"):
        npm_file("tiny", version)
