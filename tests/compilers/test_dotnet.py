from __future__ import annotations

import defusedxml.ElementTree
import pytest

from latebind.compilers import dotnet
from tests.support.running import not_run


@pytest.mark.parametrize(
    ("version", "framework"),
    [("3.1.102", "netcoreapp3.1"), ("8.0.404", "net8.0"), ("10.0.100-rc.1.25451.107", "net10.0")],
)
def test_an_sdk_builds_for_its_own_framework(version, framework):
    assert dotnet.own_framework(version) == framework


def test_without_dotnet_it_is_not_run_with_a_reason(tmp_path):
    with not_run("no-dotnet"):
        dotnet.find({"PATH": str(tmp_path)})


def test_a_private_environment_hides_the_users_packages_and_settings(tmp_path):
    environment = dotnet.private({"HOME": "/root", "NUGET_PACKAGES": "/root/p", "KEPT": "1"}, tmp_path / "home")

    assert environment["KEPT"] == "1"
    for name in ("HOME", "DOTNET_CLI_HOME", "NUGET_PACKAGES", "NUGET_HTTP_CACHE_PATH", "NUGET_SCRATCH"):
        assert environment[name].startswith(str(tmp_path))
    assert (tmp_path / "home" / "packages").is_dir()


def test_the_feeds_are_those_given_and_no_others(tmp_path):
    dotnet.write_nuget_config(tmp_path / "NuGet.config", ['/a "b" & c', "/d"])

    sources = defusedxml.ElementTree.parse(tmp_path / "NuGet.config").getroot().find("packageSources")
    assert [element.tag for element in sources] == ["clear", "add", "add"]
    assert [source.get("value") for source in sources.findall("add")] == ['/a "b" & c', "/d"]
