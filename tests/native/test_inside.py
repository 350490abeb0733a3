"""No link takes a file of the machine into a package, whatever chose the link as a source."""

from __future__ import annotations

import os
import shutil

import pytest

from latebind.config.file import load
from latebind.ecosystems.maven.pack import source_files
from latebind.ecosystems.npm.pack import npm_sources
from latebind.errors import LatebindError
from tests.support.client import members, pack_project, stage_project, write_client, write_files

NPM = '\n[package.tiny.npm]\nname = "@acme/tiny"\nsource = "npm"\n'
MAVEN = '\n[package.tiny.maven]\ngroup = "org.acme"\nname = "tiny"\nsource = "java"\n'


def pack_npm_sources(root):
    return npm_sources(load(root / "latebind.toml"), "tiny")


def pack_java_sources(root):
    return source_files(load(root / "latebind.toml"), "tiny")


CHOSEN = {
    "npm": ("npm/secret.txt", pack_npm_sources),
    "maven": ("java/Secret.java", pack_java_sources),
    "sdist": ("native/secret.c", pack_project),
    "wheel": ("python/tiny/src/tiny/secret.py", pack_project),
}


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    root = write_client(tmp_path_factory.mktemp("staged") / "project")
    stage_project(root)
    return root


@pytest.fixture
def repository(tmp_path, staged):
    """A repository whose project is in a folder of it and has been built, and a file next to the repository."""
    root = shutil.copytree(staged, tmp_path / "repository" / "project", ignore=shutil.ignore_patterns("build"))
    text = (root / "latebind.toml").read_text()
    files = {"npm/index.cjs": "", "java/Own.java": "", "latebind.toml": text + NPM + MAVEN, "../.git/config": "token"}
    write_files(root, files)
    write_files(tmp_path, {"passwd": "secret"})
    return root


@pytest.mark.builds
@pytest.mark.parametrize("kind", CHOSEN)
@pytest.mark.parametrize("leads_to", ["../../passwd", "../.git/config", "../../outside"])
def test_a_link_that_leads_out_of_the_repository_is_refused(repository, kind, leads_to):
    name, choose = CHOSEN[kind]
    link = repository / name
    if leads_to.endswith("outside"):  # the folder of the file is the link
        write_files(repository / leads_to, {link.name: "secret"})
        link = link.with_name("linked")
    link.symlink_to(os.path.relpath(repository / leads_to, link.parent))
    with pytest.raises(LatebindError, match="leads through a link to"):
        choose(repository)
    packed = [member for package in repository.glob("dist/*.*") for member in members(package)]
    assert not [member for member in packed if "secret" in member.lower()]


@pytest.mark.builds
@pytest.mark.parametrize("kind", CHOSEN)
def test_a_link_to_another_file_of_the_repository_is_packed(repository, kind):
    name, choose = CHOSEN[kind]
    write_files((repository / name).parent.parent, {"common": ""})
    (repository / name).symlink_to("../common")
    config = repository / "latebind.toml"
    if choose is pack_project:  # no JDK, and one package each
        config.write_text(config.read_text().replace(MAVEN, "").replace(NPM, ""))
    assert choose(repository)


def link_paper(repository, name, leads_to):
    """Let the readme or the license of a project be a link."""
    config, python = repository / "latebind.toml", repository / "python/tiny/pyproject.toml"
    papers = '[project]\nreadme = "README.md"\n'
    texts = dict.fromkeys(("README.md", "LICENSE", "python/tiny/README.md"), "text")
    text = config.read_text().replace(MAVEN, "").replace(NPM, "")
    config.write_text(text.replace("[project]\n", f'{papers}license_file = "LICENSE"\n', 1))
    python.write_text(python.read_text().replace("[project]\n", papers, 1))
    write_files(repository, {**texts, "../common": ""})
    (repository / name).unlink(missing_ok=True)
    (repository / name).symlink_to(os.path.relpath(repository / leads_to, (repository / name).parent))


@pytest.mark.parametrize("name", ["README.md", "LICENSE", "python/tiny/LICENSE", "python/tiny/README.md"])
def test_a_readme_or_license_that_leads_out_of_the_repository_is_refused(repository, name):
    link_paper(repository, name, "../../passwd")
    with pytest.raises(LatebindError, match="leads through a link to"):
        pack_project(repository)
    assert not list(repository.glob("dist/*.whl"))


@pytest.mark.builds
@pytest.mark.parametrize("name", ["README.md", "LICENSE"])
def test_a_readme_or_license_of_the_repository_may_be_a_link(repository, name):
    link_paper(repository, name, "../common")
    assert pack_project(repository)


INSTALL = "\ninstall(DIRECTORY inc/ DESTINATION include COMPONENT tiny)\n"


@pytest.mark.parametrize("leads_to", ["../../passwd", "native/tiny.h"])
def test_a_link_that_cmake_installs_leads_to_a_file_of_the_repository(repository, leads_to):
    config, native = repository / "latebind.toml", repository / "native"
    config.write_text(config.read_text().replace(MAVEN, "").replace(NPM, ""))
    shutil.rmtree(repository / "stage")
    write_files(native, {"tiny.h": "", "CMakeLists.txt": (native / "CMakeLists.txt").read_text() + INSTALL})
    (native / "inc").mkdir()
    (native / "inc/more.h").symlink_to((repository / leads_to).resolve())
    secret = (repository / "../../passwd").resolve()
    secret.chmod(0o600)
    if leads_to == "../../passwd":
        with pytest.raises(LatebindError, match=r"more.h: leads through a link to .*passwd"):
            stage_project(repository)
        assert not list(repository.glob("stage/*"))
        assert secret.stat().st_mode & 0o777 == 0o600
    else:
        assert stage_project(repository)


FORCED = '\n[tool.hatch.build.targets.wheel.force-include]\n"data" = "tiny/data"\n'


def test_a_folder_that_hatchling_includes_by_force_holds_no_link_that_leads_out(repository):
    config, python = repository / "latebind.toml", repository / "python/tiny"
    config.write_text(config.read_text().replace(MAVEN, "").replace(NPM, ""))
    write_files(python, {"data/own": "", "pyproject.toml": (python / "pyproject.toml").read_text() + FORCED})
    (python / "data/secret").symlink_to((repository / "../../passwd").resolve())
    with pytest.raises(LatebindError, match="data/secret: leads through a link to"):
        pack_project(repository)
    assert not list(repository.glob("dist/*.whl"))


def test_an_sdist_refuses_a_link_to_a_file_that_it_does_not_hold(repository):
    (repository / "python/tiny/src/tiny/shared.py").symlink_to("../../../../npm/index.cjs")
    with pytest.raises(LatebindError) as refused:
        pack_project(repository)
    assert f"only files below {repository}/python/tiny" in str(refused.value)


def test_files_that_npm_never_packs_are_left_out(repository):
    write_files(repository / "npm", {".npmrc": "//registry:_authToken=secret", "package-lock.json": "{}"})
    assert [path.name for path in pack_npm_sources(repository)] == ["index.cjs"]
