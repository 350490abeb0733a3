"""A symbolic link is a further name of the file that it leads to, inside of a folder or an archive."""

import io
import tarfile

import pytest

from loadcheck.audit import audit_here
from loadcheck.readers import links
from loadcheck.readers.links import find_aliases, list_unfollowed

USER = "int odd(void); int user(void) { return odd(); }\n"


@pytest.fixture
def libraries(bench):
    """A library under its full version, and one that needs it by its SONAME."""
    odd = bench.compiler.library("int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", name="libodd.so.3")
    user = bench.compiler.library(USER, odd, "-Wl,-soname,libuser.so", "-Wl,-rpath,$ORIGIN")
    return {"sdk/lib/libodd.so.3.1": odd.read_bytes(), "sdk/lib/libuser.so": user.read_bytes()}


def make_folder(folder, files, targets):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    for name, target in targets.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    return folder / "sdk"


def make_tar(folder, files, targets, suffix=".tar.gz"):
    with tarfile.open(folder / f"x{suffix}", "w:gz") as archive:
        for name, target in targets.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return folder / f"x{suffix}"


def list_about(report, name):
    return [(row.code, row.message) for row in report.findings if name in row.message]


FOUND = {
    "a link": {"sdk/lib/libodd.so.3": "libodd.so.3.1"},
    "a chain": {"sdk/lib/libodd.so.3": "libodd.so", "sdk/lib/libodd.so": "../lib/./libodd.so.3.1"},
    "a link to a folder": {"sdk/lib64": "lib", "sdk/lib/libodd.so.3": "../lib64/libodd.so.3.1"},
}
LOST = {
    "a missing target": {"sdk/lib/libodd.so.3": "libodd.so.7"},
    "a cycle": {"sdk/lib/libodd.so.3": "libodd.so", "sdk/lib/libodd.so": "libodd.so.3"},
    "a path that leaves and comes back": {"sdk/lib/libodd.so.3": "../../../sdk/lib/libodd.so.3.1"},
}


@pytest.mark.parametrize("make", [make_folder, make_tar])
@pytest.mark.parametrize("targets", FOUND.values(), ids=FOUND)
def test_a_library_is_found_by_a_link(bench, libraries, make, targets):
    report = audit_here([make(bench.folder, libraries, targets)])
    assert list_about(report, "libodd.so.3") == []
    assert report.skipped == ()


@pytest.mark.parametrize("make", [make_folder, make_tar])
@pytest.mark.parametrize("targets", LOST.values(), ids=LOST)
def test_a_library_is_not_found_by_a_broken_link(bench, libraries, make, targets):
    report = audit_here([make(bench.folder, libraries, targets)])
    assert "LB107" in {code for code, _ in list_about(report, "libodd.so.3")}
    unfollowed = {skip.subject for skip in report.skipped if "link is not followed" in skip.reason}
    refused = {row.subject for row in report.findings if row.code == "LB602"}
    assert len(unfollowed | refused) == len(targets)


def test_npm_leaves_links_out(bench, libraries):
    files = {name.replace("sdk/", "package/"): data for name, data in libraries.items()}
    report = audit_here([make_tar(bench.folder, files, {"package/lib/libodd.so.3": "libodd.so.3.1"}, ".tgz")])
    assert {"LB107", "LB905"} <= {code for code, _ in list_about(report, "libodd.so.3")}


def test_a_file_with_a_link_is_judged_once(bench, libraries):
    files = {name: data for name, data in libraries.items() if "user" in name}
    (alone, linked) = (
        audit_here([make_folder(bench.folder / name, files, targets)])
        for name, targets in (("alone", {}), ("linked", {"sdk/lib/libuser.so.1": "libuser.so", "sdk/lib64": "lib"}))
    )
    assert [row.code for row in linked.findings] == [row.code for row in alone.findings]


@pytest.mark.parametrize(
    ("targets", "aliases"),
    [
        ({"a": "lib"}, {"a/x": "lib/x", "a/y": "lib/x"}),
        ({"a": "lib", "b": "a"}, {"a/x": "lib/x", "b/x": "lib/x", "a/y": "lib/x", "b/y": "lib/x"}),
        ({"lib/self": "lib"}, {}),
        ({"a": ""}, {}),
        ({"a": "", "b": "a/lib/x"}, {}),
        ({"a": "../lib/x"}, {}),
        ({"a": "a"}, {}),
    ],
)
def test_links_are_followed_inside_of_a_package(targets, aliases):
    found = find_aliases({**targets, "lib/y": "lib/x"}, {"lib/x"})
    assert found == {**aliases, "lib/y": "lib/x"}
    followed = {alias.partition("/")[0] for alias in aliases}
    assert list_unfollowed(targets, found) == tuple(sorted(targets.keys() - followed))


def test_links_to_folders_do_not_multiply_the_files_without_limit(monkeypatch):
    monkeypatch.setattr(links, "MAX_MEMBERS", 50)
    targets = {f"l{number}": "lib" for number in range(1000)}
    assert len(find_aliases(targets, {f"lib/{number}" for number in range(1000)})) == 50
