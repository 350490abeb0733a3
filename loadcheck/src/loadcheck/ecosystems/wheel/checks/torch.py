"""Checks LB513 and LB515: whether a wheel requires a torch that has the functions and libraries that its code needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.version import parse

from loadcheck.binary.floors import version_text
from loadcheck.checks.linkage import find_cuda, is_supplied
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.supply import dependencies, list_ranges
from loadcheck.engine.wording import first, name_newest, needs, some
from loadcheck.tables.torchabi import find_first_versions, list_unstable

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from loadcheck.binary import Image
    from loadcheck.binary.floors import Version
    from loadcheck.readers.contents import Contents

_OF_CUDA = re.compile(r"lib(?:cudart|cublas|cublasLt|nvrtc|nvJitLink)\.so\.(12|13)")
_FIRST_WITH_CUDA_13 = (2, 12)
"""Wheels of torch for Linux on x64 in PyPI bring CUDA 12 up to 2.11 (pytorch/pytorch#187320)."""
_MOST, _PATCHES = 40, 10
"""How many minor releases of torch 2 and patches of each are asked for: more than there will be for years."""


@check(
    "LB513",
    "Requirement of torch that admits releases without the functions that are called",
    "error",
    because="With such a release, the import fails because a function is missing, or the process crashes. The finding "
    "is a warning for a wheel that requires torch without a version, as many do that are installed by an index of "
    "their own for each torch.",
    kinds=("wheel",),
    example="_C.so uses c10::SymInt, and the wheel requires torch>=2.4",
    fix="Require the one minor release that it was compiled for (torch==2.9.*), or use torch's stable ABI alone "
    "(torch/csrc/stable).",
)
def torch_open(package: Contents, image: Image) -> Hits:
    """torch promises its C++ interface (`c10::`, `at::`, `torch::`) for one minor release only.

    The functions of its C shim, by which headers of the stable ABI call torch, stay, and each has a first version
    (docs.pytorch.org, "LibTorch Stable ABI"). Code that uses them alone needs no other C++ names of torch.
    """
    ranges = list_ranges(package, "torch")
    if not ranges:
        return
    used = {symbol.name for symbol in image.imports if symbol.kind != "weak"}
    unstable, shim = list_unstable(used), find_first_versions(used)
    for minor, versions in sorted(ranges.items()) if unstable or shim else ():
        admitted, what = _list_minors(versions), f"torch{versions}"
        seen = f"with CPython 3.{minor}, {what} admits {version_text(admitted[0])} and later" if admitted else ""
        late = {name: since for name, since in shim.items() if admitted and since > admitted[0]}
        if unstable and len(admitted) > 1:
            yield Hit(
                cause=f"unstable {what}",
                names=tuple(unstable),
                message=f"uses {first(unstable)}, which fits one minor release of torch, but the wheel requires {what}",
                evidence=(seen, *some(unstable)),
                severity="error" if str(versions) else "warning",
            )
        elif late:
            newest_names, newest = name_newest(late)
            yield Hit(
                cause=f"shim {what}",
                names=tuple(late),
                message=f"uses {newest_names}, new in torch {newest}, but the wheel requires {what}",
                evidence=(seen, *some([f"{name} is new in {version_text(since)}" for name, since in late.items()])),
                fix=f"Require torch>={newest}, or set TORCH_TARGET_VERSION to the oldest that you require.",
                severity="error" if str(versions) else "warning",
            )
        else:
            continue
        return


@check(
    "LB515",
    "Library of a CUDA that not every admitted torch brings",
    "warning",
    because="With such a release of torch, the import fails on machines without this version of CUDA.",
    kinds=("wheel",),
    formats=("elf",),
    example="_C.so needs libcudart.so.12, and the wheel requires torch>=2.10",
    fix="Require the releases of torch with this CUDA, require the library's distribution (nvidia-cuda-runtime-cu12), "
    "or link CUDA's runtime statically.",
)
def torch_of_another_cuda(package: Contents, image: Image) -> Hits:
    """torch for Linux on x64 brings one version of CUDA: 12 up to torch 2.11, 13 from 2.12 on.

    Code that is linked to CUDA's libraries needs the version that it was built with. The check judges wheels that
    require torch and nothing of NVIDIA's. PyTorch's own index has builds of torch for other versions of CUDA.
    """
    named = {match[1]: name for name in image.needed if (match := _OF_CUDA.fullmatch(name))}
    own = [name for name in dependencies(package).always if name.startswith("nvidia-")]
    for cuda, name in named.items() if image.arch == "x86_64" and not own else ():
        is_missing = package.supplied is not None and not is_supplied(package, image, name)  # LB107 reports it
        if name.lower() in package.own_libraries or is_missing:
            continue
        hits = (_judge_cuda(image, name, cuda, versions) for versions in list_ranges(package, "torch").values())
        yield from [*filter(None, hits)][:1]


def _judge_cuda(image: Image, name: str, cuda: str, versions: SpecifierSet) -> Hit | None:
    """A library of a CUDA that one of the admitted releases of torch does not bring; None if all do."""
    minors = _list_minors(versions) if str(versions) else []
    misfits = [minor for minor in minors if (minor < _FIRST_WITH_CUDA_13) is (cuda == "13")]
    if not misfits:
        return None
    sign, other = ("<", "13") if cuda == "12" else (">=", "12")
    bound = f"torch{sign}{version_text(_FIRST_WITH_CUDA_13)}"
    change = f"Also require {bound}" if len(misfits) < len(minors) else f"Build with CUDA {other}"
    return Hit(
        cause=f"{name} torch{versions}",
        message=f"needs {name}, but the wheel requires torch{versions}: torch {version_text(misfits[0])} brings CUDA "
        f"{other}",
        evidence=(needs(image, name),),
        fix=f"{change}, or require {find_cuda(name)} and link with a search path that leads to its library, or link "
        "CUDA's libraries statically.",
        assumption="torch is installed from PyPI",
    )


def _list_minors(versions: SpecifierSet) -> list[Version]:
    """The minor releases of torch of which the range admits a version, from 1.13 on; none is known to be the last."""
    return [
        release
        for release in ((1, 13), *((2, minor) for minor in range(_MOST)))
        if any(
            versions.contains(parse(f"{version_text(release)}.{patch}"), prereleases=True) for patch in range(_PATCHES)
        )
    ]
