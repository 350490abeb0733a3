"""Bad subjects for LB701."""

from __future__ import annotations

from corpus.cases.case import Case, good, nupkg


def below(rid: str):
    return nupkg({f"runtimes/{rid}/native/liblatenn.so": good()})


CASES = [
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
