"""Checks LB417 and LB418, whether a project's wheel has its files in its import package; what wheels require."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from latebind.backend.stage import WHEEL_MANIFEST
from latebind.checks.policy import find_rules
from latebind.checks.supplier import Supplier
from loadcheck.api import Hit, Hits, check, comparable_version, requirement_rows

if TYPE_CHECKING:
    from latebind.checks.policy import BindingPolicy
    from latebind.tables.presets import RuntimePreset
    from loadcheck import Severity
    from loadcheck.api import Policy
    from loadcheck.facts import Contents, File


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


def _find_dependency_problems(package: Contents, policy: BindingPolicy, runtime: RuntimePreset) -> Iterator[Hit]:
    names = {canonicalize_name(name) for name in runtime.python.extras.values()}
    if package.project in names:
        return
    minimum = policy.minimums.get(runtime.name, "")
    inner = f"{package.dist_info}/METADATA"
    rows = [row for row in requirement_rows(package) if canonicalize_name(row[1].name) in names]
    if names and not rows and policy.must_require(package.project, runtime):
        line = runtime.python.render_requirement(runtime.python.extra, minimum)
        yield Hit(
            cause="none",
            inner=inner,
            message=f"binds {runtime.title}, but requires no distribution of it, not even in an extra",
            evidence=(f"missing: Requires-Dist: {line}",),
            fix=f"Add {line} to dependencies, or to an extra, in pyproject.toml. If latebind makes the wheel, write "
            'runtime = "required" into its table in latebind.toml. If users install the runtime apart, write "none".',
        )
    for text, requirement in rows:
        closed = [str(part) for part in requirement.specifier if part.operator in ("==", "===", "<", "<=", "~=")]
        lower = [part.version for part in requirement.specifier if part.operator in (">=", ">")]
        if closed:
            severity = _pin_severity(minimum, closed)
            message = f"pins or caps {requirement.name}: {', '.join(closed)}"
            yield Hit(
                cause=f"cap {requirement.name}", inner=inner, message=message, evidence=(text,), severity=severity
            )
            continue
        oldest = runtime.python.oldest_of(requirement.name, minimum) if minimum else ""
        if oldest and (len(lower) != 1 or comparable_version(lower[0]) != comparable_version(oldest)):
            asked = f">={lower[0]}" if lower else "any version"
            yield Hit(
                cause=f"minimum {requirement.name}",
                inner=inner,
                message=f"requires {requirement.name} {asked}, but the configured minimum is {oldest}",
                evidence=(text, f"minimum: {oldest}"),
                fix=f"Declare {requirement.name}>={oldest}. latebind pack writes it from the configuration.",
            )


def _pin_severity(minimum: str, closed: list[str]) -> Severity:
    """An error in a project that configures a minimum; elsewhere a cap is a choice, and a pin stops some users."""
    if minimum:
        return "error"
    return "warning" if any(part.startswith("==") for part in closed) else "note"


SUPPLIERS = (
    Supplier(
        kind="wheel",
        list_packages=lambda runtime: tuple(runtime.python.extras.values()),
        find_problems=_find_dependency_problems,
    ),
)
