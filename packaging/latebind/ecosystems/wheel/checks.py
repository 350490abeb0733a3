"""Checks LB417 and LB418: whether the files of a project's wheel are in the folder of its import package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.checks.policy import find_rules
from latebind.filenames import WHEEL_MANIFEST
from loadcheck.engine.registry import Hit, Hits, check

if TYPE_CHECKING:
    from loadcheck.engine.policy import Policy
    from loadcheck.readers.contents import Contents, File

_HOOKS = "/_pyinstaller/"


@check(
    "LB417",
    "Wheel without its Python module",
    "error",
    because="The import fails.",
    kinds=("wheel",),
    example="opencv_python-5.0-py3-none-win_amd64.whl has cv2/, but latebind.toml names no module cv2",
    fix="Correct packages in [tool.hatch.build.targets.wheel] of pyproject.toml. If Python imports another name than "
    "that of the distribution, write module_name into the table wheel of latebind.toml.",
)
def module_missing(package: Contents, policy: Policy) -> Hits:
    """A wheel of a project with latebind.toml has the Python code of the module that users import.

    The module is `wheel.module_name`, or the name of the distribution. A wheel that latebind made is judged without
    latebind.toml, too: it must have a Python file apart from the hook for PyInstaller.
    """
    name = _find_module(package, policy)
    code = [file.name for file in package.files if _is_code(file)]
    if not name and not _is_ours(package):
        return
    root = name.replace(".", "/")
    if not any(path.startswith((f"{root}/", f"{root}.")) or not root for path in code):
        seen = sorted({path.partition("/")[0] for path in code})
        what = f"module {name}, which {package.project} is imported as" if name else "Python module"
        yield Hit(cause=name, message=f"has no {what}", evidence=(f"Python files in: {', '.join(seen) or 'none'}",))


@check(
    "LB418",
    "Native library outside the import package",
    "warning",
    because="Python code that looks for the library next to itself does not find it.",
    kinds=("wheel",),
    example="opencv_python/libcv.so next to cv2/__init__.py",
    fix="Write module_name into the table wheel of latebind.toml, or destination below "
    "[tool.hatch.build.hooks.latebind] of pyproject.toml.",
)
def library_outside_module(package: Contents, policy: Policy) -> Hits:
    """A library that Python code opens by its path belongs into the folder of the module that users import.

    The check judges wheels of a project with latebind.toml and wheels that latebind made. The import package of the
    latter is each top folder with Python code. Libraries that a repair tool added, and modules, may be elsewhere.
    """
    name = _find_module(package, policy)
    if not name and not _is_ours(package):
        return
    code = [file.name for file in package.files if _is_code(file)]
    roots = {name.replace(".", "/")} if name else {path.partition("/")[0] for path in code}
    if not any(path.startswith(f"{root}/") for root in roots for path in code):
        return  # LB417 reports it
    for file in package.native:
        is_inside = file.name.startswith(tuple(f"{root}/" for root in roots))
        if not (is_inside or file.is_module or file.is_grafted or ".data/" in file.name):
            yield Hit(
                inner=file.name,
                message=f"is outside {' and '.join(sorted(roots))}, where the Python code is",
                evidence=(file.name,),
            )


def _is_code(file: File) -> bool:
    """Whether Python can import a file, apart from the hook that latebind adds for PyInstaller."""
    return (file.name.endswith(".py") or file.is_module) and _HOOKS not in file.name


def _is_ours(package: Contents) -> bool:
    """Whether latebind's build hook made the wheel."""
    return any(file.name == f"{package.dist_info}/{WHEEL_MANIFEST}" for file in package.files)


def _find_module(package: Contents, policy: Policy) -> str:
    """What the project's configuration says that Python imports; "" for a package of others."""
    return find_rules(policy).modules.get(package.project, "")
