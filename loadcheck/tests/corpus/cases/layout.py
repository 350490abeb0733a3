"""Bad subjects for LB4xx."""

from __future__ import annotations

from corpus.cases.case import Case, good, made_by, nupkg, wheel
from corpus.cases.tags import ABI3, module
from corpus.packages import Bench, nuspec, pe

TYPES = ("rels", "psmdcp", "nuspec", "so", "dll", "pdb", "targets")
OWN = "$(MSBuildThisFileDirectory)"
NATIVE = "runtimes/linux-x64/native/liblatenn.so"


def split(*, version: str = "1.0.0", pin: str = "[1.0.0]", rid: str = "linux-x64"):
    def make(bench: Bench):
        dependency = f'<dependency id="Latenn.runtime.linux-x64" version="{pin}"/>'
        group = f'<dependencies><group targetFramework="netstandard2.0">{dependency}</group></dependencies>'
        packages = bench.nupkg({"lib/netstandard2.0/Latenn.dll": pe(managed=True)}, extra=group)
        native = {f"runtimes/{rid}/native/liblatenn.so": bench.good()}
        return [*packages, *bench.nupkg(native, package_id=f"Latenn.runtime.{rid}", version=version)]

    return make


def symbols(files: dict[str, bytes]):
    spec = nuspec("Latenn", "1.0.0", "").replace("<authors>a</authors>", "")
    return nupkg(files, spec=spec, types=TYPES, file_name="Latenn.1.0.0.snupkg")


def pack_build_targets(name: str):
    files = {f"build/net461/{name}": b"<Project/>", "build/net461/other/more.targets": b"<Project/>"}
    return nupkg({NATIVE: good(), **files}, types=TYPES)


def targets(include: str, condition: str = ""):
    """A build file that copies native files, as those of .NET Framework's packages do."""
    text = f'<Project><ItemGroup><None Include="{include}" Condition="{condition}"/></ItemGroup></Project>'
    return nupkg({NATIVE: good(), "build/net461/Latenn.targets": text.encode()}, types=TYPES)


def plain(bench: Bench):
    return bench.nupkg()


@made_by
def sparse(bench: Bench, size: int):
    """A nupkg behind so many bytes that take no room on the disk."""
    (path,) = bench.nupkg()
    data = path.read_bytes()
    with path.open("wb") as file:
        file.seek(size)
        file.write(data)
    return [path]


