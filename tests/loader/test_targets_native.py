"""The test programs of the loader build for other systems."""

import pytest

from tests.support.emulated import build_cross

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("rid", ["linux-arm64", "osx-arm64", "win-x64"])
def test_the_test_programs_build_for_every_system(shared_folder, rid):
    folder = build_cross(shared_folder, rid)
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    suffix = ".exe" if rid.startswith("win") else ""
    assert {f"{name}{suffix}" for name in ("unit", "probe", "heads")} <= names
