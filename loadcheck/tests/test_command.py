"""The command `loadcheck` as a user runs it: formats, choices of checks, baselines, and what ends it."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import defusedxml.ElementTree
import pytest

from corpus.processes import assert_refused, assert_success, run_program
from loadcheck.cli import main
from loadcheck.engine.catalog import own_checks

COMMAND = (sys.executable, "-m", "loadcheck")


def loadcheck(*arguments, **options):
    return run_program(*COMMAND, *arguments, **options)


def write_sample(folder, name):
    """A package with one finding, LB611: a name of secrets."""
    with zipfile.ZipFile(folder / "sample.zip", "w") as archive:
        archive.writestr(f"sample/{name}", "API_TOKEN=x")
    return folder / "sample.zip"


@pytest.fixture
def package(tmp_path):
    return write_sample(tmp_path, ".env")


def test_explain_prints_why_example_and_cure():
    printed = assert_success(loadcheck("--explain", "lb107"))
    assert printed.startswith("# LB107: Needed library that is missing")
    assert "NEEDED libopenblas.so.0" in printed


@pytest.mark.parametrize(
    ("file", "table"), [("loadcheck.toml", "[[waive]]"), ("pyproject.toml", "[[tool.loadcheck.waive]]")]
)
def test_what_explain_says_accepts_a_finding(package, tmp_path, file, table):
    assert loadcheck(package, cwd=tmp_path).returncode == 1
    page = assert_success(loadcheck("--explain", "LB611"))
    assert f"`{file}`" in page
    assert table in page
    written = page.partition("```toml\n")[2].partition("```")[0]
    (tmp_path / file).write_text(written.replace("[[waive]]", table), encoding="utf-8")
    assert "why this is accepted here" in assert_success(loadcheck("-v", package, cwd=tmp_path))


def test_explain_of_an_unknown_code_names_the_nearest():
    assert_refused(loadcheck("--explain", "LB1O7"), "LB1O7 is not a check", "Did you mean LB107, Needed library that")


def test_nothing_to_check_is_refused(tmp_path):
    assert_refused(loadcheck(tmp_path / "none"), "no such file or folder", "Name an existing file or folder")
    ended = loadcheck()
    assert (ended.returncode, "name what to check: loadcheck some.whl" in ended.stderr) == (2, True)


def test_formats(package):
    names = ("text", "html", "json", "sarif", "junit", "markdown", "github")
    results = {name: loadcheck("--profile", "all", "--format", name, package) for name in names}
    assert {result.returncode for result in results.values()} == {1}
    assert "LB611" in results["text"].stdout
    assert json.loads(results["json"].stdout)["findings"][0]["code"] == "LB611"
    assert json.loads(results["sarif"].stdout)["runs"][0]["results"][0]["ruleId"] == "LB611"
    assert defusedxml.ElementTree.fromstring(results["junit"].stdout).get("failures") == "1"
    assert results["markdown"].stdout.startswith("## ❌ loadcheck")
    assert results["html"].stdout.startswith("<!doctype html>")
    assert "::error title=LB611" in results["github"].stdout


def test_paths_may_be_before_and_after_options(package, tmp_path):
    other = tmp_path / "other.zip"
    other.write_bytes(package.read_bytes())
    ended = loadcheck(package, "--select", "LB611", "--format", "json", other)
    subjects = [row["subject"] for row in json.loads(ended.stdout)["findings"]]
    assert subjects == ["other.zip!sample/.env", "sample.zip!sample/.env"]


@pytest.mark.parametrize("profile", ["loads", "runtime", "all"])
def test_the_list_of_checks_is_that_of_a_profile(profile):
    listed = [line.split()[0] for line in assert_success(loadcheck("checks", "--profile", profile)).splitlines()]
    everything = assert_success(loadcheck("checks")).splitlines()
    assert set(listed) <= {line.split()[0] for line in everything}
    assert ("LB107" in listed, "LB611" in listed) == (profile != "runtime", profile != "runtime")
    assert loadcheck("checks", "--profile", "most").returncode == 2


def test_a_report_is_utf_8_whatever_the_code_page(package):
    ended = loadcheck(
        "--format", "markdown", package, env={**os.environ, "PYTHONIOENCODING": "cp1252"}, encoding="utf-8"
    )
    assert ended.stdout.startswith("## ❌ loadcheck"), ended.stderr


@pytest.mark.parametrize(
    ("options", "codes", "choice"),
    [
        ([], ["LB611"], "--profile loads: "),
        (["--profile", "all"], ["LB611"], "--profile all"),
        (["--profile", "all", "--ignore", "LB6"], [], "--profile all --ignore LB6: "),
        (["--profile", "all", "--ignore", "lb609,LB612"], ["LB611"], "--profile all --ignore LB609,LB612: "),
        (["--select", "LB1,LB611"], ["LB611"], "--select LB1,LB611: "),
        (["--select", "LB1", "--select", "LB6"], ["LB611"], "--select LB1,LB6: "),
        (["--select", "LB611", "--ignore", "LB6"], ["LB611"], "--select LB611 --ignore LB6: "),
        (["--select", "LB6", "--ignore", "LB611"], [], "--select LB6 --ignore LB611: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_options_choose_the_checks(package, options, codes, choice):
    result = loadcheck(*options, "--format", "json", package)
    document = json.loads(result.stdout)
    assert [finding["code"] for finding in document["findings"]] == codes
    assert document["choice"].startswith(choice)
    assert result.returncode == len(codes)


def test_what_cannot_be_read_is_reported_whatever_is_chosen(tmp_path):
    (tmp_path / "a.whl").write_text("no zip")
    result = loadcheck("--select", "LB1", tmp_path / "a.whl")
    assert result.returncode == 1
    assert "LB601" in result.stdout
    assert loadcheck("--ignore", "LB601", "--select", "LB1", tmp_path / "a.whl").returncode == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--select", "LB3O8"], "--select: LB3O8 matches no check\n  Did you mean LB308, Newer macOS"),
        (["--ignore", "LB611,XY1"], "--ignore: XY1 matches no check\n  Did you mean LB1?"),
        (["--select", "LB3", "--ignore", "LB3"], "none that is installed judges a package\n  Choose others."),
    ],
    ids=" ".join,
)
def test_a_choice_of_no_check_is_refused(package, options, says):
    assert_refused(loadcheck(*options, package), says)


def test_a_profile_is_refused_of_which_no_check_is_installed(package, monkeypatch, capsys):
    monkeypatch.setattr("loadcheck.engine.policy.checks", own_checks)  # whatever else is installed here
    assert main(["--profile", "runtime", str(package)]) == 2
    assert capsys.readouterr().err.endswith("judges a package\n  latebind has the checks of late binding.\n")


def test_fail_on_never_reports_and_passes(package):
    assert "error   LB611" in assert_success(loadcheck("--profile", "all", "--fail-on", "never", package))


# ---- baselines -----------------------------------------------------------------------------------------------------


def test_a_baseline_hides_what_is_known_and_names_what_is_gone(package, tmp_path):
    file = tmp_path / "known.json"
    written = loadcheck("--profile", "all", "--write-baseline", file, package)
    assert (written.returncode, written.stdout) == (
        0,
        "sample.zip: 0 errors, 0 warnings, 0 notes, 1 in the baseline\n",
    )
    first = file.read_bytes()
    loadcheck("--profile", "all", "--write-baseline", file, package)
    assert file.read_bytes() == first

    write_sample(tmp_path, "id_rsa")
    new = loadcheck("--profile", "all", "--baseline", file, package)
    assert new.returncode == 1
    assert "in sample/id_rsa" in new.stdout
    assert "  known.json: LB611 sample.zip!sample/.env has a name typical of files with secrets" in new.stdout
    assert "not found" not in loadcheck("--select", "LB1", "--baseline", file, package).stdout
    document = json.loads(loadcheck("--profile", "all", "--baseline", file, "--format", "json", package).stdout)
    assert [len(document["baseline"][key]) for key in ("known", "gone")] == [0, 1]


def test_a_baseline_has_names_as_people_write_them(tmp_path):
    package = write_sample(tmp_path, ".env.größe")
    loadcheck("--profile", "all", "--write-baseline", tmp_path / "known.json", package)

    assert "sample/.env.größe" in (tmp_path / "known.json").read_text(encoding="utf-8")
    assert loadcheck("--profile", "all", "--baseline", tmp_path / "known.json", package).returncode == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "the baseline cannot be read"),
        ("version = 1", "is not a baseline of loadcheck"),
        ('{"more": ' + "[" * 100_000, "is not a baseline of loadcheck"),
        ('{"subjects": 1, "findings": []}', "is not a baseline of loadcheck"),
        ('{"loadcheck_baseline": 2, "findings": []}', "is a baseline of format 2"),
    ],
    ids=["missing", "syntax", "nested", "foreign", "newer"],
)
def test_a_baseline_that_is_none_is_refused(package, tmp_path, text, says):
    file = tmp_path / "known.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert_refused(loadcheck("--baseline", file, package), f"known.json: {says}", "--write-baseline")


# ---- what ends it --------------------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_written_is_a_message(package, tmp_path):
    (tmp_path / "taken").touch()
    assert_refused(loadcheck("--write-baseline", tmp_path / "taken/known.json", package), "taken: ")


@pytest.mark.skipif(sys.platform != "linux", reason="not run: /dev/full is Linux's")
def test_a_full_disk_is_a_message(package):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run([*COMMAND, package], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: No space left on device\n")


@pytest.mark.skipif(sys.platform == "win32", reason="not run: pipes of Windows end otherwise")
def test_a_reader_that_goes_away_is_a_status_and_no_noise(package):
    with subprocess.Popen([*COMMAND, package], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has other signals")
def test_an_interruption_is_a_line(tmp_path):
    os.mkfifo(tmp_path / "held.json")  # it waits for a writer of its baseline
    command = [*COMMAND, "--baseline", tmp_path / "held.json", write_sample(tmp_path, ".env")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "\nerror: interrupted\n"
    assert process.returncode == 130
