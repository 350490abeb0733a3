"""Assemblies that say they are trimmable and fit for AOT look nothing up by its name and make no code at run time."""

import pytest

from latebind.config.file import load
from latebind.ecosystems.nuget.managed import build_managed
from latebind.ecosystems.plugin.pack import write_helper
from testing.dotnet_reader import PROJECT, STATED, find_lookups
from testing.needs import dotnet_environment
from tests.client import write_files
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

UNSAFE = """\
using System;
using System.Runtime.InteropServices;
public static class Made
{
    public static object Of(string name) { return Activator.CreateInstance(Type.GetType(name)); }
    public static int Size(Type type) { return Marshal.SizeOf(type) + Marshal.SizeOf<long>(); }
    public static IntPtr To(Delegate made) { return Marshal.GetFunctionPointerForDelegate(made); }
    public static Delegate From(IntPtr made) { return Marshal.GetDelegateForFunctionPointer(made, typeof(Action)); }
}
"""


def build(folder, out):
    arguments = {"version": "0.1.0", "environment": dotnet_environment(), "home": out / "home"}
    return build_managed(folder, out / "managed", **arguments)


def test_the_helper_of_an_execution_provider_is_trimmable(tmp_path, read_assembly):
    config = load(ROOT / "examples" / "ep-tiny" / "latebind.toml")
    (variant,) = build(write_helper(config, "tiny", [], tmp_path / "helper"), tmp_path)
    lines = read_assembly(variant.assembly)
    assert set(lines) >= STATED
    assert find_lookups(lines) == []


@pytest.mark.parametrize(
    "says",
    [
        *("Activator.CreateInstance", "Type.GetType", "Runtime.InteropServices.Marshal.SizeOf"),
        "Runtime.InteropServices.Marshal.GetDelegateForFunctionPointer",
    ],
)
def test_a_lookup_by_name_is_found(tmp_path, read_assembly, says):
    folder = write_files(tmp_path / "Tiny", {"Tiny.csproj": PROJECT, "Made.cs": UNSAFE})
    (variant,) = build(folder, tmp_path)
    lines = read_assembly(variant.assembly)
    assert f"System.{says}" in find_lookups(lines)
    assert STATED.isdisjoint(lines)
