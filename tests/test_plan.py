"""What `plan` says and what `pack` makes: the same files, whatever the configuration."""

import shutil
from dataclasses import dataclass

import pytest

from latebind.backend.targets import target
from latebind.config.file import load
from latebind.config.project import Project
from latebind.native.builds import stage_target
from latebind.native.imports import import_native
from latebind.pack.planned import plan_packages
from tests.support.client import BOUND, CONFIG, PYPROJECT, edit, pack_project, write_client
from tests.support.running import assert_refused
from tests.support.sdkclient import write_sdk_client

ALL = ("linux-x64", "linux-arm64", "linux-musl-x64", "osx-arm64", "win-x64")
HERE = ALL[:1]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A configuration; what is not given is as in tests/client.py."""

    version: str = "1.2.3"
    name: str = "tiny"
    rids: tuple[str, ...] = HERE
    glibc: str = "2.28"
    macos: str = "11.0"
    wheel: bool = True
    nuget: str = '{ id = "Tiny" }'
    runtime: bool = False
    sdk: bool = False

    def write(self, folder):
        text = (
            (BOUND if self.runtime else CONFIG)
            .replace("1.2.3", self.version)
            .replace('["linux-x64"]', str(list(self.rids)))
        )
        text = text.replace('glibc = "2.28"', f'glibc = "{self.glibc}"\nmacos = "{self.macos}"')
        named = f'wheel = {{ source = "python/tiny", name = "{self.name}" }}' if self.wheel else ""
        text = text.replace('wheel = { source = "python/tiny" }', named)
        text = text.replace("[package.tiny]", "[package.tiny]\nsdk = true") if self.sdk else text
        text = text.replace('nuget = { id = "Tiny" }', f"nuget = {self.nuget}" if self.nuget else "")
        return write_client(
            folder, latebind=text, pyproject=PYPROJECT.replace('name = "tiny"', f'name = "{self.name}"')
        )


VERSIONS = ["1.0", "1.0rc1", "1.0.0-rc.1", "1.0.0-alpha.2", "1.0.dev3", "1.0.post1", "1.0.0.0",
            "2026.11.21", "1.2-1"]  # fmt: skip
NAMES = ["Tiny", "tiny-pack", "tiny_pack", "tiny.pack", "Tiny__Pack", "tiny-._pack"]
SPLIT = '{ id = "Tiny.Core", split = true }'
VARIANTS = [
    *(Variant(version=version) for version in VERSIONS[len(NAMES) :]),
    *(Variant(version=version, name=name) for version, name in zip(VERSIONS, NAMES, strict=False)),
    *(Variant(nuget=nuget, wheel=False) for nuget in (SPLIT, SPLIT.replace("true", "false"), '{ id = "Tiny.Core" }')),
    Variant(nuget=SPLIT, version="1.0.0-rc.1", rids=("linux-x64", "win-x64"), wheel=False),
    Variant(nuget=SPLIT, rids=ALL),
    Variant(nuget=f'{SPLIT}\nnpm = {{ name = "@acme/tiny" }}', version="1.0.0-rc.1", rids=ALL, wheel=False),
    *(
        Variant(glibc=glibc, macos=macos, rids=("linux-x64", "osx-arm64"), nuget="")
        for glibc, macos in (("2.17", "12.0"), ("2.40", "26.0"))
    ),
    Variant(rids=ALL, sdk=True, version="1.0.0-rc.1"),
    Variant(rids=("linux-x64", "linux-musl-x64"), runtime=True),
    Variant(rids=("linux-x64", "linux-musl-x64"), runtime=True, sdk=True),
    Variant(rids=("linux-musl-x64",), runtime=True, wheel=False),
]


@pytest.fixture(scope="module")
def built_libraries(tmp_path_factory):
    """The library for each target, below folders named after the targets."""
    folder = tmp_path_factory.mktemp("built")
    write_sdk_client(folder, latebind=CONFIG.replace('["linux-x64"]', str(list(ALL))))
    file = folder / "latebind.toml"
    edit(file, "2.28", "2.17")
    config = load(file)
    for rid in ALL:
        stage_target(Project(config=config, workdir=folder), target(rid))
    return folder / "stage"


@pytest.mark.slow  # all of them together
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_plan_names_the_files_that_pack_makes(built_libraries, tmp_path, variant):
    config = load(variant.write(tmp_path / "tiny") / "latebind.toml")
    work = tmp_path / "work"
    for rid in variant.rids:
        folder = tmp_path / "native" / rid
        folder.mkdir(parents=True)
        shutil.copytree(built_libraries / rid / "tiny", folder / "tiny", symlinks=True)
        import_native(Project(config=config, workdir=work), [folder], rid)
    result = pack_project(config.root, *variant.rids, workdir=work)
    plan = plan_packages(config, variant.rids)
    planned = sorted(entry.file for entry in plan.files)
    assert planned == sorted(path.name for path in (work / "dist").glob("[!.]*"))
    assert planned or variant.runtime
    assert [(omission.kind, omission.reason) for omission in result.not_made] == [
        (refusal.kind, refusal.reason) for refusal in plan.not_made
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        (
            "package.tiny.wheel.source: there is no file or folder 'python/none/pyproject.toml'",
            "python/tiny",
            "python/none",
        ),
        ("verify.python: there is no file or folder 'gone.py'", "[verify]", '[verify]\npython = "gone.py"'),
        (
            "verify.data.script: there is no file or folder 'gone.py'",
            "[verify]",
            '[verify]\ndata = { script = "gone.py" }',
        ),
        (
            "package.tiny.nuget.managed: there is no file or folder 'dotnet'",
            'id = "Tiny"',
            'id = "Tiny", managed = "dotnet"',
        ),
        (
            "project.readme: there is no file or folder 'READ.md'",
            'license = "MIT"',
            'license = "MIT"\nreadme = "READ.md"',
        ),
    ],
)
def test_plan_refuses_files_that_are_not_there(latebind, tiny, key, before, after):
    write_client(tiny, latebind=(CONFIG + "[verify]\n").replace(before, after))
    ended = latebind("-C", tiny, "plan")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.splitlines() == [f"error: latebind.toml: {key}", "help: Correct the path or remove the key."]


@pytest.mark.parametrize(
    ("folder", "problem"),
    [
        ("LICENSE", "'LICENSE' is a file"),
        (".", "'.' contains the whole project"),
        ("python", "'python' has no "),
    ],
)
@pytest.mark.parametrize(("table", "entry"), [("npm", "index.mjs"), ("maven", "a/A.java")])
def test_plan_refuses_folders_without_code_for_the_package(latebind, tiny, table, entry, folder, problem):
    named = 'group = "a"\nname = "tiny"' if table == "maven" else 'name = "tiny"'
    text = f'{CONFIG}[package.tiny.{table}]\n{named}\nsource = "{folder}"\n'
    write_client(tiny, latebind=text)
    (tiny / "LICENSE").write_text("MIT")
    ended = latebind("-C", tiny, "plan")
    assert_refused(ended, f"package.tiny.{table}.source: {problem}")
    (tiny / "own" / entry).parent.mkdir(parents=True)
    (tiny / "own" / entry).touch()
    write_client(tiny, latebind=text.replace(f'"{folder}"', '"own"'))
    assert latebind("-C", tiny, "plan").returncode == 0


def test_pack_refuses_files_that_are_not_there_before_it_builds(latebind, tiny):
    write_client(tiny, latebind=CONFIG.replace("python/tiny", "python/none"))
    ended = latebind("-C", tiny, "pack", "--target", "linux-x64")
    assert_refused(ended, "package.tiny.wheel.source: there is no file or folder 'python/none/pyproject.toml'")
    assert not (tiny / "stage").exists()


@pytest.mark.parametrize(("component", "is_noted"), [("tiny", False), ("tinny", True), ("tin", True)])
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_component_that_no_cmake_file_names_is_noted(latebind, tmp_path, component, is_noted, form):
    write_client(tmp_path, latebind=CONFIG.replace('component = "tiny"', f'component = "{component}"'))
    planned = latebind("-C", tmp_path, "plan", "--format", form)
    assert planned.returncode == 0, planned.stderr
    note = f"package.tiny.component: no CMake file names {component}"
    assert (note in planned.stderr) == is_noted
    assert f"COMPONENT {component}" in planned.stderr or not is_noted


def test_a_component_of_an_own_build_is_no_matter_of_cmake(latebind, tmp_path):
    config = CONFIG.replace("[native]", '[native]\nbuild = "external"').replace('"tiny"\nexports', '"tinny"\nexports')
    write_client(tmp_path, latebind=config)
    assert "note:" not in latebind("-C", tmp_path, "plan").stderr
