from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from latebind.ecosystems.nuget.nuspec import (
    Dependency,
    Nuspec,
    license_url,
    long_framework,
    render_nuspec,
    same_minor,
    semantic_version,
)
from latebind.errors import BuildError

GOLDEN = Path(__file__).resolve().parents[2] / "golden"

FULL = Nuspec(
    id="Demo.Extra",
    version="1.2.0-rc.1",
    authors=("Ann", "Bo & Co"),
    description='Less <than> & "more"',
    frameworks=("netstandard2.0",),
    license="mit OR apache-2.0",
    readme="README.md",
    repository="https://example.org/demo?a=1&b=2",
    commit="0123456789abcdef",
    tags=("onnx", "native"),
    dependencies=(Dependency(id="Zeta", range="1.19.0"), Dependency(id="Demo", range="[1.2.0, 1.3.0)")),
)
SMALL = Nuspec(id="Demo", version="0.1.0", authors=("Ann",), description="d", frameworks=("net8.0",))


@pytest.mark.parametrize(("name", "nuspec"), [("full", FULL), ("small", SMALL)])
def test_the_nuspec_is_as_recorded(name, nuspec):
    assert render_nuspec(nuspec).decode() == (GOLDEN / f"{name}.nuspec").read_text("utf-8")


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.1", "0.1.0"),
        ("1.2.3", "1.2.3"),
        ("1.2.3.0", "1.2.3"),
        ("1.2.3.4", "1.2.3.4"),
        ("1.2rc1", "1.2.0-rc.1"),
        ("1.2a0", "1.2.0-alpha.0"),
        ("1.2b10", "1.2.0-beta.10"),
        ("1.2.dev3", "1.2.0-0.dev.3"),
        ("1.2.3.post2", "1.2.3.2"),
        ("2147483647.0", "2147483647.0.0"),
        ("01.02.03", "1.2.3"),
    ],
)
def test_versions_are_normalized_as_nuget_does(version, expected):
    assert semantic_version(version) == expected


@pytest.mark.parametrize(
    "version",
    [
        *("", "x", "1!2.0", "1.2+local", "1.2rc1.dev2", "1.2.post1.dev2", "1.2rc1.post1", "1.2.3.4.5"),
        *("1.2.3.4.post1", "2147483648.0", "1.2.post2147483648"),
    ],
)
def test_a_version_that_nuget_cannot_express_is_refused(version):
    with pytest.raises(BuildError):
        semantic_version(version)


def _semver_key(text: str) -> tuple:
    """SemVer 2.0.0, section 11."""
    release, _, pre = text.partition("-")
    numbers = tuple(map(int, release.split(".")))
    parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".")) if pre else ()
    return (*numbers, 0)[:4], not pre, parts


phases = st.sampled_from(["", "a1", "a2", "a10", "b1", "rc1", "rc2", ".dev0", ".dev7"])


@given(st.tuples(st.integers(0, 3), st.integers(0, 3)), phases, st.tuples(st.integers(0, 3), st.integers(0, 3)), phases)
def test_pre_releases_sort_in_nuget_as_they_do_in_pep_440(one, one_phase, two, two_phase):
    first, second = f"{one[0]}.{one[1]}{one_phase}", f"{two[0]}.{two[1]}{two_phase}"

    assert (Version(first) < Version(second)) == (
        _semver_key(semantic_version(first)) < _semver_key(semantic_version(second))
    )


def test_siblings_need_the_same_minor_version():
    assert same_minor("0.1.4") == "[0.1.4, 0.2.0)"
    assert same_minor("2") == "[2.0.0, 2.1.0)"


def test_the_address_of_a_license_is_escaped():
    assert license_url("MIT OR Apache-2.0") == "https://licenses.nuget.org/MIT%20OR%20Apache-2.0"


def test_frameworks_have_their_long_names():
    assert long_framework("netstandard2.0") == ".NETStandard2.0"
    assert long_framework("netcoreapp3.1") == ".NETCoreApp3.1"
    assert long_framework("net8.0") == "net8.0"
    with pytest.raises(BuildError, match="packs no assemblies for"):
        long_framework("dotnet8")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"id": "a..b"}, "the id 'a..b' is invalid"),
        ({"id": "a" * 101}, "longer than 100"),
        ({"version": "1.0"}, "not normalized"),
        ({"authors": ()}, "no authors"),
        ({"authors": ("A, B",)}, "comma"),
        ({"description": " "}, "no description"),
        ({"description": 4001 * "x"}, "description: 4001 characters, but the NuGet gallery accepts at most 4000"),
        ({"authors": (2000 * "x", 2000 * "y")}, "authors: 4001 characters"),
        ({"tags": (2000 * "x", 2000 * "y")}, "tags: 4001 characters"),
        ({"tags": ("a b",)}, "contains a space"),
        ({"repository": "git@example.org:a"}, "not a web address"),
        ({"dependencies": (Dependency(id="-x", range="1.0.0"),)}, "the id '-x' is invalid"),
    ],
)
def test_what_the_schema_lets_through_is_refused_here(changes, says):
    with pytest.raises(BuildError, match=says):
        render_nuspec(dataclasses.replace(SMALL, **changes))


def test_all_problems_are_told_at_once():
    with pytest.raises(BuildError) as caught:
        render_nuspec(Nuspec(id="a..b", version="1", authors=(), description="", frameworks=("net8.0",)))

    assert all(part in str(caught.value) for part in ("id", "version", "authors", "description"))
