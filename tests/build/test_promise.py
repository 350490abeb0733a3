"""What is known of a stage's floor where nothing can read libraries."""

import pytest
from latebind.build import promise
from latebind.build.promise import is_floor_unknown, refuse_newer
from latebind.build.stage import Stage, StageManifest
from latebind.model import Rid


def stage(tmp_path, rid, toolchain, *, imported=False):
    manifest = StageManifest(
        rid=Rid(rid), key="", source_hash="", toolchain=toolchain, floor="2.28", files=(), imported=imported
    )
    return Stage(root=tmp_path, manifest=manifest)


@pytest.mark.parametrize(
    ("rid", "toolchain", "imported", "unknown"),
    [
        ("linux-x64", "host gcc 12", False, True),
        ("linux-x64", "host gcc 12", True, False),  # `latebind stage --import` read it
        ("linux-x64", "zig 0.17.0", False, False),
        ("osx-arm64", "host clang 16", False, False),
    ],
)
def test_without_lief_only_the_own_compiler_of_linux_leaves_the_floor_unknown(
    tmp_path, monkeypatch, rid, toolchain, imported, unknown
):
    made = stage(tmp_path, rid, toolchain, imported=imported)
    assert not is_floor_unknown(made)
    monkeypatch.setattr(promise, "_can_read", lambda: False)
    assert is_floor_unknown(made) is unknown
    refuse_newer(made, [tmp_path / "nothing reads this"])
