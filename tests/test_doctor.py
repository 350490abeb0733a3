"""What `latebind doctor` makes of this machine."""

import pytest

from latebind.backend.errors import BuildError
from latebind.backend.toolchain import require
from latebind.doctor import examine


def test_nothing_is_built_without_what_every_build_needs(monkeypatch):
    """A compiler alone builds nothing; the error names all that is missing at once."""
    monkeypatch.setattr("latebind.backend.toolchain.program", lambda _: None)
    assert not any(row.builds for row in examine({}))
    with pytest.raises(BuildError, match="ninja is not installed") as refused:
        require("ninja")
    assert refused.value.advice == 'Run: pip install "cmake>=3.30" "ninja>=1.10"'
