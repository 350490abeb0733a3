"""Bad subjects for LB4xx, twins included."""

from __future__ import annotations

from latebind.audit.policy import Policy

from tests.audit.cases.case import Case
from tests.audit.corpus import Bench, nuspec, pe

TYPES = ("rels", "psmdcp", "nuspec", "so", "dll", "pdb", "targets")
OWN = "$(MSBuildThisFileDirectory)"
NATIVE = "runtimes/linux-x64/native/liblatenn.so"
TWINS = Policy(twins=(("latenn-core", "Latenn.Kernel"),))


def other(bench: Bench) -> bytes:
    return bench.compiler.shared("int latenn_other(void) { return 2; }\n").read_bytes()


def twins(wheel_name: str = "latenn", package_id: str = "Latenn", *, same: bool, extra: bool = False):
    def make(bench: Bench):
        files = {"latenn/liblatenn.so": bench.good()}
        if extra:
            files["latenn/libextra.so"] = other(bench)
        wheels = bench.wheel(files, name=wheel_name, version="1.0.0")
        native = {NATIVE: bench.good() if same else other(bench)}
        return [*wheels, *bench.nupkg(native, package_id=package_id)]

    return make


def split(*, version: str = "1.0.0", pin: str = "[1.0.0]", rid: str = "linux-x64"):
    def make(bench: Bench):
        row = f'<dependency id="Latenn.runtime.linux-x64" version="{pin}"/>'
        group = f'<dependencies><group targetFramework="netstandard2.0">{row}</group></dependencies>'
        whole = bench.nupkg({"lib/netstandard2.0/Latenn.dll": pe(managed=True)}, extra=group)
        native = {f"runtimes/{rid}/native/liblatenn.so": bench.good()}
        return [*whole, *bench.nupkg(native, package_id=f"Latenn.runtime.{rid}", version=version)]

    return make


def split_twins(*, same: bool):
    def make(bench: Bench):
        wheels = bench.wheel({"latenn/liblatenn.so": bench.good() if same else other(bench)}, version="1.0.0")
        return [*wheels, *split()(bench)]

    return make


def symbols(files: dict[str, bytes]):
    spec = nuspec("Latenn", "1.0.0", "").replace("<authors>a</authors>", "")
    return lambda bench: bench.nupkg(files, spec=spec, types=TYPES, file_name="Latenn.1.0.0.snupkg")


def built(name: str):
    files = {f"build/net461/{name}": b"<Project/>", "build/net461/other/more.targets": b"<Project/>"}
    return lambda bench: bench.nupkg({NATIVE: bench.good(), **files}, types=TYPES)


def targets(include: str, condition: str = ""):
    """A build file that copies native files, as those of .NET Framework's packages do."""
    text = f'<Project><ItemGroup><None Include="{include}" Condition="{condition}"/></ItemGroup></Project>'
    return lambda bench: bench.nupkg({NATIVE: bench.good(), "build/net461/Latenn.targets": text.encode()}, types=TYPES)


def plain(bench: Bench):
    return bench.nupkg()


