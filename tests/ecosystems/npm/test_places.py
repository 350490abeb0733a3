"""Where `libraryPath()` of a generated npm package finds the library, which files it refuses, and what helps then."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile

import pytest

from tests.ecosystems.npm.test_pack import RIDS, project
from tests.support.client import pack_project
from tests.support.needs import require_programs

STRANGER, USER, UNKNOWN = 12345, 12346, 65534
FIND = 'console.log(require("@acme/tiny").libraryPath())'
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="not run: only root can give files to other users")


@pytest.fixture(scope="module")
def tarballs(tmp_path_factory):
    folder = project(tmp_path_factory.mktemp("npm"), rids=RIDS[:1])
    pack_project(folder)
    return folder / "dist"


@pytest.fixture
def unpack(tarballs):
    """Puts a package into a folder of modules; gives its folder."""

    def unpack_package(name, modules):
        folder = modules / "@acme" / name
        with tarfile.open(tarballs / f"acme-{name}-1.2.3.tgz") as archive:
            archive.extractall(modules, filter="data")
        folder.parent.mkdir(exist_ok=True)
        return (modules / "package").rename(folder)

    return unpack_package


def start(folder, *, user=None, code=FIND, **variables):
    """How Node.js ends in a folder, as this user or as another."""
    (node,) = require_programs("node")
    identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables}
    command = [node, "-e", code]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, **identity)


def give(folder, user):
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, user, user, follow_symlinks=False)


def open_all(folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o777)


# ---- set-ups: what Node.js finds outside of the tree of the package ----


def lay_in_node_path(top, unpack):
    """A layer of AWS Lambda: /opt/nodejs/node_modules in NODE_PATH, the function in /var/task."""
    unpack("tiny", top / "task" / "node_modules")
    return unpack("tiny-linux-x64", top / "nodejs" / "node_modules"), {"NODE_PATH": str(top / "nodejs/node_modules")}


def lay_all_in_node_path(top, unpack):
    (top / "task").mkdir()
    unpack("tiny", top / "nodejs" / "node_modules")
    return unpack("tiny-linux-x64", top / "nodejs" / "node_modules"), {"NODE_PATH": str(top / "nodejs/node_modules")}


def lay_above(top, unpack):
    """A workspace whose packages are installed at its top."""
    unpack("tiny", top / "task" / "node_modules")
    return unpack("tiny-linux-x64", top / "node_modules"), {}


def lay_in_a_store(top, unpack):
    """pnpm with enableGlobalVirtualStore: each package in a folder of the store, with links next to it."""
    main = unpack("tiny", top / "store" / "links" / "tiny" / "node_modules")
    part = unpack("tiny-linux-x64", top / "store" / "links" / "tiny-linux-x64" / "node_modules")
    (main.parent / part.name).symlink_to(part)
    (top / "task" / "node_modules" / "@acme").mkdir(parents=True)
    (top / "task" / "node_modules" / "@acme" / "tiny").symlink_to(main)
    return part, {}


def lay_linked(top, unpack):
    """`npm link`: the package is in a working folder of its own."""
    source = unpack("tiny", top / "source")
    (top / "task" / "node_modules" / "@acme").mkdir(parents=True)
    (top / "task" / "node_modules" / "@acme" / "tiny").symlink_to(source)
    return unpack("tiny-linux-x64", source / "node_modules"), {}


OUTSIDE = [lay_in_node_path, lay_above, lay_in_a_store, lay_linked]


@pytest.mark.parametrize("lay_out", [lay_all_in_node_path, *OUTSIDE])
def test_what_node_finds_is_found(top, unpack, lay_out):
    part, variables = lay_out(top, unpack)
    ended = start(top / "task", **variables)
    assert ended.stdout == f"{part / 'libtiny.so'}\n", ended.stderr


@NEEDS_ROOT
@pytest.mark.parametrize("lay_out", [lay_all_in_node_path, *OUTSIDE])
@pytest.mark.parametrize("user", [None, USER])
def test_on_a_file_system_where_everyone_may_write_it_is_found(top, unpack, lay_out, user):
    """WSL's drives and Docker Desktop's folders: any user can replace the package itself."""
    part, variables = lay_out(top, unpack)
    give(top, STRANGER)
    open_all(top)
    ended = start(top / "task", user=user, **variables)
    assert ended.stdout == f"{part / 'libtiny.so'}\n", ended.stderr


def test_what_is_installed_with_the_package_is_trusted_as_node_trusts_it(top, unpack):
    unpack("tiny", top / "node_modules")
    library = unpack("tiny-linux-x64", top / "node_modules") / "libtiny.so"
    library.chmod(0o666)
    assert start(top).stdout == f"{library}\n"


# ---- what is refused ----


def give_file(part):
    os.chown(part / "libtiny.so", STRANGER, STRANGER)
    return f"libtiny.so belongs to another user, number {STRANGER}"


def give_folder_above(part):
    os.chown(part.parent, STRANGER, STRANGER)
    return f"@acme belongs to another user, number {STRANGER}"


def give_all_to_no_one(part):
    give(part, UNKNOWN)
    return f"belongs to an unknown user, number {UNKNOWN}"


def open_file(part):
    (part / "libtiny.so").chmod(0o666)
    return "every user may write to .*libtiny.so"


def open_folder(part):
    part.chmod(0o1777)
    return "every user may write to .*tiny-linux-x64"


def share_folder(part):
    os.chown(part, 0, STRANGER)
    part.chmod(0o775)
    return f"a group, number {STRANGER}, may write to"


CHANGES = [give_file, give_folder_above, give_all_to_no_one, open_file, open_folder, share_folder]


@NEEDS_ROOT
@pytest.mark.parametrize("lay_out", [lay_in_node_path, lay_above, lay_in_a_store])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("user", [None, USER])
def test_what_others_may_change_elsewhere_is_refused_and_the_help_works(top, unpack, lay_out, change, user):
    part, variables = lay_out(top, unpack)
    reason = change(part)
    ended = start(top / "task", user=user, **variables)
    headline = f"Error: @acme/tiny-linux-x64 is not used: .*{reason}"
    assert re.search(headline, ended.stderr), ended.stderr
    advice = (
        "help: npm install @acme/tiny-linux-x64@1.2.3, or set ACME_TINY_LIB_PATH to the absolute path of libtiny.so"
    )
    assert advice in ended.stderr
    named = shutil.copy(part / "libtiny.so", top / "named.so")
    assert start(top / "task", user=user, ACME_TINY_LIB_PATH=str(named), **variables).stdout == f"{named}\n"
    modules = top / "task" / "node_modules"
    (modules / "@acme" / "tiny").unlink() if (modules / "@acme" / "tiny").is_symlink() else None
    shutil.rmtree(modules / "@acme", ignore_errors=True)
    unpack("tiny", modules)
    library = unpack("tiny-linux-x64", modules) / "libtiny.so"
    assert start(top / "task", user=user, **variables).stdout == f"{library}\n"


@NEEDS_ROOT
def test_a_link_of_another_user_on_the_way_is_refused(top, unpack):
    """He could turn it after the check."""
    part, _ = lay_in_node_path(top, unpack)
    (top / "open").mkdir()
    (top / "open").chmod(0o1777)
    (top / "open" / "link").symlink_to(part.parents[1])
    os.chown(top / "open" / "link", STRANGER, STRANGER, follow_symlinks=False)
    ended = start(top / "task", NODE_PATH=str(top / "open" / "link"))
    assert f"is not used: {top}/open/link belongs to another user, number {STRANGER}" in ended.stderr
    os.chown(top / "open" / "link", 0, 0, follow_symlinks=False)
    assert start(top / "task", NODE_PATH=str(top / "open" / "link")).stdout == f"{part / 'libtiny.so'}\n"


@NEEDS_ROOT
def test_packages_in_the_folder_for_temporary_files_are_refused(top, unpack):
    """The folder of an application is in it, and so is a package of another user."""
    top.chmod(0o1777)
    unpack("tiny", top / "task" / "node_modules")
    give(top / "task", USER)
    unpack("tiny-linux-x64", top / "node_modules")
    give(top / "node_modules", STRANGER)
    ended = start(top / "task", user=USER)
    assert f"is not used: {top}/node_modules belongs to another user, number {STRANGER}" in ended.stderr


@NEEDS_ROOT
@pytest.mark.parametrize("owner", [USER, UNKNOWN])
def test_the_owner_of_the_package_is_trusted_but_not_a_number_that_stands_for_every_stranger(top, unpack, owner):
    part, variables = lay_in_node_path(top, unpack)
    for folder in ("task", "nodejs"):
        give(top / folder, owner)
    ended = start(top / "task", **variables)
    assert ended.stdout == (f"{part / 'libtiny.so'}\n" if owner == USER else "")
    assert ("belongs to an unknown user, number 65534" in ended.stderr) is (owner == UNKNOWN)


@NEEDS_ROOT
def test_raised_processes_accept_only_files_of_root_and_no_variable(top, unpack):
    part, variables = lay_in_node_path(top, unpack)
    code = f"process.seteuid({USER}); {FIND}"
    assert start(top / "task", code=code, **variables).stdout == f"{part / 'libtiny.so'}\n"
    give(part, USER)
    ended = start(top / "task", code=code, ACME_TINY_LIB_PATH=str(part / "libtiny.so"), **variables)
    assert f"belongs to another user, number {USER}" in ended.stderr


@pytest.mark.parametrize("value", ["libtiny.so", "/absent/libtiny.so", "/"])
def test_a_variable_that_names_no_file_is_an_error(top, unpack, value):
    lay_all_in_node_path(top, unpack)
    ended = start(top / "task", NODE_PATH=str(top / "nodejs/node_modules"), ACME_TINY_LIB_PATH=value)
    assert f"ACME_TINY_LIB_PATH is not the absolute path of a file: {value}" in ended.stderr


@NEEDS_ROOT
@pytest.mark.parametrize("kind", ["mode", "list"])
def test_the_group_of_root_is_not_root(top, unpack, kind):
    """The mask of an access control list looks like the group's right, too."""
    part, _ = lay_above(top, unpack)
    give(top / "task", USER)
    give(top / "node_modules", 0)
    if kind == "mode":
        part.chmod(0o775)
    else:
        (setfacl,) = require_programs("setfacl")
        subprocess.run([setfacl, "-m", f"u:{STRANGER}:rwx", part], check=True)
    ended = start(top / "task", user=USER)
    assert ended.stdout == ""
    assert f"a group, number 0, may write to {part}" in ended.stderr


@NEEDS_ROOT
def test_node_does_not_wait_for_a_pipe(top, unpack):
    part, _ = lay_above(top, unpack)
    give(top / "task", USER)
    (part / "package.json").unlink()
    os.mkfifo(part / "package.json")
    give(top / "node_modules", STRANGER)
    ended = start(top / "task", user=USER)
    assert f"{part / 'package.json'} is not a file" in ended.stderr
