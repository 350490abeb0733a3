"""A program that reads .NET assemblies and symbols with System.Reflection.Metadata, as linkers and debuggers do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latebind.compilers import dotnet
from tests.support.needs import dotnet_environment
from tests.support.programs import run_checked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
PROJECT = """\
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>netstandard2.1</TargetFramework>
    <AssemblyName>Tiny</AssemblyName>
    <DebugType>portable</DebugType>
    <EnableDefaultCompileItems>true</EnableDefaultCompileItems>
  </PropertyGroup>
</Project>
"""
READER = """\
using System;
using System.IO;
using System.Linq;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text;

static class Reader
{
    static readonly Guid Link = new Guid("CC110556-A091-4D38-9FEC-25AB9A351A6A");

    static void Main(string[] arguments)
    {
        using (var file = File.OpenRead(arguments[0]))
        {
            if (arguments[0].EndsWith(".pdb"))
                Symbols(MetadataReaderProvider.FromPortablePdbStream(file).GetMetadataReader());
            else
                Attributes(new PEReader(file).GetMetadataReader());
        }
    }

    static void Symbols(MetadataReader reader)
    {
        foreach (var row in reader.CustomDebugInformation.Select(reader.GetCustomDebugInformation))
            if (reader.GetGuid(row.Kind) == Link)
                Console.WriteLine("link " + Encoding.UTF8.GetString(reader.GetBlobBytes(row.Value)));
        foreach (var row in reader.Documents.Select(reader.GetDocument))
            Console.WriteLine("document " + reader.GetString(row.Name));
    }

    static bool IsGeneric(MetadataReader reader, MemberReference member)
    {
        return reader.GetBlobReader(member.Signature).ReadSignatureHeader().IsGeneric;
    }

    static void Attributes(MetadataReader reader)
    {
        foreach (var member in reader.MemberReferences.Select(reader.GetMemberReference))
            if (member.Parent.Kind == HandleKind.TypeReference)
            {
                var type = reader.GetTypeReference((TypeReferenceHandle)member.Parent);
                var owner = reader.GetString(type.Namespace) + "." + reader.GetString(type.Name);
                var name = owner + "." + reader.GetString(member.Name);
                Console.WriteLine("uses " + name + (IsGeneric(reader, member) ? "<>" : ""));
            }
        foreach (var row in reader.GetAssemblyDefinition().GetCustomAttributes().Select(reader.GetCustomAttribute))
        {
            var value = reader.GetBlobReader(row.Value);
            value.ReadUInt16();
            var member = reader.GetMemberReference((MemberReferenceHandle)row.Constructor);
            var type = reader.GetTypeReference((TypeReferenceHandle)member.Parent);
            if (reader.GetString(type.Name) == "AssemblyMetadataAttribute")
                Console.WriteLine("metadata " + value.ReadSerializedString() + "=" + value.ReadSerializedString());
        }
    }
}
"""


def assembly_reader(folder: Path) -> Callable[[Path], list[str]]:
    """Compile the program. It prints a line for each fact: `link`, `document`, `metadata` or `uses`, then what."""
    env = dotnet_environment()
    exe = PROJECT.replace(">Tiny<", ">Reader<").replace("netstandard2.1", "netcoreapp3.1")
    project = exe.replace("<DebugType>", "<OutputType>Exe</OutputType><DebugType>")
    folder.mkdir(exist_ok=True)
    for name, text in {"Reader.csproj": project, "Reader.cs": READER}.items():
        (folder / name).write_text(text, encoding="utf-8")
    private, program = dotnet.private(env, folder / "home"), dotnet.find(env)
    run_checked(program, "build", "Reader.csproj", "--nologo", "-o", "out", cwd=folder, env=private)

    def run(file: Path) -> list[str]:
        printed = run_checked(
            program, "out/Reader.dll", file, cwd=folder, env={**private, "DOTNET_ROLL_FORWARD": "Major"}
        )
        return printed.splitlines()

    return run


def find_lookups(lines):
    """The members that an assembly uses which find others by name or make code at run time."""
    used = [line.removeprefix("uses ") for line in lines if line.startswith("uses ")]
    assert used
    return [name for name in used if BY_NAME.match(name)]
