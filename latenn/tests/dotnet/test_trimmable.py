"""latenn's assemblies look nothing up by a name that a linker can't read, and make no code at run time, as they say."""

import zipfile

import pytest

from tests.support.dotnet_reader import STATED, assembly_reader, find_lookups

pytestmark = pytest.mark.slow

OF_CONSTANT_NAMES = [
    *("System.Type.GetType", "System.Type.GetMethod", "System.Reflection.MethodInfo.op_Equality"),
    *("System.Activator.CreateInstance", "System.Reflection.MethodBase.Invoke"),
]
"""How HostDirectories.cs asks for the libraries of a plug-in: a linker reads the names and keeps what they name."""


@pytest.mark.parametrize("framework", ["netstandard2.0", "netstandard2.1"])
def test_latenn_is_trimmable(latenn_here, tmp_path, framework):
    with zipfile.ZipFile(latenn_here / "Latenn.0.1.0.nupkg") as package:
        assembly = package.extract(f"lib/{framework}/Latenn.dll", tmp_path)
    lines = assembly_reader(tmp_path)(assembly)
    assert set(lines) >= STATED
    assert find_lookups(lines) == OF_CONSTANT_NAMES
