"""Third-party checks: real distributions, installed with pip, that provide checks by entry point."""

import json
import os
import subprocess
import sys

import pytest

from corpus.packages import wheel
from corpus.processes import assert_refused, run_checked, run_program
from loadcheck.engine.check import Hit, check
from loadcheck.engine.policy import Policy
from loadcheck.errors import UserError

TELEMETRY = '''
from loadcheck.api import Hit, check

@check("ACME001", "Telemetry included", "warning", scope="package", example="acme/telemetry.so", fix="Remove it.")
def telemetry(package):
    """ACME's rules do not allow telemetry in published packages."""
    for file in package.files:
        if file.base.startswith("telemetry"):
            yield Hit(inner=file.name, message="contains telemetry", evidence=(file.base,))
'''
BROKEN = TELEMETRY.replace("for file in package.files", "for file in package.missing")


def loadcheck(*arguments, env):
    """The command line as a user runs it."""
    environment = {**os.environ, "NO_COLOR": "1", **env}
    return run_program(sys.executable, "-m", "loadcheck", *arguments, env=environment, timeout=300)


@pytest.fixture
def install_checks(tmp_path):
    """Install a distribution with one module of checks; return the environment in which it is found."""

    def install(source, *, name="acme-checks", module="acme_checks", value="acme_checks"):
        info = f"{name.replace('-', '_')}-1.0.dist-info"
        files = {
            f"{module}.py": source.encode(),
            f"{info}/entry_points.txt": f"[loadcheck.checks]\n{module} = {value}\n".encode(),
        }
        path = wheel(tmp_path / "wheels", files, name=name, tag="py3-none-any", drop=("__init__.py",), purelib=True)
        site = tmp_path / "site"
        run_checked(sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "-q", "--target", site, path)
        return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}

    return install


@pytest.fixture
def folder(tmp_path):
    """Two folders of packages, so that worker processes run the checks."""
    for name in ("one", "two"):
        wheel(tmp_path / "dist", {f"{name}/telemetry.so": b"x"}, name=name, tag="py3-none-any")
    return tmp_path / "dist"


def subjects(result):
    findings = json.loads(result.stdout)["findings"]
    return [finding["subject"] for finding in findings if finding["code"] == "ACME001"]


BOTH = ["one-1.0-py3-none-any.whl!one/telemetry.so", "two-1.0-py3-none-any.whl!two/telemetry.so"]


@pytest.mark.slow
@pytest.mark.parametrize("value", ["acme_checks", "acme_checks:telemetry"], ids=["module", "check"])
def test_checks_of_an_installed_distribution_run(install_checks, folder, value):
    assert subjects(loadcheck("--format", "json", folder, env=install_checks(TELEMETRY, value=value))) == BOTH


def test_checks_of_an_installed_distribution_run_in_spawned_workers(install_checks, folder):
    code = (
        "import multiprocessing, sys, threading\n"
        "from pathlib import Path\n"
        "from loadcheck.audit import audit_paths\n"
        "from loadcheck.reports.render import audit_json\n"
        "if __name__ == '__main__':\n"
        "    threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "    print(audit_json(audit_paths([Path(sys.argv[1])], jobs=2)))\n"
    )
    script = folder.parent / "spawn.py"
    script.write_text(code)
    command = [sys.executable, str(script), str(folder)]
    environment = {**os.environ, **install_checks(TELEMETRY)}
    result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert subjects(result) == BOTH


def test_explain_and_sarif_know_third_party_checks(install_checks, folder):
    environment = install_checks(TELEMETRY)
    page = loadcheck("--explain", "acme001", env=environment).stdout
    assert page.startswith("# ACME001: Telemetry included\n")
    assert "checks of acme-checks" in page
    rules = json.loads(loadcheck("--format", "sarif", folder, env=environment).stdout)["runs"][0]["tool"]
    assert "ACME001" in {rule["id"] for rule in rules["driver"]["rules"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import acme_missing\n", "the checks of acme-checks cannot be loaded: ModuleNotFoundError"),
        (TELEMETRY.replace("ACME001", "LB999"), "acme-checks declares a check LB999"),
        (TELEMETRY.replace("(package)", "(image)"), "check ACME001 has the parameter 'image', which a package check"),
        (TELEMETRY.replace("ACME001", "acme-1"), "'acme-1' is not a valid check code"),
        (TELEMETRY.replace("ACME001", "LB109"), "LB109 is the code of a check that is gone"),
    ],
    ids=["import", "prefix", "parameter", "code", "retired"],
)
def test_a_distribution_whose_checks_cannot_be_loaded_is_named(install_checks, folder, source, says):
    assert_refused(loadcheck(folder, env=install_checks(source)), says, "acme-checks")


@pytest.mark.slow
def test_two_distributions_with_one_code_are_named(install_checks, folder):
    install_checks(TELEMETRY)
    result = loadcheck(folder, env=install_checks(TELEMETRY, name="other-checks", module="other", value="other"))
    assert_refused(result, "other-checks and acme-checks both provide a check ACME001")


def test_a_third_party_check_that_fails_is_a_finding_that_names_it(install_checks, folder):
    result = loadcheck("--format", "json", folder, env=install_checks(BROKEN))
    messages = [finding["message"] for finding in json.loads(result.stdout)["findings"] if finding["code"] == "LB605"]
    assert len(messages) == 2
    assert all("check ACME001 of acme-checks failed with AttributeError" in message for message in messages)


def test_a_check_that_says_little_is_like_most_checks():
    def judge(wheel):
        yield Hit(inner="a/b.so", message=wheel)

    made = check("ACME004", "t", "note", example="e", fix="c")(judge)
    assert (made.kinds, made.formats, made.profiles) == (("wheel",), ("elf", "macho", "pe"), ("loads", "all"))
    (finding,) = made.judge(str.upper, "", Policy(), wheel="is wrong")
    assert (finding.subject, finding.evidence) == ("A/B.SO", ("a/b.so",))


def test_a_check_is_given_the_values_that_it_names():
    declare = check("ACME002", "t", "note", scope="binary", example="e", fix="c")

    def judge(image, runtime):
        yield from (image, runtime)

    def check_images(images):
        yield from images

    assert declare(judge).parameters == ("image", "runtime")
    with pytest.raises(UserError, match="has the parameter 'images'"):
        declare(check_images)


def test_the_parameters_of_a_check_decide_on_its_scope_unless_it_is_given():
    fields = {"example": "e", "fix": "c"}
    declare = check("ACME003", "t", "note", **fields)

    assert declare(lambda package, wheel: (package, wheel)).scope == "package"
    assert declare(lambda package, image: (package, image)).scope == "binary"
    assert declare(lambda file: (file,)).scope == "binary"
    assert declare(lambda packages, policy: (packages, policy)).scope == "set"
    declare_binary = check("ACME003", "t", "note", scope="binary", **fields)
    assert declare_binary(lambda package: (package,)).scope == "binary"
    with pytest.raises(UserError, match="has the parameter 'image', which a set check does not get"):
        declare(lambda packages, image: (packages, image))
