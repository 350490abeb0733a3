"""Where latenn's npm package finds backends and runtimes: where Node.js does, unless others may change them."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from latebind.ecosystems.npm.pack import render_module
from tests.support.building import ROOT

CORE = ROOT / "latenn" / "npm" / "core"
ATTACKER, USER = 12345, 12346
BACKEND = "@latenn/onnxruntime"
LIBRARY = "@latenn/onnxruntime-linux-x64/liblatenn_backend_onnxruntime.so"
RUNTIME = "onnxruntime-node/bin/napi-v6/linux/x64"
FIND = "return require(process.argv[1] + '/places.cjs').findPlaces();"


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def install_core(modules):
    """Install the core into a node_modules; gives its folder."""
    folder = modules / "@latenn" / "core"
    shutil.copytree(CORE, folder)
    for name in ("latebind.cjs", "latebind-trusted.cjs"):
        (folder / name).write_bytes(render_module(f"{name}.j2", "@latenn/core", "1.0.0", {}))
    return folder


def install_others(modules, marker=""):
    """Install a backend and a runtime; code of theirs that runs writes the marker."""
    code = f"require('node:fs').writeFileSync({str(marker)!r}, '')" if marker else ""
    write(modules / BACKEND / "package.json", '{"main": "index.cjs"}')
    write(modules / BACKEND / "index.cjs", f"{code}; exports.libraryPath = () => __filename;")
    write(modules / LIBRARY)
    write(modules / Path(LIBRARY).parent / "package.json", "{}")
    write(modules / RUNTIME / "libonnxruntime.so.1")
    write(modules / "onnxruntime-node" / "package.json", '{"main": "index.cjs"}')
    write(modules / "onnxruntime-node" / "index.cjs", code)


def give(folder, user):
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, user, user, follow_symlinks=False)


def is_found(locations, modules):
    return (
        [backend["folder"] for backend in locations["backends"]] == [str((modules / LIBRARY).parent)]
        and locations["runtimes"] == [str(modules / RUNTIME)]
        and locations["refused"] == []
    )


def is_empty(locations):
    return locations["backends"] == locations["runtimes"] == []


@pytest.fixture
def as_root():
    if os.geteuid() != 0:
        pytest.skip("not run: only root can give files to other users")


# ---- where npm, pnpm and yarn install ----


def lay_flat(app):
    install_others(app / "node_modules")
    return install_core(app / "node_modules"), app / "node_modules"


def lay_nested(app):
    inner = app / "node_modules" / "tool" / "node_modules"
    install_others(app / "node_modules")
    return install_core(inner), app / "node_modules"


def lay_workspace(app):
    install_others(app / "node_modules")
    core = install_core(app / "node_modules")
    (app / "packages" / "site" / "node_modules" / "@latenn").mkdir(parents=True)
    link = app / "packages" / "site" / "node_modules" / "@latenn" / "core"
    link.symlink_to(core)
    return link, app / "node_modules"


def lay_pnpm(app):
    """pnpm's isolated layout: real folders in .pnpm, each next to links to what it needs."""
    store = app / "node_modules" / ".pnpm"
    others = store / "others@1.0.0" / "node_modules"
    install_others(others)
    core = install_core(store / "@latenn+core@1.0.0" / "node_modules")
    hoisted = store / "node_modules" / "@latenn"
    hoisted.mkdir(parents=True)
    (hoisted / "onnxruntime").symlink_to(others / BACKEND)
    (app / "node_modules" / "@latenn").mkdir()
    (app / "node_modules" / "@latenn" / "core").symlink_to(core)
    return app / "node_modules" / "@latenn" / "core", others


@pytest.mark.parametrize("lay_out", [lay_flat, lay_nested, lay_workspace, lay_pnpm])
def test_what_is_installed_with_the_package_is_found(answer, open_folder, lay_out):
    core, modules = lay_out(open_folder / "app")
    assert is_found(answer("/", FIND, core), modules)


def test_a_newer_interface_of_the_runtime_comes_first(answer, open_folder):
    core, modules = lay_flat(open_folder / "app")
    newer = modules / "onnxruntime-node" / "bin" / "napi-v10" / "linux" / "x64"
    write(newer / "libonnxruntime.so.1")
    assert answer("/", FIND, core)["runtimes"] == [str(newer), str(modules / RUNTIME)]


# ---- other places ----


@pytest.mark.parametrize("location", ["working folder", "program's folder"])
def test_packages_that_node_does_not_find_are_neither_used_nor_run(start, open_folder, tmp_path, location):
    core = install_core(open_folder / "work" / "app" / "node_modules")
    elsewhere, marker = open_folder / "elsewhere" / "node_modules", tmp_path / "marker"
    install_others(elsewhere, marker)
    program = elsewhere.parent / "program.cjs"
    write(program, f"console.log(JSON.stringify(require('{core}/places.cjs').findPlaces()))")
    before = f"process.argv[1] = '{program}';" if location == "program's folder" else ""
    folder = elsewhere.parent if location == "working folder" else Path("/")
    ended = start(folder, f"{before}require('{program}')")
    assert '"backends":[],"runtimes":[],"refused":[]' in ended.stdout, ended.stdout + ended.stderr
    assert not marker.exists()


