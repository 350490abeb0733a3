"""Which files of a folder are the project's packages."""

import shutil

import pytest

from latebind.config.file import load
from latebind.errors import InputError
from latebind.verify.packages import artifacts_in
from tests.support.client import pack_project, write_portable


@pytest.fixture(scope="module")
def project_root(tmp_path_factory):
    root = write_portable(tmp_path_factory.mktemp("dist"), ["linux-x64"], npm="@acme/tiny")
    pack_project(root)
    return root


def test_packages_are_found_by_their_names(project_root):
    artifacts = artifacts_in(project_root / "dist", load(project_root / "latebind.toml"))
    assert [(artifact.kind, artifact.path.name) for artifact in artifacts] == [
        ("nupkg", "Tiny.1.2.3.nupkg"),
        ("npm", "acme-tiny-1.2.3.tgz"),
        ("npm", "acme-tiny-linux-x64-1.2.3.tgz"),
        ("wheel", "tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl"),
        ("sdist", "tiny-1.2.3.tar.gz"),
    ]


def test_a_folder_that_is_not_there_is_refused_with_the_command_that_makes_packages(project_root, tmp_path):
    with pytest.raises(InputError, match="there is no such folder") as caught:
        artifacts_in(tmp_path / "dist", load(project_root / "latebind.toml"))
    assert "latebind pack makes them" in caught.value.advice


@pytest.mark.parametrize(
    ("package", "old", "new", "size", "message"),
    [
        ("tiny-*.whl", "", "", 700, "is not a readable zip archive"),
        ("Tiny.*.nupkg", "", "", 0, "Tiny.1.2.3.nupkg is not a readable zip archive"),
        ("tiny-*.whl", "1.2.3", "1.2.2", None, "is not of version 1.2.3"),
        ("tiny-*.whl", "tiny", "other", None, "is of another project"),
        ("Tiny.*.nupkg", "Tiny", "Other", None, "Other.1.2.3.nupkg is of another project"),
        ("tiny-*.whl", "-1.2.3-py3-none-manylinux_2_28_x86_64", "", None, "tiny.whl is not a valid wheel name"),
        ("acme-tiny-1.2.3.tgz", "1.2.3", "1.2.4", None, "is not of version 1.2.3"),
        ("tiny-1.2.3.tar.gz", "1.2.3", "1.2.4", None, "is not of version 1.2.3"),
        ("tiny-1.2.3.tar.gz", "tiny", "other", None, "is of another project"),
        ("tiny-1.2.3.tar.gz", "", "", 700, "is not a readable"),
        ("acme-tiny-1.2.3.tgz", "1.2.3", "linux-x64-1.2.3-rc.1", None, "is not of version 1.2.3"),
        ("acme-tiny-1.2.3.tgz", "tiny", "tidy", None, "is of another project"),
        ("acme-tiny-1.2.3.tgz", "1.2.3", "win32-x64-1.2.3", 200, "is not a readable tar archive"),
    ],
)
def test_what_is_not_a_package_of_the_project_is_refused(project_root, tmp_path, package, old, new, size, message):
    shutil.copytree(project_root / "dist", tmp_path / "dist")
    (path,) = (tmp_path / "dist").glob(package)
    path.with_name(path.name.replace(old, new)).write_bytes(path.read_bytes()[:size])
    with pytest.raises(InputError, match=message):
        artifacts_in(tmp_path / "dist", load(project_root / "latebind.toml"))
