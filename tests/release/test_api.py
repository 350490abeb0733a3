"""What changed of a release's public surface, and whether its version may."""

from pathlib import Path

import pytest

from latebind.errors import InputError
from latebind.model import Artifact
from latebind.release import api
from latebind.release.api import Surface, changes, may_break, read_surface, surface
from latebind.release.packages import ReleasePackage

OLD = Surface(
    "1.2.3",
    {"x": {"linux-x64": ["x_add", "x_old"], "win-x64": ["x_add", "x_old"]}},
    {"x.h": {"x_add": "int x_add(int)", "x_old": "int x_old(void)", "x_code": "enum x_code { A = 0 }"}},
)


def find_changes(**parts):
    return {(change.how, change.what): change.breaking for change in changes(OLD, Surface("1.3.0", **{
        "exports": OLD.exports, "headers": OLD.headers, **parts}))}  # fmt: skip


def test_the_same_surface_has_no_changes():
    assert find_changes() == {}


def test_an_export_that_is_gone_from_one_target_breaks():
    exports = {"x": {"linux-x64": ["x_add"], "win-x64": ["x_add", "x_new", "x_old"]}}
    assert find_changes(exports=exports) == {
        ("removed", "x: x_old (linux-x64)"): True,
        ("added", "x: x_new (win-x64)"): False,
    }


def test_declarations_are_compared_one_by_one():
    headers = {
        "x.h": {"x_add": "int x_add(long)", "x_code": "enum x_code { A = 0, B = 1 }", "x_new": "int x_new(void)"}
    }
    breaking = find_changes(headers=headers)
    assert breaking["removed", "x.h: int x_old(void)"]
    assert breaking["changed", "x.h: int x_add(int) -> int x_add(long)"]
    assert not breaking["changed", "x.h: enum x_code { A = 0 } -> enum x_code { A = 0, B = 1 }"]
    assert not breaking["added", "x.h: int x_new(void)"]


@pytest.mark.parametrize(
    ("old", "new", "may"),
    [
        ("1.2.3", "2.0.0", True),
        ("1.2.3", "1.3.0", False),
        ("0.1.0", "0.2.0", True),
        ("0.1.0", "0.1.1", False),
        ("0.9.0", "1.0.0", True),
        ("2.0.0", "1.9.0", False),
        ("1.2.3", "2.0.0rc1", True),
    ],
)
def test_semantic_versions_say_when_a_break_is_allowed(old, new, may):
    assert may_break(old, new) is may


def test_a_surface_is_read_back_and_garbage_refused(tmp_path):
    file = tmp_path / "api.json"
    file.write_bytes(api.api_json(OLD))
    assert read_surface(file) == OLD
    file.write_bytes(b'{"version": 1}')
    with pytest.raises(InputError, match="is not an API file of a release"):
        read_surface(file)
    with pytest.raises(InputError, match="No such file"):
        read_surface(tmp_path / "none.json")


def test_the_page_marks_what_breaks():
    differences = changes(OLD, Surface("1.3.0", {}, OLD.headers))
    page = api.api_markdown(OLD, Surface("1.3.0", {}, {}), differences)
    assert "# Public API of 1.3.0 since 1.2.3" in page
    assert "- removed (**breaks callers**): `x: x_add (linux-x64)`" in page
    assert "no earlier release" in api.api_markdown(None, OLD, ())


def package(file, exports, headers=None):
    artifact = Artifact(path=Path(file), kind="wheel", sha256=f"sha of {file}", size=1)
    return ReleasePackage(
        artifact=artifact, name="x", version="1.0", targets=(), exports=exports, headers=headers or {}
    )


def test_the_surface_is_that_of_all_packages():
    packages = [
        package("a.whl", {"x": {"linux-x64": ("f", "g")}, "y": {"linux-x64": ()}}),
        package("b.whl", {"x": {"win-x64": ("f",)}}, {"x.h": "int f(void);"}),
        package("c.nupkg", {"x": {"linux-x64": ("f", "g"), "win-x64": ("f",)}}, {"y.h": "int g(void);"}),
        package("d.tar.gz", {}),
    ]
    assert surface("1.0", packages) == Surface(
        "1.0",
        {"x": {"linux-x64": ["f", "g"], "win-x64": ["f"]}, "y": {"linux-x64": []}},
        {"x.h": {"f": "int f(void)"}, "y.h": {"g": "int g(void)"}},
        {file: f"sha of {file}" for file in ("a.whl", "b.whl", "c.nupkg", "d.tar.gz")},
    )


@pytest.mark.parametrize("odd", [1, 4, 5, 6])
def test_two_libraries_of_one_name_are_refused_with_the_first_names_in_which_they_differ(odd):
    more = tuple(f"f{number}" for number in range(odd))
    packages = [package("a.whl", {"x": {"linux-x64": ("a",)}}), package("b.whl", {"x": {"linux-x64": ("a", *more)}})]
    with pytest.raises(InputError) as caught:
        surface("1.0", packages)
    assert caught.value.message.partition("packages: ")[2] == ", ".join(more[:5])
    assert caught.value.where == "b.whl"


def test_removals_come_before_changes_and_additions():
    headers = {"x_add": "int x_add(long)", "x_new": "int x_new(void)"}
    new = Surface("2.0.0", {"x": {"linux-x64": ["x_a"]}}, {"x.h": headers})
    assert [(change.how, change.what) for change in changes(OLD, new)] == [
        ("removed", "x.h: enum x_code { A = 0 }"),
        ("removed", "x.h: int x_old(void)"),
        ("removed", "x: x_add (linux-x64)"),
        ("removed", "x: x_add (win-x64)"),
        ("removed", "x: x_old (linux-x64)"),
        ("removed", "x: x_old (win-x64)"),
        ("changed", "x.h: int x_add(int) -> int x_add(long)"),
        ("added", "x.h: int x_new(void)"),
        ("added", "x: x_a (linux-x64)"),
    ]