@pytest.mark.parametrize("location", ["work/node_modules", ".node_modules", "elsewhere/node_modules"])
@pytest.mark.parametrize("owner", [0, ATTACKER])
@pytest.mark.usefixtures("as_root")
def test_packages_that_node_finds_elsewhere_are_judged_and_do_not_run(start, open_folder, tmp_path, location, owner):
    """In a folder above, in the home folder and in NODE_PATH."""
    core = install_core(open_folder / "work" / "app" / "node_modules")
    elsewhere, marker = open_folder / location, tmp_path / "marker"
    install_others(elsewhere, marker)
    give(elsewhere, owner)
    code = f"console.log(JSON.stringify(require('{core}/places.cjs').findPlaces()))"
    variables = {"HOME": str(open_folder), "NODE_PATH": str(open_folder / "elsewhere" / "node_modules")}
    locations = json.loads(start("/", code, **variables).stdout)
    assert (is_found(locations, elsewhere), is_empty(locations)) == (owner == 0, owner == ATTACKER)
    assert bool(locations["refused"]) is (owner == ATTACKER)
    assert not marker.exists()


# ---- who may write ----


def give_files(modules):
    os.chown(modules / LIBRARY, ATTACKER, ATTACKER)
    os.chown(modules / RUNTIME / "libonnxruntime.so.1", ATTACKER, ATTACKER)
    return "belongs to another user, number 12345"


def give_packages(modules):
    give(modules / "@latenn" / "onnxruntime-linux-x64", ATTACKER)
    give(modules / "onnxruntime-node", ATTACKER)
    return "belongs to another user, number 12345"


def open_files(modules):
    (modules / LIBRARY).chmod(0o666)
    (modules / RUNTIME / "libonnxruntime.so.1").chmod(0o666)
    return "every user may write to"


def open_folders(modules):
    (modules / LIBRARY).parent.chmod(0o777)
    (modules / RUNTIME).parents[1].chmod(0o777)
    return "every user may write to"


def share_folders(modules):
    for folder in ((modules / LIBRARY).parent, modules / RUNTIME):
        os.chown(folder, 0, ATTACKER)
        folder.chmod(0o775)
    return "a group, number 12345, may write to"


def link_to_an_open_folder(modules):
    store = modules / "store"
    store.mkdir()
    for name in ("@latenn/onnxruntime-linux-x64", "onnxruntime-node"):
        (modules / name).rename(store / Path(name).name)
        (modules / name).symlink_to(store / Path(name).name)
    store.chmod(0o777)
    return f"every user may write to {store}"


@pytest.fixture
def layer(open_folder):
    """The core in an application's node_modules, and the others in NODE_PATH."""
    install_others(open_folder / "layer" / "node_modules")
    return install_core(open_folder / "app" / "node_modules"), open_folder / "layer" / "node_modules"


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(
    "change", [give_files, give_packages, open_files, open_folders, share_folders, link_to_an_open_folder]
)
@pytest.mark.parametrize("user", [None, USER], ids=["root", "another user"])
def test_what_others_may_change_elsewhere_is_refused_with_the_reason(answer, layer, change, user):
    core, modules = layer
    assert is_found(answer("/", FIND, core, user=user, NODE_PATH=str(modules)), modules)
    reason = change(modules)
    locations = answer("/", FIND, core, user=user, NODE_PATH=str(modules))
    assert is_empty(locations)
    assert len(locations["refused"]) >= 2
    assert all(re.search(reason, refusal["reason"]) for refusal in locations["refused"]), locations["refused"]


@pytest.mark.usefixtures("as_root")
def test_a_neighbor_that_the_runtime_could_open_is_judged_too(answer, layer):
    core, modules = layer
    write(modules / RUNTIME / "libonnxruntime_providers_shared.so")
    (modules / RUNTIME / "libonnxruntime_providers_shared.so").chmod(0o777)
    locations = answer("/", FIND, core, NODE_PATH=str(modules))
    assert locations["runtimes"] == []
    assert "libonnxruntime_providers_shared.so" in locations["refused"][0]["reason"]


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("user", [None, USER], ids=["root", "the owner"])
def test_what_the_owner_of_the_package_installed_is_found(answer, open_folder, user):
    core, modules = lay_flat(open_folder / "app")
    give(modules, USER)
    assert is_found(answer("/", FIND, core, user=user), modules)


@pytest.mark.usefixtures("as_root")
def test_a_group_that_may_change_the_package_itself_is_trusted(answer, open_folder):
    core, modules = lay_flat(open_folder / "app")
    for path in [modules, *modules.rglob("*")]:
        os.chown(path, USER, USER)
        path.chmod(0o775 if path.is_dir() else 0o664)
    assert is_found(answer("/", FIND, core, user=USER), modules)
