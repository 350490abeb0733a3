"""What a project configures, in loadcheck.toml or `[tool.loadcheck]` of pyproject.toml, and the options before it."""

import argparse
import json
import re
import zipfile
from pathlib import Path

import jsonschema
import pytest

from corpus.cases.linkage import odd, with_odd
from loadcheck.cli import choose_checks, declare_audit, main
from loadcheck.configuration import Configuration, read_configuration
from loadcheck.engine.catalog import own_checks
from loadcheck.engine.policy import Choice, Policy, Waiver
from loadcheck.errors import InputError
from loadcheck.reports.render import audit_schema

GUIDE = Path(__file__).parents[3] / "docs/howto/audit.md"
WAIVER = '[[waive]]\ncode = "{}"\nreason = "a sample"\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository whose folder `below` is the current one."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


@pytest.fixture
def package(project):
    """A package with findings of LB611 in two files."""
    with zipfile.ZipFile(project / "sample.zip", "w") as archive:
        archive.writestr("sample/.env", "API_TOKEN=x")
        archive.writestr("sample/id_rsa", "x")
    return project / "sample.zip"


def below_tool(text):
    """What is written into loadcheck.toml, as pyproject.toml has it."""
    return "[tool.loadcheck]\n" + text.replace("[[", "[[tool.loadcheck.")


def choose(*options, policy=None):
    parser = argparse.ArgumentParser()
    declare_audit(parser)
    return choose_checks(policy or Policy(), parser.parse_args(options))


@pytest.mark.parametrize(
    ("text", "options", "choice", "others"),
    [
        ("", "", "--profile all", ("error", False, False)),
        ('profile = "loads"', "", "--profile loads", ("error", False, False)),
        ('profile = "loads"', "--profile all", "--profile all", ("error", False, False)),
        ('profile = "loads"', "--select LB1", "--select LB1", ("error", False, False)),
        ('select = ["LB1", "lb305"]', "", "--select LB1,LB305", ("error", False, False)),
        ('select = ["LB1"]', "--select LB3", "--select LB3", ("error", False, False)),
        ('select = ["LB1"]', "--profile loads", "--profile loads", ("error", False, False)),
        ('profile = "loads"\nselect = ["LB1"]', "", "--select LB1", ("error", False, False)),
        ('ignore = ["LB612"]', "", "--profile all --ignore LB612", ("error", False, False)),
        ('ignore = ["LB612"]', "--ignore LB5", "--profile all --ignore LB612,LB5", ("error", False, False)),
        ('ignore = ["LB612"]', "--select LB6", "--select LB6 --ignore LB612", ("error", False, False)),
        ('fail_on = "warning"', "", "--profile all", ("warning", False, False)),
        ('fail_on = "never"', "--fail-on error", "--profile all", ("error", False, False)),
        ("strict = true", "", "--profile all", ("error", True, False)),
        ("strict = false", "--strict", "--profile all", ("error", True, False)),
        ("", "--strict", "--profile all", ("error", True, False)),
        ("resolve = true", "", "--profile all", ("error", False, True)),
        ("resolve = false", "", "--profile all", ("error", False, False)),
        ("resolve = false", "--resolve", "--profile all", ("error", False, True)),
        ("resolve = true", "--no-resolve", "--profile all", ("error", False, False)),
        ("", "--resolve", "--profile all", ("error", False, True)),
    ],
)
@pytest.mark.parametrize("name", ["loadcheck.toml", "pyproject.toml"])
def test_the_configuration_decides_and_options_take_precedence(project, text, options, choice, others, name):
    (project / name).write_text(below_tool(text) if name == "pyproject.toml" else text)

    policy = choose(*options.split())

    assert str(policy.choice).partition(":")[0] == choice
    assert (policy.fail_on, policy.is_strict, policy.resolve) == others


@pytest.mark.parametrize(
    ("text", "options", "resolve"),
    [
        ("", "", True),
        ("resolve = true", "", True),
        ("resolve = false", "", False),
        ("resolve = false", "--resolve", True),
        ("", "--no-resolve", False),
    ],
)
@pytest.mark.parametrize("is_configured", [False, True])
def test_a_policy_that_resolves_does_so_until_someone_says_no(project, text, options, resolve, is_configured):
    (project / "loadcheck.toml").write_text(text)
    parser = argparse.ArgumentParser()
    declare_audit(parser)
    chosen = choose_checks(Policy(resolve=True), parser.parse_args(options.split()), is_configured=is_configured)
    assert chosen.resolve is resolve


@pytest.mark.parametrize(
    ("text", "choice", "fail_on", "waived"),
    [
        ("", "--profile loads --ignore LB5", "never", ["LB601"]),
        ('profile = "all"', "--profile all --ignore LB5", "never", ["LB601"]),
        ('ignore = ["LB612"]\nfail_on = "error"', "--profile loads --ignore LB5,LB612", "error", ["LB601"]),
        (WAIVER.format("LB611"), "--profile loads --ignore LB5", "never", ["LB601", "LB611"]),
    ],
)
def test_the_configuration_takes_precedence_over_the_rules_of_latebind(project, text, choice, fail_on, waived):
    (project / "loadcheck.toml").write_text(text)
    waivers = (Waiver(code="LB601", subject="*", reason="r"),)

    rules = Policy(choice=Choice(profile="loads", ignore=("LB5",)), fail_on="never", waivers=waivers)
    policy = choose(policy=rules)

    assert str(policy.choice).partition(":")[0] == choice
    assert policy.fail_on == fail_on
    assert [waiver.code for waiver in policy.waivers] == waived


