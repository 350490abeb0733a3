"""Check LB408: whether a wheel installs files into folders of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.check import Hit, Hits, check

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents

_SCHEMES = ("/scripts/", "/purelib/", "/platlib/", "/headers/")
_AT_ROOT = (".py", ".pyi", ".pth")
_TEST_FOLDERS = ("test", "tests", "doc", "docs", "example", "examples", "benchmarks")


@check(
    "LB408",
    "File outside a package folder",
    "warning",
    profiles=("all",),
    because="The file can overwrite a file of another project, or be overwritten by one.",
    kinds=("wheel",),
    example="liblatenn.so at the root of the wheel",
    fix="Install the file in the import package's folder (latenn/) and open it by its path there.",
)
def outside_package(package: Contents) -> Hits:
    """Files at a wheel's root are installed directly in site-packages, where names of different projects clash.

    Files of the `data` scheme are installed in the environment's root folder. Modules, .pth files and DLLs may be at
    the root. The finding is a note for other files at the root, such as README.md, and for folders such as tests and
    docs.
    """
    tops = {file.name.partition("/")[0].lower(): file for file in package.files}
    for top, file in sorted(tops.items()):
        if ("/" in file.name and top in _TEST_FOLDERS) or (
            "/" not in file.name and not file.is_native and not top.endswith(_AT_ROOT)
        ):
            message = f"{file.name.partition('/')[0]} is installed directly in site-packages"
            yield Hit(cause="site-packages", inner=file.name, message=message, severity="note")
    for file in package.native:
        in_data = ".data/" in file.name and not any(scheme in file.name for scheme in _SCHEMES)
        if in_data or ("/" not in file.name and not file.is_module and file.format != "pe"):
            yield Hit(cause="library", inner=file.name, message="is a native library outside a package folder")