CASES = [
    Case("LB401", "a library in a folder below native/", nupkg({"runtimes/linux-x64/native/plugins/libx.so": good()}),
         plain, at="native/plugins/libx.so", says="plugins"),
    Case("LB402", "no relationships part", nupkg(drop=("_rels/.rels",)), plain, at=".nupkg", says="_rels/.rels",
         severity="warning"),
    Case("LB402", "no content types part", nupkg(drop=("[Content_Types].xml",)), plain, at=".nupkg",
         says="[Content_Types].xml", severity="warning"),
    Case("LB402", "no core properties part", nupkg(drop=("package/services/metadata/core-properties/0.psmdcp",)), plain,
         at=".nupkg", says="psmdcp", severity="warning"),
    Case("LB402", "a file whose extension has no content type", nupkg({NATIVE: good(), "docs/readme.rst": b"x"}), plain,
         at="docs/readme.rst", says="docs/readme.rst", severity="warning"),
    Case("LB402", "a signature, which has no type, at the root alone",
         nupkg({NATIVE: good(), "docs/.signature.p7s": b"x"}), nupkg({NATIVE: good(), ".signature.p7s": b"x"}),
         at="!docs/.signature.p7s", says="has no content type", severity="warning"),
    Case("LB402", "a file without an extension has no type", nupkg({NATIVE: good(), "a.b/LICENSE": b"x"}), plain,
         at="a.b/LICENSE", says="a.b/LICENSE", severity="warning"),
    Case("LB402", "relationships that are not XML", nupkg({NATIVE: good(), "_rels/.rels": b"<Relationships"}), plain,
         at="_rels/.rels", says="not well-formed", severity="warning"),
    Case("LB403", "assembly and native library differ by case alone",
         nupkg({"lib/netstandard2.0/Latenn.dll": pe(managed=True),
             "runtimes/win-x64/native/latenn.dll": pe(managed=False)}),
         nupkg({"lib/netstandard2.0/Latenn.dll": pe(managed=True),
             "runtimes/win-x64/native/latenn_native.dll": pe(managed=False)}), at="!runtimes/win-x64/native/latenn.dll",
         says="lib/netstandard2.0/Latenn.dll"),
    Case("LB405", "no nuspec at the root", nupkg(spec_name="meta/Latenn.nuspec"), plain, at=".nupkg",
         says="has 0 .nuspec files at the root"),
    Case("LB405", "two nuspecs", nupkg({NATIVE: good(), "Other.nuspec": nuspec("Other", "1.0.0", "").encode()}), plain,
         at=".nupkg", says="has 2 .nuspec files at the root"),
    Case("LB405", "a nuspec that is not XML", nupkg(spec="<package><metadata>"), plain, at="!Latenn.nuspec",
         says="not well-formed"),
    Case("LB405", "a nuspec that declares entities",
         nupkg(spec='<!DOCTYPE x [<!ENTITY a "b">]><package><metadata/></package>'), plain, at="!Latenn.nuspec",
         says="entities"),
    Case("LB405", "a nuspec without authors",
         nupkg(spec=nuspec("Latenn", "1.0.0", "").replace("<authors>a</authors>", "")), plain, at="!Latenn.nuspec",
         says="authors", severity="warning"),
    Case("LB405", "a nuspec without a version",
         nupkg(spec=nuspec("Latenn", "1.0.0", "").replace("<version>1.0.0</version>", "")), plain, at="!Latenn.nuspec",
         says="lacks version"),
    Case("LB408", "a library at the root of the wheel", wheel({"liblatenn.so": good()}), wheel(), at="!liblatenn.so",
         says="liblatenn.so", severity="warning"),
    Case("LB408", "a library at the root, and a module of Python", wheel({"liblatenn.abi3.so": good()}, tag=ABI3),
         wheel({"_core.abi3.so": module}, tag=ABI3), at="!liblatenn.abi3.so", says="outside a package folder",
         severity="warning"),
    Case("LB408", "a library in the data scheme", wheel({"latenn-1.0.data/data/lib/liblatenn.so": good()}),
         wheel({"latenn-1.0.data/platlib/latenn/liblatenn.so": good()}), at="data/lib/liblatenn.so", says="outside",
         severity="warning"),
    Case("LB408", "an empty file at the root", wheel({"py.typed": b""}),
         wheel({"latenn_site.pth": b"", "latenn.pyi": b""}), at="!py.typed", says="site-packages", severity="note"),
    Case("LB408", "a folder of tests that is a package of its own", wheel({"tests/a.py": b""}),
         wheel({"latenn/tests/a.py": b""}), at="!tests/a.py", says="tests is installed", severity="note"),
    Case("LB409", "a native library in lib/", nupkg({"lib/netstandard2.0/liblatenn.so": good()}),
         nupkg({"lib/netstandard2.0/Latenn.dll": pe(managed=True)}), at="!lib/netstandard2.0/liblatenn.so",
         says="runtimes/<rid>/native", severity="warning"),
    Case("LB410", "a part of another version", split(version="1.1.0"), split(), at="Latenn.1.0.0.nupkg",
         says="Latenn.runtime.linux-x64"),
    Case("LB410", "a part for another target alone", split(rid="linux-musl-x64"), split(), at="Latenn.1.0.0.nupkg",
         says="which is missing"),
    Case("LB410", "a part that is not pinned", split(pin="1.0.0"), split(), at="Latenn.1.0.0.nupkg",
         says="instead of exactly its own version"),
    Case("LB416", "a package over 250 MB, of which all but the end is a hole", sparse(250_000_000), sparse(249_000_000),
         at="Latenn.1.0.0.nupkg", says="public feed accepts at most 250.0 MB", severity="warning"),
    Case("LB416", "a title that is too long", nupkg(extra=f"<title>{'t' * 257}</title>"),
         nupkg(extra=f"<title>{'t' * 256}</title>"), at="!Latenn.nuspec", says="257 characters in title",
         severity="warning"),
    Case("LB411", "build targets of another name than the package's",
         pack_build_targets("native.targets"), pack_build_targets("latenn.targets"),
         at="!build/net461/native.targets", says="build/net461/Latenn.targets"),
    Case("LB413", "a pattern for a folder that has another name",
         targets(OWN + r"..\..\runtimes\linux-x86_64\native\*"), targets(OWN + r"..\..\runtimes\linux-x64\native\*"),
         at="!build/net461/Latenn.targets", says="runtimes/linux-x86_64/native/*"),
    Case("LB413", "a file that is not there and is not asked for with Exists()", targets(OWN + "more.props"),
         targets(OWN + "more.props", f"Exists('{OWN}more.props')"), at="!build/net461/Latenn.targets",
         says="build/net461/more.props"),
    Case("LB413", "what MSBuild must evaluate, and what is outside, is nobody's to judge",
         targets(OWN + r"..\..\runtimes\**\*.dylib"),
         targets(OWN + r"..\..\runtimes\$(Rid)\*;" + OWN + r"..\..\..\other\a;" + OWN + r"..\..\runtimes\**\*.so"),
         at="!build/net461/Latenn.targets", says="*.dylib"),
    Case("LB413", "a build file that is no XML",
         nupkg({NATIVE: good(), "build/Latenn.props": b"<Project>"}, types=TYPES),
         nupkg({NATIVE: good(), "build/Latenn.props": b"<Project/>"}, types=TYPES), at="!build/Latenn.props",
         says="not well-formed"),
    Case("LB412", "an assembly among the symbols", symbols({"lib/netstandard2.0/Latenn.dll": pe(managed=True)}),
         symbols({"lib/netstandard2.0/Latenn.pdb": b"BSJB"}), at="!lib/netstandard2.0/Latenn.dll",
         says="symbol package"),
    Case("LB412", "symbols in the format of Windows",
         symbols({"lib/netstandard2.0/Latenn.pdb": b"Microsoft C/C++ MSF 7.00"}),
         symbols({"lib/netstandard2.0/Latenn.pdb": b"BSJB"}), at="!lib/netstandard2.0/Latenn.pdb",
         says="Microsoft C/C++"),
]  # fmt: skip
