"""Source Link: the symbols of a managed part name the files of the commit that it was made from."""

import json
import shutil
from pathlib import PurePosixPath

import pytest

from latebind.ecosystems.nuget.managed import SOURCES, source_link
from tests.ecosystems.nuget.test_managed import build as build_managed
from tests.support.client import CONFIG, edit, member, write_client, write_files
from tests.support.dotnet_reader import PROJECT
from tests.support.needs import dotnet_environment
from tests.support.running import assert_success
from tests.system.test_git import git

HASH = "0123456789abcdef0123456789abcdef01234567"
RAW = f"https://raw.githubusercontent.com/me/tiny/{HASH}"
SOURCE = "namespace Tiny { public static class Adding { public static int Two() { return 2; } } }\n"


def build(tmp_path, link, project=PROJECT):
    folder = write_files(tmp_path / "a (b) é" / "Tiny", {"Tiny.csproj": project, "Adding.cs": SOURCE})
    (built,) = build_managed(folder, tmp_path, source_link=link)
    return built


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("https://github.com/me/tiny", f"{RAW}/a/b%20c/*"),
        ("https://github.com/me/tiny.git/", f"{RAW}/a/b%20c/*"),
        ("https://gitlab.com/us/all/tiny", f"https://gitlab.com/us/all/tiny/-/raw/{HASH}/a/b%20c/*"),
        ("https://codeberg.org/me/tiny", f"https://codeberg.org/me/tiny/raw/commit/{HASH}/a/b%20c/*"),
        ("https://bitbucket.org/me/tiny", f"https://api.bitbucket.org/2.0/repositories/me/tiny/src/{HASH}/a/b%20c/*"),
    ],
)
def test_each_host_has_its_own_addresses(repository, address):
    text = source_link(repository, HASH, PurePosixPath("a/b c"), SOURCES)
    assert json.loads(text) == {"documents": {"/_/*": address}}


@pytest.mark.parametrize(
    ("repository", "commit"),
    [
        ("https://github.com/me/tiny", ""),
        ("https://example.org/me/tiny", HASH),
        ("https://github.com.example.org/me/tiny", HASH),
        ("ssh://git@github.com/me/tiny", HASH),
        ("https://github.com/tiny", HASH),
        ("https://github.com/me/ti ny", HASH),
        ("", HASH),
    ],
)
def test_nothing_is_claimed_where_the_address_is_unknown(repository, commit):
    assert source_link(repository, commit, PurePosixPath("a"), SOURCES) == ""


@pytest.mark.slow
def test_symbols_name_the_commit_of_each_source(tmp_path, read_assembly):
    link = source_link("https://github.com/me/tiny", HASH, PurePosixPath("dotnet/Tiny"), SOURCES)
    printed = read_assembly(build(tmp_path, link).symbols)
    (recorded,) = [json.loads(line.removeprefix("link ")) for line in printed if line.startswith("link ")]
    assert recorded == {"documents": {"/_/*": f"{RAW}/dotnet/Tiny/*"}}
    documents = [line.removeprefix("document ") for line in printed if line.startswith("document ")]
    assert "/_/Adding.cs" in documents
    assert [name for name in documents if name.startswith("/_/") and name != "/_/Adding.cs"] == []


@pytest.mark.slow
def test_without_a_repository_nothing_is_named(tmp_path, read_assembly):
    assert not [line for line in read_assembly(build(tmp_path, "").symbols) if line.startswith("link ")]


@pytest.mark.slow
def test_a_project_without_symbols_is_still_compiled(tmp_path):
    link = source_link("https://github.com/me/tiny", HASH, PurePosixPath("Tiny"), SOURCES)
    built = build(tmp_path, link, PROJECT.replace(">portable<", ">none<"))
    assert built.symbols is None


@pytest.mark.slow
def test_a_packed_project_links_the_commit_that_its_nuspec_names(latebind, tmp_path, read_assembly):
    config = CONFIG.replace('license = "MIT"', 'license = "MIT"\nrepository = "https://github.com/me/tiny"')
    config = config.replace('id = "Tiny"', 'id = "Tiny", managed = "dotnet/Tiny"')
    tree = write_client(tmp_path / "top" / "inner", latebind=config)
    project = PROJECT.replace("Tiny</Ass", "Tiny.Managed</Ass")
    write_files(tree / "dotnet" / "Tiny", {"Tiny.csproj": project, "Adding.cs": SOURCE})
    top = tree.parent
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        git(top, *arguments)
    commit, dist = git(top, "rev-parse", "HEAD"), tmp_path / "work" / "dist"

    def list_links():
        (tmp_path / "a.pdb").write_bytes(member(*dist.glob("*.snupkg"), ".pdb"))
        return [line for line in read_assembly(tmp_path / "a.pdb") if line.startswith("link ")]

    assert_success(latebind("-C", tree, "--workdir", tmp_path / "work", "pack", env=dotnet_environment()))

    assert f'commit="{commit}"' in member(*dist.glob("*.nupkg"), ".nuspec").decode()
    (link,) = list_links()
    assert f"https://raw.githubusercontent.com/me/tiny/{commit}/inner/dotnet/Tiny/*" in link

    edit(tree / "dotnet" / "Tiny" / "Adding.cs", "2", "3")
    shutil.rmtree(dist)
    assert_success(latebind("-C", tree, "--workdir", tmp_path / "work", "pack", env=dotnet_environment()))

    assert not list_links()
