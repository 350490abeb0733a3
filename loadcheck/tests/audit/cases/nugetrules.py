"""Packages that break a rule of NuGet's own, one a rule, and good twins: subjects of LB414."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.audit.cases.case import Case
from tests.audit.corpus import nuspec, pe

if TYPE_CHECKING:
    from tests.audit.corpus import Bench

TYPES = ("rels", "psmdcp", "nuspec", "so", "dll", "ps1", "transform", "targets", "_", "md", "png", "gif")
ASSEMBLY = "lib/netstandard2.0/Latenn.dll"
GROUP = '<group targetFramework=".NETStandard2.0"{}</group>'
NONE = GROUP.format(">")
OTHER = '<group targetFramework="net8.0"></group>'
LICENSE = '<license type="expression">MIT</license>'
UAP = '<group targetFramework="uap10.0"></group>'
DEEP = "/".join(["contentFiles/any/any", *(["a" * 40] * 4), "b.txt"])


def depends(version, id_="Latenn.Core"):
    attribute = f' version="{version}"' if version else ""
    return GROUP.format(f'><dependency id="{id_}"{attribute}/>')


def package(*names, groups=NONE, extra="", version="1.0.0", without=(), license_=LICENSE, **data):
    """A nupkg with an assembly for .NET Standard 2.0, and what is given."""

    def make(bench: Bench):
        files = {name: pe(managed=True) if name.endswith(".dll") else b"1" for name in (ASSEMBLY, *names)}
        files.update({f"a.{suffix}": content for suffix, content in data.items()})
        spec = nuspec("Latenn", version, f"<dependencies>{groups}</dependencies>{extra}")
        spec = spec.replace(LICENSE, license_)
        spec = spec.replace("</license>", "") if not license_ else spec
        remaining = {name: data for name, data in files.items() if name not in without}
        return bench.nupkg(remaining, version=version, spec=spec, types=(*TYPES, "txt"))

    return make


def rule(code, bad, good=None, *, at="!Latenn.nuspec", severity="warning"):
    return Case(
        code="LB414", what=code, bad=bad, good=good or package(), at=at, says=f"{code}: ", severity=severity
    )  # fmt: skip


IOS = '<group targetFramework="net8.0-ios17.0"></group>'
REFERENCES = '<references><reference file="{}"/></references>'
ICON_URL = "<iconUrl>https://example.org/i.png</iconUrl>"
LICENSE_URL = "<licenseUrl>https://licenses.nuget.org/MIT</licenseUrl>"
README, ICON = "<readme>a.{}</readme>", "<icon>a.{}</icon>"


CASES = [
    rule("NU1012", package("lib/net8.0-ios/Latenn.dll", groups=NONE + IOS),
         package("lib/net8.0-ios17.0/Latenn.dll", groups=NONE + IOS), at="!lib/net8.0-ios/Latenn.dll"),
    rule("NU5038", package(extra=README.format("gif"), gif=b"1"), package(extra=README.format("md"), md=b"1")),
    rule("NU5039", package(extra=README.format("md")), package(extra=README.format("md"), md=b"1")),
    rule("NU5040", package(extra=README.format("md"), md=b""), package(extra=README.format("md"), md=b"1"), at="!a.md"),
    rule("NU5045", package(extra=ICON.format("gif"), gif=b"1"), package(extra=ICON.format("png"), png=b"1")),
    rule("NU5046", package(extra=ICON.format("png")), package(extra=ICON.format("png"), png=b"1")),
    rule("NU5047", package(extra=ICON.format("png"), png=bytes(1024**2 + 1)),
         package(extra=ICON.format("png"), png=b"1"), at="!a.png"),
    rule("NU5131", package("ref/netstandard2.0/Other.dll", extra=REFERENCES.format("Latenn.dll")),
         package("ref/netstandard2.0/Latenn.dll", extra=REFERENCES.format("Latenn.dll")), severity="note"),
    rule("NU5048", package(extra=ICON_URL), package(extra=ICON_URL + ICON.format("png"), png=b"1"), severity="note"),
    rule("NU5100", package("other/Latenn.More.dll"), package("tools/Latenn.More.dll"), at="!other/Latenn.More.dll"),
    rule("NU5101", package("lib/Latenn.More.dll"), at="!lib/Latenn.More.dll"),
    rule("NU5102", package(extra="<tags>Tag1 Tag2</tags>"), package(extra="<tags>onnx</tags>")),
    rule("NU5103", package("lib/bananas2.0/Latenn.txt"), package("lib/uap10.0/Latenn.txt", groups=NONE + UAP),
         at="!lib/bananas2.0/Latenn.txt"),
    rule("NU5104", package(groups=depends("[0.1.0, 0.2.0-0)")), package(groups=depends("[0.1.0, 0.2.0)"))),
    rule("NU5104", package(groups=depends("0.2.0-rc.1")), package(groups=depends("0.2.0-rc.1"), version="1.0.0-rc.1")),
    rule("NU5106", package("lib/winrt45/Latenn.txt"), at="!lib/winrt45/Latenn.txt", severity="note"),
    rule("NU5107", package("tools/net46/init.ps1"), package("tools/init.ps1"), at="!tools/net46/init.ps1"),
    rule("NU5108", package("web.config.transform"), package("content/web.config.transform"),
         at="!web.config.transform"),
    rule("NU5109", package("lib/netstandard2.0/_._"), at="!lib/netstandard2.0/_._", severity="note"),
    rule("NU5110", package("other/install.ps1"), package("tools/install.ps1"), at="!other/install.ps1"),
    rule("NU5111", package("tools/setup.ps1"), at="!tools/setup.ps1"),
    rule("NU5112", package(groups=depends("")), package(groups=depends("1.0.0")), severity="note"),
    rule("NU5123", package(DEEP), at=f"!{DEEP}"),
    rule("NU5124", package(license_=LICENSE.replace("MIT", "Banana-1.0"))),
    rule("NU5125", package(license_=LICENSE_URL), package(license_=LICENSE + LICENSE_URL), severity="note"),
    rule("NU5127", package("build/net461/Latenn.targets", without=(ASSEMBLY,), groups=""),
         package("build/Latenn.targets", without=(ASSEMBLY,), groups="")),
    rule("NU5128", package(groups=NONE + OTHER), package("lib/net8.0/Latenn.dll", groups=NONE + OTHER),
         severity="note"),
    rule("NU5128", package(groups=""), severity="note"),
    rule("NU5501", package("lib/net80/Latenn.dll", groups=NONE + OTHER),
         package("lib/net8.0/Latenn.dll", groups=NONE + OTHER), at="!lib/net80/Latenn.dll"),
]  # fmt: skip