@pytest.mark.parametrize(
    ("files", "profile"),
    [
        ({}, None),
        ({"pyproject.toml": "[tool.other]\nx = 1\n"}, None),
        ({"pyproject.toml": "tool = 1\n"}, None),
        ({"loadcheck.toml": ""}, None),
        ({"loadcheck.toml": 'profile = "loads"'}, "loads"),
        ({"pyproject.toml": '[tool.loadcheck]\nprofile = "loads"'}, "loads"),
        ({"loadcheck.toml": 'profile = "loads"', "pyproject.toml": '[tool.loadcheck]\nprofile = "all"'}, "loads"),
        ({"loadcheck.toml": "", "pyproject.toml": '[tool.loadcheck]\nprofile = "all"'}, None),
        ({"loadcheck.toml": 'profile = "loads"', "below/loadcheck.toml": 'profile = "all"'}, "all"),
        ({"loadcheck.toml": 'profile = "loads"', "below/pyproject.toml": '[tool.loadcheck]\nprofile = "all"'}, "all"),
        ({"loadcheck.toml": 'profile = "loads"', "below/pyproject.toml": "[tool.other]\nx = 1\n"}, "loads"),
        ({"pyproject.toml": '[tool.loadcheck]\nprofile = "loads"', "below/pyproject.toml": ""}, "loads"),
        ({"pyproject.toml": '[tool.loadcheck]\nprofile = "loads"', "below/pyproject.toml": "[tool.loadcheck]"}, None),
        ({"../loadcheck.toml": 'profile = "loads"'}, None),
        ({"../pyproject.toml": '[tool.loadcheck]\nprofile = "loads"'}, None),
    ],
)
def test_the_nearest_file_of_the_repository_counts(project, files, profile):
    outside = [project / name for name in files if name.startswith("..")]
    for name, text in files.items():
        (project / name).write_text(text)

    try:
        assert read_configuration(Path()).profile == profile
    finally:
        for path in outside:
            path.unlink()


@pytest.mark.parametrize(
    ("text", "says", "advice"),
    [
        ("resolv = true", "unknown field `resolv`", "Did you mean resolve? The keys are profile, "),
        ('fail-on = "never"', "unknown field `fail-on`", "Did you mean fail_on? The keys are profile, "),
        ('selects = ["LB1"]', "unknown field `selects`", "Did you mean select? The keys are profile, "),
        (WAIVER.format("LB611").replace("waive", "waiver"), "`waiver`", "Did you mean waive? The keys are profile, "),
        ("baseline = 1", "unknown field `baseline`", "  The keys are profile, select, ignore, fail_on, strict,"),
        ("resolve = 1", "$.resolve", "  The keys are profile, "),
        ('strict = "yes"', "$.strict", "  The keys are profile, "),
        ('profile = "some"', "Invalid enum value 'some'", "  The keys are profile, "),
        ('fail_on = "note"', "Invalid enum value 'note'", "  The keys are profile, "),
        ('select = "LB1"', "$.select", "  The keys are profile, "),
        ('[[waive]]\nreason = "r"\n', "`code`", "Each table of waive has code, reason and subject."),
        ('[[waive]]\ncode = "LB611"\n', "`reason`", "Each table of waive has code, reason and subject."),
        (WAIVER.format("LB611") + 'file = "x"\n', "`file`", "Each table of waive has code, reason and subject."),
        ("[", "", "Correct the file."),
        ("\0", "", "Correct the file."),
    ],
)
@pytest.mark.parametrize("name", ["loadcheck.toml", "pyproject.toml"])
def test_a_configuration_that_is_not_valid_is_a_mistake_of_the_user(project, package, name, text, says, advice, capsys):
    (project / name).write_text(below_tool(text) if name == "pyproject.toml" else text)

    with pytest.raises(InputError, match=re.escape(name)):
        read_configuration(Path())
    assert main([str(package)]) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert advice in printed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('select = ["LB9999"]', "select: LB9999 matches no check"),
        ('ignore = ["XY1"]', "ignore: XY1 matches no check"),
        (WAIVER.format("LB611").replace("a sample", ""), "the waiver of LB611 for * has no reason"),
        (WAIVER.format("LB611").replace("a sample", " \\t"), "the waiver of LB611 for * has no reason"),
    ],
)
def test_codes_that_do_not_exist_and_empty_reasons_are_mistakes_of_the_user(project, package, text, says, capsys):
    (project / "loadcheck.toml").write_text(text)

    assert main([str(package)]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("error: ")
    assert says in printed
    assert f"--{says}" not in printed


# ---- waivers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "waived", "unused", "status"),
    [
        ("", [], [], [], 1),
        (WAIVER.format("LB611"), [], [".env", "id_rsa"], [], 0),
        (WAIVER.format("LB611") + 'subject = "*.env"\n', [], [".env"], [], 1),
        (WAIVER.format("LB611") + 'subject = "sample.zip!sample/*"\n', [], [".env", "id_rsa"], [], 0),
        (WAIVER.format("LB611") + 'subject = "other.zip!*"\n', [], [], ["LB611 other.zip!*: a sample"], 1),
        (WAIVER.format("LB602"), [], [], ["LB602 *: a sample"], 1),
        (WAIVER.format("LB611") + WAIVER.format("LB602"), [], [".env", "id_rsa"], ["LB602 *: a sample"], 0),
        # checks that did not run, or are not installed
        (WAIVER.format("LB602"), ["--ignore", "LB602"], [], [], 1),
        (WAIVER.format("LB602"), ["--select", "LB611"], [], [], 1),
        (WAIVER.format("ACME001"), [], [], [], 1),
    ],
)
def test_waivers_accept_findings_and_those_without_use_are_reported(
    project, package, text, options, waived, unused, status, capsys
):
    (project / "loadcheck.toml").write_text(text)

    assert main(["--format", "json", *options, str(package)]) == status
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, audit_schema())
    assert [finding["subject"].rpartition("/")[2] for finding in document["waived"]] == waived
    assert {finding["reason"] for finding in document["waived"]} <= {"a sample"}
    assert document["unused_waivers"] == unused

    assert main([*options, str(package)]) == status
    printed = capsys.readouterr().out
    assert ("waivers that accept nothing" in printed) is bool(unused)
    assert all(f"  {waiver}\n" in printed for waiver in unused)


