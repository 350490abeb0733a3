"""`latebind audit` as a user runs it."""

import json
import zipfile

import defusedxml.ElementTree
import pytest

from tests.client import write_client
from tests.programs import assert_refused, assert_success

DESCRIPTION = """
name = "murmur"
entry_symbols = ["MurmurOpen"]
file_globs = ["libmurmur.so*"]
linked_globs = ["libmurmur.so*"]
"""


def write_sample(folder, *names, data=b"API_TOKEN=x"):
    """A package with files of these names."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "sample.zip", "w") as archive:
        for name in names:
            archive.writestr(f"sample/{name}", data)
    return folder / "sample.zip"


@pytest.fixture
def package(tmp_path):
    """A package with one finding, LB611: a name of secrets. It is only in the profile `all`."""
    return write_sample(tmp_path, ".env")


def test_explain_prints_why_example_and_cure(latebind):
    printed = assert_success(latebind("audit", "--explain", "lb101"))
    assert printed.startswith("# LB101: Runtime linked")
    assert "NEEDED libonnxruntime.so.1" in printed
    assert "lb_bind()" in printed
    assert "under one exact file name" in printed


def test_explain_of_an_unknown_code_names_the_nearest(latebind):
    assert_refused(
        latebind("audit", "--explain", "LB1O1"), "LB1O1 is not a check", "Did you mean LB101, Runtime linked?"
    )


def test_nothing_to_audit_names_the_command_that_makes_it(latebind, tmp_path):
    assert_refused(latebind("audit", tmp_path / "dist"), "no such file or folder", "Name an existing file or folder")
    project = write_client(tmp_path / "tiny")
    assert_refused(latebind("-C", project, "audit"), "there are no packages yet", "latebind pack")


def test_formats(latebind, package):
    names = ("text", "json", "sarif", "junit")
    results = {name: latebind("audit", "--profile", "all", "--format", name, package) for name in names}
    assert {result.returncode for result in results.values()} == {1}
    assert "LB611" in results["text"].stdout
    assert json.loads(results["json"].stdout)["findings"][0]["code"] == "LB611"
    assert json.loads(results["sarif"].stdout)["runs"][0]["results"][0]["ruleId"] == "LB611"
    assert defusedxml.ElementTree.fromstring(results["junit"].stdout).get("failures") == "1"


def test_markdown_and_a_json_file_beside_it(latebind, package, tmp_path):
    result = latebind("audit", "--select", "LB6", "--format", "markdown", "--output", tmp_path / "reports", package)
    assert result.stdout.startswith("## ❌ loadcheck")
    assert json.loads((tmp_path / "reports" / "audit.json").read_text("utf-8"))["subjects"] == 1


def test_an_unknown_format_is_a_usage_error(latebind, package):
    assert latebind("audit", "--format", "xml", package).returncode == 2


def test_a_runtime_that_a_file_describes(latebind, tmp_path):
    path = write_sample(tmp_path, "libmurmur.so.3", "libonnxruntime.so.1", data=b"\x7fELF")
    description = tmp_path / "murmur.toml"
    description.write_text(DESCRIPTION, encoding="utf-8")

    findings = json.loads(latebind("audit", "--preset", description, "--format", "json", path).stdout)["findings"]
    bundled = [finding["subject"] for finding in findings if finding["code"] == "LB103"]
    assert bundled == ["sample.zip!sample/libmurmur.so.3"], "and no other runtime is looked for"

    both = latebind("audit", "--preset", description, "--preset", "onnxruntime", "--format", "json", path).stdout
    assert len([finding for finding in json.loads(both)["findings"] if finding["code"] == "LB103"]) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (DESCRIPTION + 'entry_symbol = "x"\n', "Did you mean 'entry_symbols'?"),
        (DESCRIPTION.replace("file_globs", "#"), "lacks file_globs"),
        (DESCRIPTION.replace('["MurmurOpen"]', '"MurmurOpen"'), "Expected `array`"),
        (DESCRIPTION + "python = 3\n", "Expected `str`"),
        ("name = ", "is not valid TOML"),
        ("\xff", "is not valid TOML"),
    ],
    ids=["unknown-key", "missing", "type", "nested-type", "syntax", "encoding"],
)
def test_a_description_that_is_none_is_refused(latebind, tmp_path, package, text, says):
    description = tmp_path / "murmur.toml"
    description.write_bytes(text.encode("latin-1"))
    assert_refused(latebind("audit", "--preset", description, package), "murmur.toml", says)


def test_a_preset_that_is_not_there_is_refused(latebind, package, tmp_path):
    assert_refused(
        latebind("audit", "--preset", "onxruntime", package), "onxruntime is not a known runtime", "onnxruntime"
    )
    assert_refused(latebind("audit", "--preset", tmp_path / "none.toml", package), "none.toml", "cannot be read")


@pytest.mark.parametrize(
    ("options", "codes", "choice"),
    [
        ([], ["LB611"], "--profile loads: "),
        (["--profile", "runtime"], [], "--profile runtime: "),
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
def test_options_choose_the_checks(latebind, package, options, codes, choice):
    result = latebind("audit", *options, "--json", package)
    document = json.loads(result.stdout)
    assert [finding["code"] for finding in document["findings"]] == codes
    assert document["choice"].startswith(choice)
    assert result.returncode == len(codes)


def test_what_cannot_be_read_is_reported_whatever_is_chosen(latebind, tmp_path):
    (tmp_path / "a.whl").write_text("no zip")
    result = latebind("audit", "--select", "LB1", tmp_path / "a.whl")
    assert result.returncode == 1
    assert "LB601" in result.stdout
    assert latebind("audit", "--ignore", "LB601", "--select", "LB1", tmp_path / "a.whl").returncode == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--select", "LB3O5"], "--select: LB3O5 matches no check\nhelp: Did you mean LB305, Binary for another"),
        (["--ignore", "LB611,XY1"], "--ignore: XY1 matches no check\nhelp: Did you mean LB1?"),
        (["--profile", "load"], "'load' is not a possible value\nhelp: Did you mean loads?"),
        (["--profile", "all", "--select", "LB1"], "not allowed with argument"),
        (["--fail-on", "notes"], "'notes' is not a possible value\nhelp: "),
    ],
    ids=" ".join,
)
def test_a_choice_that_is_none_is_refused(latebind, package, options, says):
    assert_refused(latebind("audit", *options, package), says)


def test_fail_on_never_reports_and_passes(latebind, package):
    assert "error   LB611" in assert_success(latebind("audit", "--profile", "all", "--fail-on", "never", package))


def test_a_baseline_hides_what_is_known_and_names_what_is_gone(latebind, package, tmp_path):
    file = tmp_path / "known.json"
    written = latebind("audit", "--profile", "all", "--write-baseline", file, package)
    assert (written.returncode, written.stdout) == (0, "sample.zip: 0 errors, 0 warnings, 0 notes, 1 in the baseline\n")
    first = file.read_bytes()
    latebind("audit", "--profile", "all", "--write-baseline", file, package)
    assert file.read_bytes() == first

    write_sample(tmp_path, "id_rsa")
    new = latebind("audit", "--profile", "all", "--baseline", file, package)
    assert new.returncode == 1
    assert "in sample/id_rsa" in new.stdout
    assert "  known.json: LB611 sample.zip!sample/.env has a name typical of files with secrets" in new.stdout
    assert "not found" not in latebind("audit", "--profile", "runtime", "--baseline", file, package).stdout
    document = json.loads(latebind("audit", "--profile", "all", "--baseline", file, "--json", package).stdout)
    assert [len(document["baseline"][key]) for key in ("known", "gone")] == [0, 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "the baseline cannot be read"),
        ("version = 1", "is not a baseline of loadcheck"),
        ('{"subjects": 1, "findings": []}', "is not a baseline of loadcheck"),
        ('{"loadcheck_baseline": 2, "findings": []}', "is a baseline of format 2"),
    ],
    ids=["missing", "syntax", "foreign", "newer"],
)
def test_a_baseline_that_is_none_is_refused(latebind, package, tmp_path, text, says):
    file = tmp_path / "known.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert_refused(latebind("audit", "--baseline", file, package), f"known.json: {says}", "--write-baseline")


def test_the_configuration_has_the_same_choices(latebind, tiny, tmp_path):
    """A private key in dist/ is found, ignored by the file, selected by an option, and known by a baseline."""
    write_sample(tiny / "dist", ".env")
    config = tiny / "latebind.toml"
    text = config.read_text(encoding="utf-8")

    def run_audit(table, *options):
        config.write_text(f"{text}\n[audit]\n{table}\n", encoding="utf-8")
        return latebind("-C", tiny, "audit", *options)

    assert run_audit("").returncode == 1, "the project's default is all"
    assert run_audit('profile = "runtime"').returncode == 0
    assert run_audit('ignore = ["LB6"]').returncode == 0
    assert run_audit('ignore = ["LB6"]', "--select", "LB611").returncode == 1, "options come first"
    assert run_audit('select = ["LB1"]', "--profile", "all").returncode == 1
    assert run_audit('fail_on = "never"').returncode == 0
    assert_refused(
        run_audit('select = ["LB0"]'), "latebind.toml: audit.select: LB0 matches no check", "Did you mean LB"
    )
    run_audit("", "--write-baseline", tiny / "known.json")
    assert "1 in the baseline" in run_audit('baseline = "known.json"').stdout
