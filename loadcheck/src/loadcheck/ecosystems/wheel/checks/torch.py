"""Check LB513: whether a wheel requires the torch whose C++ interface its code was compiled for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.version import Version

from loadcheck.engine.registry import Hit, Hits, check
from loadcheck.engine.supply import list_ranges
from loadcheck.engine.wording import first, some

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents

_OF_TORCH = re.compile(r"_ZT?[IVSTN]?N?K?(3c10|2at|5torch)\d|\?.*@(c10|at|torch)@@")
"""Names of torch's C++ interface: `c10::SymInt::...`, in the Itanium C++ ABI and in Visual C++'s."""
_NEWEST, _PATCHES = (2, 40), 10


@check(
    "LB513",
    "Requirement of torch that admits other C++ interfaces",
    "error",
    because="With another minor release, the import fails because a function is missing, or the process crashes. The "
    "finding is a warning if the wheel requires torch without a version, as many do that are installed by an index of "
    "their own for each torch.",
    example="_C.so uses c10::SymInt, and the wheel requires torch>=2.4",
    fix="Require the one minor release that it was compiled for (torch==2.9.*), or use torch's stable ABI alone "
    "(torch/csrc/stable).",
)
def torch_open(package: Contents, image: Image) -> Hits:
    """torch promises its C++ interface (`c10::`, `at::`, `torch::`) for one minor release only.

    The functions of its C shim (`aoti_torch_...`), by which headers of the stable ABI call torch, are kept for two
    years. Code that uses them alone needs no other C++ names of torch (docs.pytorch.org, "LibTorch Stable ABI").
    """
    names = sorted(symbol.name for symbol in image.imports if symbol.kind != "weak" and _OF_TORCH.match(symbol.name))
    ranges = list_ranges(package, "torch") if names else {}
    for minor, versions in sorted(ranges.items()):
        admitted = _list_minors(versions)
        if len(admitted) > 1:
            what = f"torch{versions}"
            yield Hit(
                cause=what,
                names=tuple(names[:1]),
                message=f"uses {first(names)}, which fits one minor release of torch, but the wheel requires {what}",
                evidence=(f"with CPython 3.{minor}: torch {admitted[0]} to {admitted[-1]}", *some(names)),
                severity="error" if str(versions) else "warning",
            )
            return


def _list_minors(versions: SpecifierSet) -> list[str]:
    """The minor releases of torch of which the range admits a version, from 1.13 on; none is known to be the last."""
    minors = [(1, 13), *((2, minor) for minor in range(_NEWEST[1]))]
    admits = versions.contains
    return [
        f"{major}.{minor}"
        for major, minor in minors
        if any(admits(Version(f"{major}.{minor}.{patch}"), prereleases=True) for patch in range(_PATCHES))
    ]