CASES = [
    Case(
        code="LB401",
        what="a library in a folder below native/",
        bad=lambda bench: bench.nupkg({"runtimes/linux-x64/native/plugins/libx.so": bench.good()}),
        good=plain,
        at="native/plugins/libx.so",
        says="plugins",
    ),
    Case(
        code="LB402",
        what="no relationships part",
        bad=lambda bench: bench.nupkg(drop=("_rels/.rels",)),
        good=plain,
        at=".nupkg",
        says="_rels/.rels",
    ),
    Case(
        code="LB402",
        what="no content types part",
        bad=lambda bench: bench.nupkg(drop=("[Content_Types].xml",)),
        good=plain,
        at=".nupkg",
        says="[Content_Types].xml",
    ),
    Case(
        code="LB402",
        what="no core properties part",
        bad=lambda bench: bench.nupkg(drop=("package/services/metadata/core-properties/0.psmdcp",)),
        good=plain,
        at=".nupkg",
        says="psmdcp",
    ),
    Case(
        code="LB402",
        what="a file whose extension has no content type",
        bad=lambda bench: bench.nupkg({NATIVE: bench.good(), "docs/readme.md": b"x"}),
        good=plain,
        at="docs/readme.md",
        says="docs/readme.md",
    ),
    Case(
        code="LB402",
        what="relationships that are not XML",
        bad=lambda bench: bench.nupkg({NATIVE: bench.good(), "_rels/.rels": b"<Relationships"}),
        good=plain,
        at="_rels/.rels",
        says="not well-formed",
    ),
    Case(
        code="LB403",
        what="assembly and native library differ by case alone",
        bad=lambda bench: bench.nupkg(
            {
                "lib/netstandard2.0/Latenn.dll": pe(managed=True),
                "runtimes/win-x64/native/latenn.dll": pe(managed=False),
            }
        ),
        good=lambda bench: bench.nupkg(
            {
                "lib/netstandard2.0/Latenn.dll": pe(managed=True),
                "runtimes/win-x64/native/latenn_native.dll": pe(managed=False),
            }
        ),
        at="!runtimes/win-x64/native/latenn.dll",
        says="lib/netstandard2.0/Latenn.dll",
    ),
    Case(
        code="LB404",
        what="a link of the build tree became a copy",
        bad=lambda bench: bench.wheel({"latenn/liblatenn.so": bench.good(), "latenn/liblatenn.so.1": bench.good()}),
        good=lambda bench: bench.wheel({"latenn/liblatenn.so": bench.good(), "latenn/libother.so": other(bench)}),
        at="!latenn/liblatenn.so.1",
        says="latenn/liblatenn.so",
    ),
    Case(
        code="LB404",
        what="two builds with one SONAME",
        bad=lambda bench: bench.wheel(
            {
                "latenn/liblatenn.so": bench.good(),
                "latenn/b/liblatenn.so": bench.compiler.shared(
                    "int latenn_b(void) { return 2; }\n", "-Wl,-soname,liblatenn.so"
                ).read_bytes(),
            }
        ),
        good=lambda bench: bench.wheel(),
        at="!latenn/liblatenn.so",
        says="SONAME liblatenn.so",
    ),
    Case(
        code="LB405",
        what="no nuspec at the root",
        bad=lambda bench: bench.nupkg(spec_name="meta/Latenn.nuspec"),
        good=plain,
        at=".nupkg",
        says="has 0 .nuspec files at the root",
    ),
    Case(
        code="LB405",
        what="two nuspecs",
        bad=lambda bench: bench.nupkg({NATIVE: bench.good(), "Other.nuspec": nuspec("Other", "1.0.0", "").encode()}),
        good=plain,
        at=".nupkg",
        says="has 2 .nuspec files at the root",
    ),
    Case(
        code="LB405",
        what="a nuspec that is not XML",
        bad=lambda bench: bench.nupkg(spec="<package><metadata>"),
        good=plain,
        at="!Latenn.nuspec",
        says="not well-formed",
    ),
    Case(
        code="LB405",
        what="a nuspec that declares entities",
        bad=lambda bench: bench.nupkg(spec='<!DOCTYPE x [<!ENTITY a "b">]><package><metadata/></package>'),
        good=plain,
        at="!Latenn.nuspec",
        says="entities",
    ),
    Case(
        code="LB405",
        what="a nuspec without authors",
        bad=lambda bench: bench.nupkg(spec=nuspec("Latenn", "1.0.0", "").replace("<authors>a</authors>", "")),
        good=plain,
        at="!Latenn.nuspec",
        says="authors",
    ),
    Case(
        code="LB406",
        what="a project's wheel and nupkg hold different bytes",
        bad=twins(same=False),
        good=twins(same=True),
        at="!latenn/liblatenn.so",
        says="Latenn.1.0.0.nupkg",
    ),
    Case(
        code="LB406",
        what="twins that the policy names",
        bad=twins("latenn-core", "Latenn.Kernel", same=False),
        good=twins("latenn-core", "Latenn.Kernel", same=True),
        at="!latenn/liblatenn.so",
        says="Latenn.Kernel.1.0.0.nupkg",
        policy=TWINS,
    ),
    Case(
        code="LB407",
        what="a library that only the wheel holds",
        bad=twins(same=True, extra=True),
        good=twins(same=True),
        at="!latenn/libextra.so",
        says="Latenn.1.0.0.nupkg",
    ),
    Case(
        code="LB408",
        what="a library at the root of the wheel",
        bad=lambda bench: bench.wheel({"liblatenn.so": bench.good()}),
        good=lambda bench: bench.wheel(),
        at="!liblatenn.so",
        says="liblatenn.so",
        severity="warning",
    ),
    Case(
        code="LB408",
        what="a library in the data scheme",
        bad=lambda bench: bench.wheel({"latenn-1.0.data/data/lib/liblatenn.so": bench.good()}),
        good=lambda bench: bench.wheel({"latenn-1.0.data/platlib/latenn/liblatenn.so": bench.good()}),
        at="data/lib/liblatenn.so",
        says="outside",
        severity="warning",
    ),
    Case(
        code="LB409",
        what="a native library in lib/",
        bad=lambda bench: bench.nupkg({"lib/netstandard2.0/liblatenn.so": bench.good()}),
        good=lambda bench: bench.nupkg({"lib/netstandard2.0/Latenn.dll": pe(managed=True)}),
        at="!lib/netstandard2.0/liblatenn.so",
        says="runtimes/<rid>/native",
        severity="warning",
    ),
    Case(
        code="LB406",
        what="a wheel and the part of a split package",
        bad=split_twins(same=False),
        good=split_twins(same=True),
        at="!latenn/liblatenn.so",
        says="Latenn.runtime.linux-x64.1.0.0.nupkg",
    ),
    Case(
        code="LB410",
        what="a part of another version",
        bad=split(version="1.1.0"),
        good=split(),
        at="Latenn.1.0.0.nupkg",
        says="Latenn.runtime.linux-x64",
    ),
    Case(
        code="LB410",
        what="a part for another target alone",
        bad=split(rid="linux-musl-x64"),
        good=split(),
        at="Latenn.1.0.0.nupkg",
        says="which is missing",
    ),
    Case(
        code="LB410",
        what="a part that is not pinned",
        bad=split(pin="1.0.0"),
        good=split(),
        at="Latenn.1.0.0.nupkg",
        says="instead of exactly its own version",
    ),
    Case(
        code="LB411",
        what="build targets of another name than the package's",
        bad=built("native.targets"),
        good=built("latenn.targets"),
        at="!build/net461/native.targets",
        says="build/net461/Latenn.targets",
    ),
    Case(
        code="LB413",
        what="a pattern for a folder that has another name",
        bad=targets(OWN + r"..\..\runtimes\linux-x86_64\native\*"),
        good=targets(OWN + r"..\..\runtimes\linux-x64\native\*"),
        at="!build/net461/Latenn.targets",
        says="runtimes/linux-x86_64/native/*",
    ),
    Case(
        code="LB413",
        what="a file that is not there and is not asked for with Exists()",
        bad=targets(OWN + "more.props"),
        good=targets(OWN + "more.props", f"Exists('{OWN}more.props')"),
        at="!build/net461/Latenn.targets",
        says="build/net461/more.props",
    ),
    Case(
        code="LB413",
        what="what MSBuild must evaluate, and what is outside, is nobody's to judge",
        bad=targets(OWN + r"..\..\runtimes\**\*.dylib"),
        good=targets(OWN + r"..\..\runtimes\$(Rid)\*;" + OWN + r"..\..\..\other\a;" + OWN + r"..\..\runtimes\**\*.so"),
        at="!build/net461/Latenn.targets",
        says="*.dylib",
    ),
    Case(
        code="LB413",
        what="a build file that is no XML",
        bad=lambda bench: bench.nupkg({NATIVE: bench.good(), "build/Latenn.props": b"<Project>"}, types=TYPES),
        good=lambda bench: bench.nupkg({NATIVE: bench.good(), "build/Latenn.props": b"<Project/>"}, types=TYPES),
        at="!build/Latenn.props",
        says="not well-formed",
    ),
    Case(
        code="LB412",
        what="an assembly among the symbols",
        bad=symbols({"lib/netstandard2.0/Latenn.dll": pe(managed=True)}),
        good=symbols({"lib/netstandard2.0/Latenn.pdb": b"BSJB"}),
        at="!lib/netstandard2.0/Latenn.dll",
        says="symbol package",
    ),
    Case(
        code="LB412",
        what="symbols in the format of Windows",
        bad=symbols({"lib/netstandard2.0/Latenn.pdb": b"Microsoft C/C++ MSF 7.00"}),
        good=symbols({"lib/netstandard2.0/Latenn.pdb": b"BSJB"}),
        at="!lib/netstandard2.0/Latenn.pdb",
        says="Microsoft C/C++",
    ),
]
