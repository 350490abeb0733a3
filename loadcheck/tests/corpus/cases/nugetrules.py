"""Packages that break a rule of NuGet's own, one a rule, and good twins: subjects of LB414."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.cases.case import Case
from corpus.packages import nuspec, pe

if TYPE_CHECKING:
    from corpus.packages import Bench

TYPES = ("rels", "psmdcp", "nuspec", "so", "dll", "ps1", "transform", "targets", "_", "md", "png", "gif")
ASSEMBLY = "lib/netstandard2.0/Latenn.dll"
NONE = '<group targetFramework=".NETStandard2.0"></group>'
LICENSE = '<license type="expression">MIT</license>'
UAP = '<group targetFramework="uap10.0"></group>'
DEEP = "/".join(["contentFiles/any/any", *(["a" * 40] * 4), "b.txt"])


def package(*names, groups=NONE, extra="", license_=LICENSE, **data):
    """A nupkg with an assembly for .NET Standard 2.0, and what is given."""

    def make(bench: Bench):
        files = {name: pe(managed=True) if name.endswith(".dll") else b"1" for name in (ASSEMBLY, *names)}
        files.update({f"a.{suffix}": content for suffix, content in data.items()})
        spec = nuspec("Latenn", "1.0.0", f"<dependencies>{groups}</dependencies>{extra}").replace(LICENSE, license_)
        return bench.nupkg(files, version="1.0.0", spec=spec, types=(*TYPES, "txt"))

    return make


def rule(code, bad, good=None, *, at="!Latenn.nuspec"):
    return Case("LB414", code, bad, good or package(), at=at, says=f"{code}: ", severity="warning")


README, ICON = "<readme>a.{}</readme>", "<icon>a.{}</icon>"


CASES = [
    rule("NU5030", package(license_='<license type="file">LICENSE.txt</license>'), package("LICENSE.txt",
         license_='<license type="file">LICENSE.txt</license>')),
    rule("NU5038", package(extra=README.format("gif"), gif=b"1"), package(extra=README.format("md"), md=b"1")),
    rule("NU5039", package(extra=README.format("md")), package(extra=README.format("md"), md=b"1")),
    rule("NU5040", package(extra=README.format("md"), md=b""), package(extra=README.format("md"), md=b"1"), at="!a.md"),
    rule("NU5045", package(extra=ICON.format("gif"), gif=b"1"), package(extra=ICON.format("png"), png=b"1")),
    rule("NU5046", package(extra=ICON.format("png")), package(extra=ICON.format("png"), png=b"1")),
    rule("NU5047", package(extra=ICON.format("png"), png=bytes(1024**2 + 1)),
         package(extra=ICON.format("png"), png=b"1"), at="!a.png"),
    rule("NU5100", package("other/Latenn.More.dll"), package("tools/Latenn.More.dll"), at="!other/Latenn.More.dll"),
    rule("NU5101", package("lib/Latenn.More.dll"), at="!lib/Latenn.More.dll"),
    rule("NU5103", package("lib/bananas2.0/Latenn.txt"), package("lib/uap10.0/Latenn.txt", groups=NONE + UAP),
         at="!lib/bananas2.0/Latenn.txt"),
    rule("NU5103", package("lib/.bananas/Latenn.txt"), package("lib/.NETFramework/Latenn.txt"),
         at="!lib/.bananas/Latenn.txt"),
    rule("NU5107", package("tools/net46/init.ps1"), package("tools/init.ps1"), at="!tools/net46/init.ps1"),
    rule("NU5108", package("web.config.transform"), package("content/web.config.transform"),
         at="!web.config.transform"),
    rule("NU5110", package("other/install.ps1"), package("tools/install.ps1"), at="!other/install.ps1"),
    rule("NU5111", package("tools/setup.ps1"), at="!tools/setup.ps1"),
    rule("NU5123", package(DEEP), at=f"!{DEEP}"),
    rule("NU5124", package(license_=LICENSE.replace("MIT", "Banana-1.0"))),
]  # fmt: skip
