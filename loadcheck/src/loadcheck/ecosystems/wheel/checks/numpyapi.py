"""Check LB508: whether modules work with each NumPy that Requires-Dist admits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from loadcheck.ecosystems.wheel.checks.served import format_minors, list_promised
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.supply import list_ranges, requirement_rows
from loadcheck.engine.wording import some
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.specifiers import SpecifierSet

    from loadcheck.readers.contents import Contents, File, WheelName

_PATCHES: Mapping[str, int] = {
    "1.11": 3, "1.12": 1, "1.13": 3, "1.14": 6, "1.15": 4, "1.16": 6, "1.17": 5, "1.18": 5, "1.19": 5, "1.20": 3,
    "1.21": 6, "1.22": 4, "1.23": 5, "1.24": 4, "1.25": 2, "1.26": 4, "2.0": 2, "2.1": 3, "2.2": 6, "2.3": 5, "2.4": 6,
    "2.5": 5,
}  # fmt: skip
"""The newest patch of each NumPy, on 2026-11-25 in the Python Package Index."""
_RELEASES = tuple(Version(f"{minor}.{patch}") for minor, last in _PATCHES.items() for patch in range(last + 1))
_FIRST: Mapping[int, Version] = {
    6: Version("1.11.3"), 7: Version("1.14.5"), 8: Version("1.17.3"), 9: Version("1.19.3"), 10: Version("1.21.2"),
    11: Version("1.23.2"), 12: Version("1.26"), 13: Version("2.1"), 14: Version("2.3.2"), 15: Version("2.5.2"),
}  # fmt: skip
"""The first NumPy with wheels for each CPython 3."""
_AFTER_LAST: Mapping[int, Version] = {
    6: Version("1.20"), 7: Version("1.22"), 8: Version("1.25"), 9: Version("2.1"), 10: Version("2.3"),
    11: Version("2.5"),
}  # fmt: skip
"""The first NumPy without wheels for an old CPython 3."""
_NUMPY_2 = Version("2")
_NUMPY = "numpy"


@check(
    "LB508",
    "Module built for a different NumPy than the package requires",
    "warning",
    because="The import fails with some versions of NumPy that installers accept. A module that was compiled for "
    "NumPy 1 fails even with the version that installers choose.",
    example="_core.cpython-311-x86_64-linux-gnu.so is compiled for NumPy 1; Requires-Dist: numpy>=1.22",
    fix="Compile with NumPy 2: the modules then also work with NumPy 1. Require at least the version that they need.",
)
def other_numpy(package: Contents, wheel: WheelName) -> Hits:
    """A module that was compiled with NumPy 1 refuses NumPy 2, and any module refuses a NumPy whose C API is too old.

    The headers of NumPy compare the versions when a module calls `import_array()`: `A module that was compiled using
    NumPy 1.x cannot be run in NumPy 2`, `module was compiled against NumPy C-API version 0x10 (NumPy 1.23) but the
    running NumPy has C-API version 0xe`. The headers leave these messages in the module, and those of NumPy 2 also the
    version.

    The check compares the version with each NumPy that Requires-Dist admits and that has wheels for the CPythons of the
    tag. It skips modules of pybind11 and nanobind, which use NumPy without its headers, and packages that do not
    require NumPy.
    """
    users = [file for file in package.files if file.numpy is not None]
    ranges = list_ranges(package, _NUMPY) if users else {}
    admitted = {
        minor: list_releases(minor, ranges[minor]) for minor in sorted(list_promised(package, wheel) & ranges.keys())
    }
    required = tuple(f"Requires-Dist: {text}" for text, each in requirement_rows(package) if each.name == _NUMPY)
    of_1 = [file for file in users if file.numpy and file.numpy.is_for_1]
    refused = [release for releases in admitted.values() for release in releases if release >= _NUMPY_2]
    if of_1 and refused:
        yield Hit(
            cause="NumPy 1",
            message=f"has {plural(len(of_1), 'module')} compiled for NumPy 1, but Requires-Dist admits NumPy 2, "
            f"which {'they refuse' if len(of_1) > 1 else 'it refuses'}",
            evidence=(*required, *some([file.name for file in of_1])),
            fix="Compile with NumPy 2: the modules then also work with NumPy 1. Or require numpy<2.",
        )
    yield from _judge_oldest(users, admitted, required)


def list_releases(minor: int, admitted: SpecifierSet) -> list[Version]:
    """The releases of NumPy with wheels for a CPython that a requirement admits."""
    first, last = _FIRST.get(minor), _AFTER_LAST.get(minor)
    return [
        release
        for release in _RELEASES
        if first is not None and first <= release and (last is None or release < last) and release in admitted
    ]


def _judge_oldest(users: list[File], admitted: Mapping[int, list[Version]], required: tuple[str, ...]) -> Hits:
    """Modules that need a newer NumPy than the oldest one that the package admits.

    The module that needs the oldest counts: one that needs a newer one may be imported with a newer NumPy alone, as
    h5py._npystrings is.
    """
    needs = [(file.numpy, file.name) for file in users if file.numpy is not None and file.numpy.minimum]
    if not needs:
        return
    needed = min((use.minimum for use, _ in needs), key=Version)
    oldest = min((releases[0] for releases in admitted.values() if releases), default=Version(needed))
    if oldest < Version(needed):
        pythons = format_minors([minor for minor, releases in admitted.items() if releases[:1] == [oldest]])
        yield Hit(
            cause=f"NumPy {needed}",
            message=f"has modules compiled for NumPy {needed} and newer, but Requires-Dist admits NumPy {oldest} with "
            f"{pythons}",
            evidence=(*required, *some([f"{name}: NumPy {needed}" for use, name in needs if use.minimum == needed])),
            fix=f"Require numpy>={needed}, or compile with NumPy 2 or with the oldest NumPy that you require.",
        )
