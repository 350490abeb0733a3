"""`latebind audit` as a user runs it."""

import json

import defusedxml.ElementTree
import pytest

DESCRIPTION = """
name = "murmur"
entry_symbols = ["MurmurOpen"]
file_globs = ["libmurmur.so*"]
linked_globs = ["libmurmur.so*"]
"""


@pytest.fixture
def package(tmp_path):
    """A folder with a package that has one finding: a name of secrets."""
    import zipfile  # noqa: PLC0415

    path = tmp_path / "sample.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sample/.env", b"x")
    return path


def refused(result, *texts):
    assert result.returncode == 2, result.stdout
    assert "Traceback" not in result.stderr
    for text in texts:
        assert text in result.stderr


def test_explain_prints_why_example_and_cure(latebind):
    result = latebind("audit", "--explain", "lb101")
    assert result.returncode == 0
    assert result.stdout.startswith("# LB101: Runtime linked")
    assert "NEEDED libonnxruntime.so.1" in result.stdout
    assert "lb_bind()" in result.stdout
    assert "under one exact file name" in result.stdout


def test_explain_of_an_unknown_code_names_the_nearest(latebind):
    refused(latebind("audit", "--explain", "LB1O1"), "LB1O1 is not a check", "Did you mean LB101, Runtime linked?")


def test_nothing_to_audit_names_the_command_that_makes_it(latebind, tmp_path):
    refused(latebind("audit", tmp_path / "dist"), "no such file or folder", "latebind pack")


def test_formats(latebind, package):
    results = {name: latebind("audit", "--format", name, package) for name in ("text", "json", "sarif", "junit")}
    assert {result.returncode for result in results.values()} == {1}
    assert "LB611" in results["text"].stdout
    assert json.loads(results["json"].stdout)["findings"][0]["code"] == "LB611"
    assert json.loads(results["sarif"].stdout)["runs"][0]["results"][0]["ruleId"] == "LB611"
    assert defusedxml.ElementTree.fromstring(results["junit"].stdout).get("failures") == "1"


def test_markdown_and_a_json_file_beside_it(latebind, package, tmp_path):
    result = latebind("audit", "--format", "markdown", "--output", tmp_path / "reports", package)
    assert result.stdout.startswith("## ❌ latebind audit")
    assert json.loads((tmp_path / "reports" / "audit.json").read_text("utf-8"))["subjects"] == 1


def test_an_unknown_format_is_a_usage_error(latebind, package):
    assert latebind("audit", "--format", "xml", package).returncode == 2


def test_a_runtime_that_a_file_describes(latebind, tmp_path):
    import zipfile  # noqa: PLC0415

    path = tmp_path / "sample.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sample/libmurmur.so.3", b"\x7fELF")
        archive.writestr("sample/libonnxruntime.so.1", b"\x7fELF")
    description = tmp_path / "murmur.toml"
    description.write_text(DESCRIPTION, encoding="utf-8")

    rows = json.loads(latebind("audit", "--preset", description, "--format", "json", path).stdout)["findings"]
    bundled = [row["subject"] for row in rows if row["code"] == "LB103"]
    assert bundled == ["sample.zip!sample/libmurmur.so.3"], "and no other runtime is looked for"

    both = latebind("audit", "--preset", description, "--preset", "onnxruntime", "--format", "json", path).stdout
    assert len([row for row in json.loads(both)["findings"] if row["code"] == "LB103"]) == 2


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
    refused(latebind("audit", "--preset", description, package), "murmur.toml", says)


def test_a_preset_that_is_not_there_is_refused(latebind, package, tmp_path):
    refused(latebind("audit", "--preset", "onxruntime", package), "onxruntime is not a known runtime", "onnxruntime")
    refused(latebind("audit", "--preset", tmp_path / "none.toml", package), "none.toml", "cannot be read")
