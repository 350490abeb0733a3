"""latenn's assemblies look nothing up by its name and make no code at run time, as they say."""

import pytest

from tests.conftest import ROOT
from tests.ecosystems.nuget.test_trimmable import STATED, build, wrong

pytestmark = pytest.mark.slow


def test_latenn_is_trimmable(tmp_path, read_assembly):
    for variant in build(ROOT / "latenn" / "dotnet" / "Latenn", tmp_path):
        lines = read_assembly(variant.assembly)
        assert set(lines) >= STATED
        assert wrong(lines) == []
