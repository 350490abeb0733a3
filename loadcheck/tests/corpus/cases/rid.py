"""Bad subjects for LB701 and LB703."""

from __future__ import annotations

from corpus.cases.case import Case, good, nupkg
from corpus.cases.tags import ARM

LIBRARY = "liblatenn.so"


def below(rid: str):
    return nupkg({f"runtimes/{rid}/native/liblatenn.so": good()})


def package(*rids: str, **others: str):
    """A nupkg with a library for each of these RIDs, and with further files, each for a RID by its name."""
    targets = {"linux-musl-x64": "x86_64-linux-musl", "linux-arm64": ARM}
    files = {f"runtimes/{rid}/native/liblatenn.so": good(*filter(None, [targets.get(rid)])) for rid in rids}
    files |= {f"runtimes/{rid}/native/{name}": good() for name, rid in others.items()}
    return nupkg(files, types=("rels", "psmdcp", "nuspec", "so", "dll", "_"))


NOT_FOUND = [
    Case(
        code=code,
        what=f"runtimes/{rid}",
        bad=below(rid),
        good=below(good),
        at=f"!runtimes/{rid}/native/liblatenn.so",
        says=says,
    )
    for code, rid, good, says in [
        ("LB701", "osx.10.14-x64", "osx-x64", "osx.10.14-x64"),
        ("LB701", "ubuntu.22.04-x64", "linux-x64", "ubuntu.22.04-x64"),
        ("LB701", "alpine-x64", "linux-musl-x64", "alpine-x64"),
        ("LB701", "win10-x64", "win-x64", "win10-x64"),
        ("LB701", "win10", "win", "win10 names a version"),
        ("LB701", "linux-amd64", "linux-arm64", "linux-amd64"),
        ("LB701", "lniux-x64", "unix", "lniux-x64"),
    ]
]
CASES = [
    *NOT_FOUND,
    *(
        Case("LB703", what, bad, twin, at=f"native/{LIBRARY}", says=says, severity=severity)
        for what, bad, twin, says, severity in [
            ("Alpine", package("linux-x64", "android"), package("linux-x64", "linux-musl-x64", "android"),
             "linux-musl-x64 falls back to runtimes/linux-x64/native/", "note"),
            ("Alpine, where musl has its RID without a processor", package("linux-x64", "android"),
             package("linux-x64", "linux-musl", "android"), "linux-musl-x64 falls back", "note"),
            ("Alpine, on purpose", package("linux-x64", "android"),
             package("linux-x64", "android", **{"_._": "linux-musl-x64"}), "linux-musl-x64 falls back", "note"),
            ("Alpine on one of two processors", package("linux-x64", "linux-arm64", "linux-musl-x64", "android"),
             package("linux-x64", "linux-musl-x64", "android"), "for linux-musl-arm64", "warning"),
            ("Android on one of two processors", package("linux-arm64", "linux-musl", "android-x64"),
             package("linux-arm64", "linux-musl", "linux-bionic-arm64", "android-x64"), "Android", "warning"),
            ("Android on one of two processors; of none", package("linux-arm64", "linux-musl", "android-x64"),
             package("linux-arm64", "linux-musl"), "Android", "warning"),
            ("Android on one of two processors; on one that it does not have",
             package("linux-arm64", "linux-musl", "android-x64"), package("linux-x64", "linux-musl", "android-arm64"),
             "android-arm64 falls back to runtimes/linux-arm64/native/", "warning"),
            ("musl's own library under the RID of glibc", package("linux-x64", "android"),
             nupkg({"runtimes/linux-x64/native/liblatenn.so": good("x86_64-linux-musl")}), "Alpine", "note"),
        ]
    ),
    Case("LB703", "a library that only glibc has", at="linux-x64/native/libmore.so", says="alone", severity="note",
         bad=package("linux-x64", "linux-musl-x64", "android", **{"libmore.so": "linux-x64"}),
         good=package("linux-x64", "linux-musl-x64", "android", **{"libmore.so": "linux-musl-x64"})),
]  # fmt: skip
