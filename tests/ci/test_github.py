"""What the release workflow makes before it publishes: a folder that is a dry run is never taken for a release."""

import pytest

from ci import github


@pytest.mark.parametrize(
    ("variable", "name", "options"), [("true", "dry-run", ["--dry-run"]), ("false", "release", []), ("", "release", [])]
)
def test_a_dry_run_has_an_artifact_of_its_own(tmp_path, monkeypatch, variable, name, options):
    commands = []
    monkeypatch.setattr(github, "_run", lambda *arguments: commands.append(arguments))
    monkeypatch.setenv("DRY_RUN", variable)
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    github.folder(tmp_path / "release", tmp_path)
    (command,) = commands
    assert [option for option in command if option == "--dry-run"] == options
    assert (tmp_path / "outputs").read_text("utf-8") == f"name={name}\n"