# ---- what is undecided ---------------------------------------------------------------------------------------------


@pytest.fixture
def wheel(bench, project):
    """A wheel that needs a library which its requirement may install."""
    [path] = bench.wheel({"latenn/_odd.so": with_odd(bench)}, metadata="Requires-Dist: acme\n")
    return path


@pytest.mark.parametrize(
    ("text", "options", "status", "says"),
    [
        ("", [], 0, "1 undecided (--resolve)"),
        ("", ["--strict"], 1, "1 undecided (--resolve)"),
        ("strict = true", [], 1, "1 undecided (--resolve)"),
        ("strict = true", ["--fail-on", "never"], 1, "1 undecided (--resolve)"),
        ("strict = true\nresolve = true", [], 0, ""),
        ("strict = true", ["--resolve"], 0, ""),
        ("strict = true\nresolve = true", ["--no-resolve"], 1, "1 undecided (--resolve)"),
        ("resolve = true", ["--no-resolve"], 0, "1 undecided (--resolve)"),
    ],
)
def test_what_no_requirement_was_read_for_is_undecided(
    index, project, wheel, bench, text, options, status, says, capsys
):
    (project / "loadcheck.toml").write_text(text)
    index.add("acme", {"acme/libodd.so.3": odd(bench)})

    assert main([*options, str(wheel)]) == status
    last = capsys.readouterr().out.splitlines()[-1]
    assert says in last
    assert ("undecided" in last) is bool(says)
    assert bool(index.asked) is not bool(says)


def test_what_the_index_does_not_have_stays_undecided(index, project, wheel, capsys):
    assert main(["--strict", "--resolve", "--format", "json", str(wheel)]) == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, audit_schema())
    [row] = document["undecided"]
    assert row == {
        "check": "LB107",
        "subject": f"{wheel.name}!latenn/_odd.so",
        "library": "libodd.so.3",
        "requirements": ["acme"],
    }
    assert main(["--resolve", "--fail-on", "never", str(wheel)]) == 0
    assert "1 undecided (-v)" in capsys.readouterr().out.splitlines()[-1]


# ---- the list of checks, and the guide -----------------------------------------------------------------------------


def test_checks_are_listed(project, capsys):
    assert main(["checks"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "LB107  error    loads    Needed library that is missing" in lines
    assert {line.split()[0] for line in lines} >= set(own_checks())
    assert all(re.fullmatch(r"\w+  (error|warning|note) +(loads|runtime|all) +\S.*", line) for line in lines)


def test_a_folder_of_that_name_is_checked(project, package, capsys):
    (project / "below/checks").mkdir()
    package.rename(project / "below/checks/sample.zip")
    assert main(["./checks"]) == 1
    assert "error   LB611" in capsys.readouterr().out


def test_the_guide_has_each_key_and_its_example_counts(project, package, capsys):
    section = GUIDE.read_text("utf-8").partition("## Configure loadcheck\n")[2].partition("\n## ")[0]
    [example] = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    (project / "loadcheck.toml").write_text(example)

    configured = read_configuration(Path())

    assert all(f"`{key}`" in section for key in Configuration.__struct_fields__)
    assert configured.waivers
    assert main([str(package)]) == 1
    printed = capsys.readouterr().out
    assert "error   LB611" in printed
    assert "in sample/id_rsa" in printed
    assert f"LB611 sample.zip!sample/.env: {configured.waivers[0].reason}" in printed
