"""Which files of a folder are the project's packages."""

import shutil

import pytest

from latebind.config.file import load
from latebind.errors import InputError
from latebind.verify.packages import artifacts_in
from tests.client import edit, pack_project, write_portable


@pytest.fixture(scope="module")
def project_root(tmp_path_factory):
    root = write_portable(tmp_path_factory.mktemp("dist"), ["linux-x64"], npm="@acme/tiny")
    for line in ('wheel = { source = "python/tiny" }\n', 'nuget = { id = "Tiny" }\n'):
        edit(root / "latebind.toml", line, "")
    pack_project(root)
    return root


def test_npm_packages_are_found_by_their_names(project_root):
    artifacts = artifacts_in(project_root / "dist", load(project_root / "latebind.toml"))
    assert [(artifact.kind, artifact.path.name) for artifact in artifacts] == [
        ("npm", "acme-tiny-1.2.3.tgz"),
        ("npm", "acme-tiny-linux-x64-1.2.3.tgz"),
    ]


def test_a_folder_that_is_not_there_is_refused_with_the_command_that_makes_packages(project_root, tmp_path):
    with pytest.raises(InputError, match="there is no such folder") as caught:
        artifacts_in(tmp_path / "dist", load(project_root / "latebind.toml"))
    assert "latebind pack makes them" in caught.value.advice


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("acme-tiny-1.2.4.tgz", None, "is not of version 1.2.3"),
        ("acme-tiny-linux-x64-1.2.3-rc.1.tgz", None, "is not of version 1.2.3"),
        ("acme-tidy-1.2.3.tgz", None, "is of another project"),
        ("acme-tiny-win32-x64-1.2.3.tgz", 200, "is not a readable tar archive"),
    ],
)
def test_other_npm_packages_are_refused(project_root, tmp_path, name, size, message):
    shutil.copytree(project_root / "dist", tmp_path / "dist")
    data = (project_root / "dist" / "acme-tiny-1.2.3.tgz").read_bytes()
    (tmp_path / "dist" / name).write_bytes(data[:size])
    with pytest.raises(InputError, match=message):
        artifacts_in(tmp_path / "dist", load(project_root / "latebind.toml"))
