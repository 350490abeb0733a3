"""Each package file needs a test case that passed, by its kind and target, or a reason."""

from pathlib import Path

import pytest

from latebind.config.file import load
from latebind.errors import ConfigError
from latebind.verify.report.coverage import PackageFile
from latebind.verify.report.gate import judge_gate
from tests.client import BOUND, SEVERAL, write_client
from tests.conftest import ROOT
from tests.verify.reports import complete, report, row

JAR = PackageFile(name="tiny-1.2.3.jar", kind="jar", targets=("linux-x64",))
WHEELS = PackageFile(name="tiny.whl", kind="wheel", targets=("linux-x64", "linux-arm64"))


@pytest.fixture
def configure(tmp_path):
    def load_with(release=""):
        text = BOUND.replace('["linux-x64"]', '["linux-x64", "linux-arm64"]')
        text += f'\n[verify]\npython = "smoke.py"\nrequired = ["wheel/linux-x64/*/works"]\n{release}'
        return load(write_client(tmp_path, latebind=text) / "latebind.toml")

    return load_with


def judge(config, *cases, packages):
    gate = judge_gate(config, report(*cases), packages=packages)
    return {blocker.subject: blocker.why for blocker in gate.blockers if "not verified" in blocker.why}


def test_a_kind_without_a_consumer_is_not_verified(configure):
    blocked = judge(configure(), row(), packages=[JAR])
    assert blocked == {JAR.name: "not verified: no test case of jar/linux-x64 passed"}


@pytest.mark.parametrize("state", ["failed", "not run"])
def test_a_target_whose_test_cases_did_not_pass_is_not_verified(configure, state):
    blocked = judge(configure(), row(), row(state, target="linux-arm64"), packages=[WHEELS])
    assert blocked == {WHEELS.name: "not verified: no test case of wheel/linux-arm64 passed"}
    assert not judge(configure(), row(), row(target="linux-arm64"), packages=[WHEELS])


def test_a_package_for_all_targets_needs_one_pass_of_its_kind(configure):
    main = PackageFile(name="tiny-1.2.3.tgz", kind="npm")
    assert judge(configure(), row(), packages=[main]) == {main.name: "not verified: no test case of npm passed"}
    assert not judge(configure(), row(), row(kind="npm", consumer="node"), packages=[main])


def test_a_bundle_is_verified_with_the_jars_in_it(configure):
    bundle = PackageFile(name="tiny-1.2.3-maven.zip", kind="maven")
    assert judge(configure(), row(), packages=[bundle])
    assert not judge(configure(), row(), row(kind="jar", consumer="java"), packages=[bundle])


@pytest.mark.parametrize("key", ["jar", "jar/linux-x64"])
def test_a_reason_releases_an_unverified_package(configure, key):
    config = configure(f'[release]\nunverified = {{ "{key}" = "no JDK here" }}\n')
    assert not judge(config, row(), packages=[JAR])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('jarr = "x"', "'jarr' is not a kind of package"),
        ('"jar/win-x64" = "x"', "'win-x64' in 'jar/win-x64' is not a target of this project"),
        ('jar = ""', "unverified"),
    ],
)
def test_a_reason_names_a_kind_and_a_target_of_the_project(configure, entry, why):
    with pytest.raises(ConfigError, match=why):
        configure(f"[release]\nunverified = {{ {entry} }}\n")


def test_a_package_that_only_the_report_names_counts_too(configure):
    gate = judge_gate(configure(), report(row(), packages=["tiny-1.2.3.jar"]), packages=[WHEELS])
    assert "tiny-1.2.3.jar" in {blocker.subject for blocker in gate.blockers}


def test_without_the_packages_the_kinds_in_the_report_count(configure):
    gate = judge_gate(configure(), report(row(), packages=["tiny-1.2.3.jar"]))
    assert "not verified: no test case of jar passed" in {blocker.why for blocker in gate.blockers}


@pytest.mark.parametrize("file", [SEVERAL, *sorted(ROOT.glob("examples/*/latebind.toml"))])
def test_every_kind_of_several_and_the_examples_is_planned_or_has_a_reason(file: Path):
    config = load(file)
    kinds = {"wheel": "wheel", "nuget": "nupkg", "npm": "npm", "maven": "jar"}
    made = {kind for package in config.packages.values() for key, kind in kinds.items() if getattr(package, key, None)}
    packages = [PackageFile(name=kind, kind=kind, targets=config.document.targets.include) for kind in sorted(made)]
    assert not judge(config, *complete(config), packages=packages)
