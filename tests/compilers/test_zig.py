"""The advice for a user without zig."""

import pytest

from latebind.compilers import zig
from latebind.compilers.host import own_targets
from latebind.errors import NotRun
from latebind.tables.targets import targets


@pytest.mark.parametrize("rid", sorted(targets()))
def test_only_targets_of_the_own_compiler_are_advised_to_use_it(rid, monkeypatch):
    monkeypatch.setattr(zig, "find_zig", lambda: None)
    with pytest.raises(NotRun, match=f"which compiles for {rid}, is not installed") as caught:
        zig.zig_toolchain(targets()[rid])
    assert ('toolchain = "host"' in caught.value.advice) == (rid in own_targets())
