"""The configuration of cibuildwheel for a package: the native route, where each system builds with its own tools."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

from msgspec import DecodeError
from packaging.requirements import InvalidRequirement, Requirement

from latebind.backend.targets import target
from latebind.config.config import Config
from latebind.ecosystems.wheel.buildsystem import OWN_REQUIREMENTS, build_requirements
from latebind.errors import BuildError, InputError
from latebind.system.folders import find_repository
from latebind.tables.presets import RuntimePreset
from latebind.templates import render

CIBUILDWHEEL_FILE = "cibuildwheel.toml"
_IMAGES = ((2, 17, "manylinux2014"), (2, 28, "manylinux_2_28"), (2, 34, "manylinux_2_34"))
"""The images of pypa/manylinux that cibuildwheel pins, by the glibc in them."""
_ANY = "cp312-*"
"""The CPython that builds a wheel for all versions."""


def cibuildwheel_config(config: Config, package: str, *latebind: str) -> str:
    """The text of cibuildwheel.toml for a package's wheel; equal inputs give equal text.

    `latebind` are the requirements that install latebind for the build: `latebind[native]==1.0`, or paths.

    Raises BuildError when the package has no wheel, or its sources or its test script are outside the
    repository; InputError when its wheel source has no readable pyproject.toml, or the script is not there.
    """
    wheel = config.packages[package].wheel if package in config.wheel_sources else None
    if wheel is None:
        names = ", ".join(config.wheel_sources) or "none here"
        raise BuildError(f"the project has no package {package!r} with a wheel source", advice=f"Name one of: {names}.")
    root = find_repository(config.root)  # what cibuildwheel calls the project
    source = _inside(root, config.root / wheel.source, f"package.{package}.wheel.source")
    platforms = [target(rid) for rid in config.document.targets.include]
    needs = [*latebind, *_backend(config.root / wheel.source / "pyproject.toml")]
    return render(
        "cibuildwheel.toml.j2",
        package=package,
        name=config.wheel_name(package),
        source=source,
        file=f"{source}/{CIBUILDWHEEL_FILE}",
        build=_pythons(wheel.kind),
        one=wheel.kind != "cpython",
        skip="*-win32" if any(platform.libc == "musl" for platform in platforms) else "*-musllinux_* *-win32",
        before_build=_command("pip", "install", *needs),
        windows_before_build=_command("pip", "install", "delvewheel", *needs),
        latebind=latebind,
        linux_archs=[platform.arch for platform in platforms if platform.libc == "glibc"],
        image=_image(config.document.targets.glibc),
        macos=config.document.targets.macos,
        **_tests(config, package, wheel.extras == "channels", root),
        **_repairs([runtime.traits for runtime in config.document.runtime]),
    )


def _pythons(kind: str) -> str:
    """The CPythons that build: every one for `cpython`, else only one, the floor where there is one."""
    return "cp3*-*" if kind == "cpython" else f"{kind.partition('-')[0]}-*" if "-abi3" in kind else _ANY


def _tests(config: Config, package: str, with_extra: bool, root: Path) -> dict[str, object]:  # noqa: FBT001  # one of two
    """How an installed wheel is tested: with its siblings, the ordinary extra, and the project's own script."""
    runtime, verify = config.runtime_of(package), config.document.verify
    siblings = [name for name in map(config.wheel_name, config.packages[package].requires) if name]
    # A sibling was built before this one, and is nowhere else yet.
    find = ("pip", "install", "--no-index", "--no-deps", "--find-links", "{project}/wheelhouse", *siblings)
    script = config.root / verify.wheel
    if verify.wheel and not script.is_file():
        raise InputError("the script that tests a wheel does not exist", where=f"verify.wheel = {script}")
    return {
        "before_test": _command(*find) if siblings else "",
        "test_extra": runtime.traits.python.extra if runtime is not None and with_extra else "",
        "test_requires": verify.python_requires if verify.wheel else (),
        "test_command": _command("python", f"{{project}}/{_inside(root, script, 'verify.wheel')}")
        if verify.wheel
        else "",
    }


def _repairs(runtimes: list[RuntimePreset]) -> dict[str, str]:
    """The repair commands. Each tool excludes libraries in its own way: by a glob, a part of a path, or a name."""
    globs = [
        glob
        for runtime in runtimes
        for glob in runtime.linked_globs
        if any(fnmatch(library, glob) for library in runtime.names.linux)
    ]
    linux = [argument for glob in globs for argument in ("--exclude", glob)]
    macos = [
        argument
        for runtime in runtimes
        for name in runtime.names.macos[-1:]
        for argument in ("--exclude", name.partition(".")[0])
    ]
    windows = [argument for runtime in runtimes for name in runtime.names.windows for argument in ("--exclude", name)]
    return {
        "linux_repair": _command("auditwheel", "repair", "--only-plat", *linux, "-w", "{dest_dir}", "{wheel}"),
        "macos_repair": _command(
            "delocate-wheel", "--require-archs", "{delocate_archs}", *macos, "-w", "{dest_dir}", "-v", "{wheel}"
        ),
        "windows_repair": _command("delvewheel", "repair", *windows, "-w", "{dest_dir}", "{wheel}"),
    }


def _command(*arguments: str) -> str:
    """A command for sh and for cmd.exe alike, which both know double quotes; placeholders stay as they are."""
    return " ".join(
        argument if re.fullmatch(r"[\w@%+=:,./{}~-]+", argument) else f'"{argument}"' for argument in arguments
    )


def _image(glibc: str) -> str:
    """The newest image whose glibc is not above the floor."""
    floor = tuple(int(part) for part in glibc.split("."))
    return max((major, minor, name) for major, minor, name in _IMAGES if (major, minor) <= max(floor, (2, 17)))[2]


def _backend(pyproject: Path) -> list[str]:
    """What the wheel source's build needs besides latebind itself. Raises InputError."""
    try:
        needs = build_requirements(pyproject)
        return [need for need in needs if Requirement(need).name not in OWN_REQUIREMENTS]
    except (OSError, DecodeError, UnicodeDecodeError, InvalidRequirement) as error:
        raise InputError(f"cannot be read: {error}", where=str(pyproject)) from error


def _inside(root: Path, path: Path, key: str) -> str:
    """A path as cibuildwheel's containers see it: below the repository. Raises BuildError for one outside."""
    if not path.resolve().is_relative_to(root):
        raise BuildError(f"is outside {root}, the only folder that cibuildwheel copies", where=f"{key} = {path}")
    return path.resolve().relative_to(root).as_posix()
