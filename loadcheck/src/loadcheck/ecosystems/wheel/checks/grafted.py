"""Check LB122: whether a repair tool put a copy of another distribution's library into a wheel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.check import Hit, Hits, check
from loadcheck.engine.policy import fits_any
from loadcheck.readers.contents import GRAFTED
from loadcheck.text import human_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadcheck.readers.contents import Contents

_OWNERS: Mapping[str, tuple[str, ...]] = {
    "ROCm": (
        "libamd_comgr*", "libamdhip64*", "libhip*", "libhsa-runtime64*", "libmiopen*", "librccl*", "librocblas*",
        "librocfft*", "librocrand*", "librocsolver*", "librocsparse*", "libroctx64*",
    ),
    "CUDA": (
        "libcublas*", "libcudart*", "libcudnn*", "libcufft*", "libcurand*", "libcusolver*", "libcusparse*", "libnccl*",
        "libnvjitlink*", "libnvrtc*",
    ),
    "torch": ("libc10*", "libtorch*"),
    "oneMKL": ("libmkl_*",),
}  # fmt: skip
_WITH_KERNELS = ("libhipblaslt*", "libmiopen*", "librocblas*", "librocfft*", "librocsparse*")
"""Libraries of ROCm that look for kernels in files beside them (rocBLAS: in `library/`)."""
_KERNELS = (".co", ".dat", ".hsaco", ".kdb")


@check(
    "LB122",
    "Copy of another distribution's library",
    "note",
    because="The copy takes space in each wheel, gets no updates, and meets the original in a process that imports "
    "both. The finding is a warning for a library whose kernels are not in the wheel: its functions fail.",
    kinds=("wheel",),
    example="demo.libs/librocblas-1a2b3c4d.so.5",
    fix="Keep it out of the wheel (auditwheel repair --exclude 'librocblas.so.*'), and require the distribution with "
    "it.",
)
def library_grafted(package: Contents) -> Hits:
    """auditwheel, delocate and delvewheel copy each library that a wheel needs, and rename it with a hash.

    They copy one file. rocBLAS, MIOpen and others also need the files beside the original, which they then do not
    find.
    """
    has_kernels = any(file.base.endswith(_KERNELS) for file in package.files)
    for file in package.native:
        owner = next((name for name, globs in _OWNERS.items() if fits_any(file.base, globs)), "")
        if owner and GRAFTED.search(file.base):
            lacks = not has_kernels and fits_any(file.base, _WITH_KERNELS)
            yield Hit(
                cause=GRAFTED.sub("", file.base),
                inner=file.name,
                message=f"is a copy of a library of {owner} ({human_size(file.size)})"
                + ", without the kernels that it looks for beside it" * lacks,
                evidence=(f"file {file.base}",),
                severity="warning" if lacks else "note",
            )
