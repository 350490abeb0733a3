"""Check LB911: whether the system starts the programs of a package."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loadcheck.checks.tags import misfits
from loadcheck.engine.check import Hit, Hits, check
from loadcheck.readers.package_json import read_manifest

if TYPE_CHECKING:
    from loadcheck.binary import Image
    from loadcheck.readers.contents import Contents, File
    from loadcheck.readers.package_json import Manifest

_EXECUTABLE = 0o111
_FOR_TESTS = re.compile(r"(^|/)(tests?|testing|test[-_]?data|fixtures|examples)/")
SCRIPTS = ".data/scripts/"
"""The folder of a wheel whose files installers put where the shell finds them."""


@check(
    "LB911",
    "Program that is not executable",
    "warning",
    because="Starting the program fails with EACCES, in Python with PermissionError, unless code changes its mode "
    "first.",
    formats=("elf", "macho"),
    kinds=("npm", "wheel"),
    example='package/bin/tiny has the mode 644, and "bin" does not name it',
    fix='Pack the program with the mode 755. In npm packages, you can name the program in "bin" instead.',
)
def not_executable(package: Contents, file: File, image: Image) -> Hits:
    """npm and pip keep the executable bit that a file has in the package.

    npm makes the files that `bin` names executable. uv makes the files in the scripts folder of a wheel's `.data`
    executable, but pip keeps their mode (`zip_item_is_executable` in `pip/_internal/operations/install/wheel.py`). In
    packages that are made on Windows or with pnpm, only the files that `bin` names are executable. Nothing is reported
    if a file of the package calls chmod, unless the program is in the scripts folder. If an npm package has neither
    `bin` nor scripts, another package starts its programs, and may change their mode first. The finding assumes that it
    does not.
    """
    if not is_program(image) or file.mode & _EXECUTABLE:
        return
    mode = f"{file.mode & 0o777:03o}"
    if package.wheel is not None and SCRIPTS in file.name and not misfits(package, file):
        text = f"is a program with the mode {mode} in the scripts folder, where pip, unlike uv, keeps the mode"
        yield Hit(cause="scripts", message=text, evidence=(f"mode {mode}",), fix="Pack the program with the mode 755.")
    if "chmod" in package.helpers:
        return
    manifest = read_manifest(package)
    if package.wheel is not None:
        if SCRIPTS not in file.name and not _FOR_TESTS.search(file.name) and not misfits(package, file):
            text = f"is a program with the mode {mode}, which pip keeps, so the system does not start it"
            assumption = "no compiled code changes the mode before it starts the program"
            yield Hit(cause="wheel", message=text, evidence=(f"mode {mode}",), assumption=assumption)
    elif manifest is not None and not _is_made_executable(manifest, file.name.partition("/")[2]):
        is_part = not manifest.fields.get("bin") and not manifest.table("scripts")
        text = (
            "so it does not start unless the package that uses it changes the mode"
            if is_part
            else 'and "bin" does not name it'
        )
        yield Hit(
            cause="part" if is_part else "npm",
            message=f"is a program with the mode {mode}, {text}",
            evidence=(f"mode {mode}",),
            assumption="the package that starts the program does not change the mode",
        )


def is_program(image: Image) -> bool:
    """Whether the system starts a file, and no process loads it."""
    return not image.is_firmware and (image.file_type == "executable" or bool(image.interpreter and not image.soname))


def _is_made_executable(manifest: Manifest, path: str) -> bool:
    """Whether npm makes a file executable, for the field bin, or a script that npm runs does."""
    commands = manifest.fields.get("bin")
    named = commands.values() if isinstance(commands, dict) else (commands,)
    if any(isinstance(name, str) and name.removeprefix("./") == path for name in named):
        return True
    return any("chmod" in str(command) for command in manifest.table("scripts").values())
