"""`latebind audit` as a user runs it."""

import json
import os
import zipfile

import pytest

from latebind.cli import main
from loadcheck.model import AuditReport
from tests.support.client import write_client
from tests.support.running import assert_refused, assert_success

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


def test_nothing_to_audit_names_the_command_that_makes_it(latebind, tmp_path):
    assert_refused(latebind("audit", tmp_path / "dist"), "no such file or folder", "Name an existing file or folder")
    project = write_client(tmp_path / "tiny")
    assert_refused(latebind("-C", project, "audit"), "there are no packages yet", "latebind pack")


def test_a_report_and_a_json_file_beside_it(latebind, package, tmp_path):
    result = latebind("audit", "--select", "LB6", "--format", "markdown", "--output", tmp_path / "reports", package)
    assert result.stdout.startswith("## ❌ loadcheck")
    written = (tmp_path / "reports" / "audit.json").read_text("utf-8")
    assert json.loads(written)["subjects"] == 1
    assert latebind("audit", "--select", "LB6", "--json", package).stdout == written


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


@pytest.mark.parametrize(("options", "reads"), [([], True), (["--no-resolve"], False)], ids=["", "no"])
def test_the_index_is_asked_for_a_project_unless_someone_says_no(tiny, monkeypatch, options, reads):
    policies = []
    monkeypatch.setattr(
        "loadcheck.api.audit_paths", lambda _, policy: policies.append(policy) or AuditReport(subjects=0)
    )
    write_sample(tiny / "dist", "sample.h")

    assert main(["-C", str(tiny), "audit", *options]) == 0
    assert main(["audit", *options, str(tiny / "dist")]) == 0

    assert [policy.resolve for policy in policies] == [reads, False]


def test_a_project_is_audited_where_no_index_is_known_unless_someone_asks_for_one(tiny, monkeypatch, capsys):
    monkeypatch.setattr("loadcheck.index.settings._find_default", lambda: "")
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_NO_INDEX", "UV_OFFLINE", "UV_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_CONFIG_FILE", str(tiny / "none.toml"))
    write_sample(tiny / "dist", "sample.h").rename(tiny / "dist" / "sample-1.0-py3-none-any.whl")

    assert main(["-C", str(tiny), "audit", "--select", "LB1"]) == 0
    assert "requirements are not read: no default index is configured" in capsys.readouterr().err
    assert main(["-C", str(tiny), "audit", "--select", "LB1", "--resolve"]) == 2
    assert "error: no default index is configured, and no pip is installed here" in capsys.readouterr().err
