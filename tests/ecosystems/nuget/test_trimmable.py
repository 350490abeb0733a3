"""Assemblies that say they are trimmable and fit for AOT look nothing up by its name and make no code at run time."""

import re

import pytest

from latebind.config.file import load
from latebind.ecosystems.nuget.managed import build_managed
from latebind.ecosystems.plugin.pack import write_ep_helper
from tests.client import write_files
from tests.conftest import ROOT
from tests.dotnet_reader import PROJECT
from tests.dotnet_support import dotnet_environment

pytestmark = pytest.mark.slow

BY_NAME = re.compile(
    r"System\.(Activator|Type\.(Get(?!TypeFromHandle)|Invoke|Make)|AppDomain\.(Load|Create)|Enum\.Get|Linq\.Expressions"
    r"|Reflection\.(?!Assembly\w*Attribute\.|DefaultMemberAttribute\.|MemberInfo\.get_Name|Assembly\.get_Location)"
    r"|Runtime\.Serialization\.(?!Json\.JsonReaderWriterFactory\.)|ComponentModel"
    r"|Delegate\.DynamicInvoke|Runtime\.InteropServices\.Marshal\.(PtrToStructure|SizeOf|StructureToPtr"
    r"|DestroyStructure|GetDelegateForFunctionPointer|GetFunctionPointerForDelegate)$)"
)
"""Members that find others by name or make code at run time; Marshal's are safe as generic methods, whose line ends in
<>. A linker warns of most of them (IL2xxx, IL3050)."""
STATED = {"metadata IsTrimmable=True", "metadata IsAotCompatible=True"}
"""What .NET's SDK writes for the properties of these names (learn.microsoft.com, IL3058)."""
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


def wrong(lines):
    used = [line.removeprefix("uses ") for line in lines if line.startswith("uses ")]
    assert used
    return [name for name in used if BY_NAME.match(name)]


def test_the_helper_of_an_execution_provider_is_trimmable(tmp_path, read_assembly):
    config = load(ROOT / "examples" / "ep-tiny" / "latebind.toml")
    (variant,) = build(write_ep_helper(config, "tiny", [], tmp_path / "helper"), tmp_path)
    lines = read_assembly(variant.assembly)
    assert set(lines) >= STATED
    assert wrong(lines) == []


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
    assert f"System.{says}" in wrong(lines)
    assert STATED.isdisjoint(lines)
