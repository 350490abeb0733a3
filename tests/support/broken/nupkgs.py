"""Ways to break nupkgs: folders, names, dependencies, container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.broken.packages import BACKEND, CORE, Way, in_nupkg, nuspec, swap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.broken.packages import Members, Packages

_DEPENDENCY = '<dependency id="Latenn" version="[0.1.0, 0.2.0)" />'
_OLD_RUNTIME = '<dependency id="Microsoft.ML.OnnxRuntime" version="[1.16.0, 1.17.0)" />'


def _edit_nupkg(change: Callable[[Members], object], library: str = BACKEND) -> Callable[[Packages], object]:
    return lambda packages: packages.edit(packages.nupkg(library), change)


def _move_files(old: str, new: str, library: str = BACKEND) -> Callable[[Packages], object]:
    """Every file whose name begins with `old`."""

    def move(members: Members) -> None:
        names = [name for name in members if name.startswith(old)]
        for name in names:
            members[new + name.removeprefix(old)] = members.pop(name)
        if not names:
            raise ValueError(f"there is no {old}")

    return _edit_nupkg(move, library)


def _swap_processors(members: Members) -> None:
    ours, theirs = in_nupkg(BACKEND), in_nupkg(BACKEND, "linux-arm64")
    members[ours], members[theirs] = members[theirs], members[ours]


def _same_name(members: Members) -> None:
    members["runtimes/win-x64/native/latenn.dll"] = members[in_nupkg(CORE, "win-x64")]


def _no_managed(members: Members) -> None:
    for name in [name for name in members if name.startswith("lib/") and name.endswith(".dll")]:
        del members[name]


def _bad_targets(members: Members) -> None:
    for name in [name for name in members if name.endswith(".targets")]:
        swap(members, name, r"runtimes\linux-x64\native\*", r"runtimes\linux-x86_64\native\*")


def _stale(members: Members) -> None:
    members[in_nupkg(BACKEND)] += b"\0built before"


def _replace_in_nuspec(text: str, new: str) -> Callable[[Packages], object]:
    return _edit_nupkg(lambda members: swap(members, nuspec(members), text, new))


WAYS: Sequence[Way] = (
    Way(name="rids-exchanged", title="the libraries for x64 and arm64 are in each other's folders",
        breaks=_edit_nupkg(_swap_processors)),
    Way(name="rid-unknown", title="the folder is named linux-x86_64, which is not a RID",
        breaks=_move_files("runtimes/linux-x64/", "runtimes/linux-x86_64/")),
    Way(name="rid-of-distribution", title="the folder is named ubuntu.22.04-x64",
        breaks=_move_files("runtimes/linux-x64/", "runtimes/ubuntu.22.04-x64/")),
    Way(name="nested", title="the library is in a folder below the native folder",
        breaks=_move_files("runtimes/linux-x64/native/", "runtimes/linux-x64/native/lib/")),
    Way(name="not-native", title="the library is next to the native folder",
        breaks=_move_files("runtimes/linux-x64/native/", "runtimes/linux-x64/")),
    Way(name="rid-lacking", title="the library of one target was forgotten",
        breaks=_edit_nupkg(lambda members: members.pop(in_nupkg(BACKEND)))),
    Way(name="rid-lacking-elsewhere", title="the library for Intel Macs was forgotten",
        breaks=_edit_nupkg(lambda members: members.pop(in_nupkg(BACKEND, "osx-x64"))), target="osx-x64"),
    Way(name="stale-twin", title="the nupkg holds another build of the library than the wheel",
        breaks=_edit_nupkg(_stale)),
    Way(name="managed-lacking", title="the managed assembly is missing", breaks=_edit_nupkg(_no_managed, CORE)),
    Way(name="names-by-case", title="managed Latenn.dll and native latenn.dll differ by case alone",
        breaks=_edit_nupkg(_same_name, CORE), target="win-x64"),
    Way(name="targets-path", title="the .targets file copies from a folder that is not there",
        breaks=_edit_nupkg(_bad_targets)),
    Way(name="targets-name", title="the .targets file is not named after the package",
        breaks=_move_files("build/net461/Latenn.OnnxRuntime.targets", "build/net461/native.targets")),
    Way(name="nuspec-range", title="the nuspec wants a runtime older than the minimum",
        breaks=_replace_in_nuspec(_DEPENDENCY, _DEPENDENCY + _OLD_RUNTIME)),
    Way(name="nuspec-core", title="the backend's nuspec wants a core that does not exist",
        breaks=_replace_in_nuspec('version="[0.1.0, 0.2.0)"', 'version="[0.2.0, 0.3.0)"')),
    Way(name="nuspec-version", title="the nuspec's version is not that of the file name",
        breaks=_replace_in_nuspec("<version>0.1.0</version>", "<version>0.1.1</version>")),
    Way(name="relationships-lacking", title="_rels/.rels is missing",
        breaks=_edit_nupkg(lambda members: members.pop("_rels/.rels"))),
    Way(name="content-types-lacking", title="[Content_Types].xml is missing",
        breaks=_edit_nupkg(lambda members: members.pop("[Content_Types].xml"))),
    Way(name="nupkg-escape", title="an entry of the nupkg leaves the folder",
        breaks=_edit_nupkg(lambda members: members.update({"../../latenn.txt": b"outside"}))),
)  # fmt: skip
