"""Check LB314: whether modules for free-threaded CPython let it run without the GIL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.registry import EVERY_FORMAT, Hit, Skip, check
from loadcheck.kinds.wheel.checks.served import format_tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, WheelName

_IN_ONE_STEP = "PyModule_Create2"
_IN_STEPS = "PyModuleDef_Init"
_ALLOWS = "PyUnstable_Module_SetGIL"


@check(
    "LB314",
    "Module that turns the GIL on",
    "warning",
    profiles=("loads",),
    because="Importing the module turns the GIL on for the whole process, which free-threaded CPython reports with a "
    "RuntimeWarning.",
    formats=EVERY_FORMAT,
    kinds=("wheel",),
    example="_core.cpython-314t-x86_64-linux-gnu.so calls PyModule_Create and not PyUnstable_Module_SetGIL",
    fix="If the module needs no GIL, call PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED) after "
    "PyModule_Create().",
)
def turns_gil_on(package: Contents, image: Image, wheel: WheelName) -> Iterator[Hit | Skip]:
    """By default, free-threaded CPython keeps the GIL off only if each module says that it needs no GIL (PEP 703).

    A module that is created by PyModule_Create() says so by calling PyUnstable_Module_SetGIL(): the check looks for
    this function in the module's imports. A module with multi-phase initialization says so with Py_mod_gil in its table
    of slots. The check reads this table in modules for Linux on x86-64 whose PyInit function only returns the module's
    definition, as in Cython's modules.
    """
    if (
        not image.python_module
        or not wheel.abis
        or not all(abi.startswith("cp3") and abi.endswith("t") for abi in wheel.abis)
    ):
        return
    message = f"turns the GIL on when it is imported, but {format_tags(wheel)} is for free-threaded CPython"
    used = {symbol.name for symbol in image.imports} | package.exported
    if _IN_ONE_STEP in used and _IN_STEPS not in used and _ALLOWS not in used:
        yield Hit(
            cause="one step",
            message=message,
            evidence=(f"imports {_IN_ONE_STEP}, and neither {_ALLOWS} nor {_IN_STEPS}",),
        )
    elif image.keeps_gil and _IN_STEPS in used:
        yield Hit(
            cause="slots",
            message=message,
            evidence=("its table of slots (PyModuleDef.m_slots) has no Py_mod_gil with Py_MOD_GIL_NOT_USED",),
            fix="Add {Py_mod_gil, Py_MOD_GIL_NOT_USED} to the slots if the module needs no GIL (Cython 3.1: "
            "# cython: freethreading_compatible=True).",
        )
