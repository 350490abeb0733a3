"""`[targets.<rid>] exclude`: a package that exists for some of the project's targets only."""

import zipfile

import pytest

from latebind.config.file import load
from latebind.errors import ConfigError
from latebind.pack.planned import plan_packages
from latebind.verify.cases.expand import runtimes_on
from tests.support.client import CONFIG, copy_client, edit, pack_project, read_client
from tests.support.running import assert_refused, assert_success

EXTRA = """
[package.extra]
component = "extra"
exports = ["tiny_*"]
nuget = { id = "Tiny.Extra" }

[targets.win-x64]
exclude = ["extra"]
"""
# A library that Windows cannot have, as sources for one system are.
UNIX_ONLY = """if(NOT WIN32)
  add_library(extra SHARED tiny.c)
  set_target_properties(extra PROPERTIES C_VISIBILITY_PRESET hidden)
  install(TARGETS extra LIBRARY DESTINATION lib COMPONENT extra)
endif()
"""


@pytest.fixture
def project(tmp_path):
    root = copy_client(
        "portable", tmp_path / "tiny", cmakelists=read_client("portable", "native/CMakeLists.txt") + UNIX_ONLY
    )
    config = CONFIG.replace('["linux-x64"]', '["linux-x64", "win-x64"]') + EXTRA
    (root / "latebind.toml").write_text(config)
    return root


@pytest.mark.builds
def test_a_target_without_a_package_has_the_others(project):
    result = pack_project(project)

    assert [(one.package, one.kind, one.reason) for one in result.not_made] == [("extra", "nupkg", "excluded")]
    assert "[targets.win-x64] of latebind.toml excludes extra" in result.not_made[0].message
    tiny, extra = (read_natives(project, name) for name in ("Tiny", "Tiny.Extra"))
    assert tiny == ["runtimes/linux-x64/native/libtiny.so", "runtimes/win-x64/native/tiny.dll"]
    assert extra == ["runtimes/linux-x64/native/libextra.so"]
    planned = {entry.file for entry in plan_packages(load(project / "latebind.toml"), ["linux-x64", "win-x64"]).files}
    assert planned == {path.name for path in (project / "dist").glob("[!.]*")}


def read_natives(project, name):
    with zipfile.ZipFile(project / "dist" / f"{name}.1.2.3.nupkg") as archive:
        natives = (entry for entry in archive.namelist() if entry.startswith("runtimes/"))
        return sorted(entry for entry in natives if not entry.endswith("/_._"))


def test_the_plan_says_why_a_package_is_missing(latebind, project):
    shown = assert_success(latebind("-C", project, "plan", "--target", "all"))
    assert "[targets.win-x64] of latebind.toml excludes extra" in shown


@pytest.mark.builds
def test_a_list_that_changes_builds_the_target_again(latebind, project):
    assert_success(latebind("-C", project, "build", "--target", "win-x64"))
    edit(project / "latebind.toml", 'exclude = ["extra"]', "exclude = []")
    refused = latebind("-C", project, "build", "--target", "win-x64")
    assert_refused(refused, "package.extra.component: no install() rule has COMPONENT extra", "tiny")
    assert refused.stderr.count("package.extra.component") == 1


def test_test_cases_use_a_package_that_the_target_has(project):
    runtimes = '\n[[runtime]]\npreset = "onnxruntime"\nminimum = "1.19"\n'
    edit(project / "latebind.toml", 'component = "tiny"', 'component = "tiny"\nruntime = "onnxruntime"')
    edit(project / "latebind.toml", 'component = "extra"', 'component = "extra"\nruntime = "onnxruntime"')
    edit(project / "latebind.toml", "[targets]", f"{runtimes}\n[targets]", 1)
    edit(project / "latebind.toml", 'exclude = ["extra"]', 'exclude = ["tiny"]')
    config = load(project / "latebind.toml")
    (runtime,) = config.document.runtime
    assert runtimes_on(config, "win-x64") == (runtime,)
    assert config.package_of(runtime, "win-x64") == "extra"
    assert config.package_of(runtime, "linux-x64") == "tiny"


@pytest.mark.parametrize(
    ("excluded", "message", "advice"),
    [
        ('["extre"]', "'extre' is not a package of this project", "Did you mean extra?"),
        ('["extra", "tiny"]', "win-x64 has no package left", "Remove win-x64 from targets.include"),
        ('["tiny"]', "extra is made for win-x64 but requires tiny, which is excluded", "Exclude extra as well"),
    ],
)
def test_a_list_that_cannot_work_is_refused(project, excluded, message, advice):
    edit(project / "latebind.toml", 'exclude = ["extra"]', f"exclude = {excluded}")
    edit(project / "latebind.toml", 'component = "extra"', 'component = "extra"\nrequires = ["tiny"]')
    with pytest.raises(ConfigError) as caught:
        load(project / "latebind.toml")
    assert message in str(caught.value)
    assert advice in str(caught.value)
