"""What packing would make, before anything is built."""

import pytest

from latebind.config.file import load
from latebind.errors import BuildError
from latebind.pack.planned import plan_packages
from tests.support.client import CONFIG, write_client
from tests.support.running import assert_success

LINE = 'version = "1!2.3"'
EPOCH = CONFIG.replace('version = "1.2.3"', LINE)


def test_a_version_that_an_ecosystem_cannot_express_is_refused_with_its_key(tmp_path):
    config = load(write_client(tmp_path, latebind=EPOCH) / "latebind.toml")
    with pytest.raises(BuildError, match="has an epoch, which NuGet cannot express") as caught:
        plan_packages(config, ["linux-x64"])
    assert caught.value.where == "latebind.toml: project.version"


def test_it_is_not_asked_of_other_ecosystems(latebind, tmp_path):
    without_nuget = "".join(line for line in EPOCH.splitlines(keepends=True) if not line.startswith("nuget"))
    folder = write_client(tmp_path, latebind=without_nuget)
    assert_success(latebind("-C", folder, "pack", "--target", "linux-x64"))
    assert any(path.name.startswith("tiny-1!2.3-") for path in (folder / "dist").iterdir())


@pytest.mark.builds
@pytest.mark.parametrize("targets", ["linux-arm64,linux-x64", "linux-musl-x64", "linux-x64,linux-musl-arm64"])
def test_packages_for_targets_that_are_not_listed_are_up_to_date(latebind, tmp_path, targets):
    folder = write_client(tmp_path)
    assert '["linux-x64"]' in (folder / "latebind.toml").read_text()
    assert_success(latebind("-C", folder, "pack"))
    assert_success(latebind("-C", folder, "pack", "--target", targets))
    audited = latebind("-C", folder, "audit")
    assert "out of date" not in assert_success(audited) + audited.stderr
