"""Check LB415: which build system an sdist has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from latebind.audit.registry import Hit, Skip, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.audit.subject import Contents

_FALLBACK = "setuptools.build_meta:__legacy__"
"""What installers use where pyproject.toml names no backend (PEP 517, "Source trees")."""


@check(
    "LB415",
    "Sdist without a clear build system",
    "error",
    because="It cannot be built, or not with the intended tool.",
    kinds=("sdist",),
    example="tiny-1.0.0.tar.gz has setup.py and no pyproject.toml",
    cure="Keep pyproject.toml with its build backend at the root of the sdist, and exclude an old setup.py.",
)
def sdist_build_system(package: Contents) -> Iterator[Hit | Skip]:
    """Installers build an sdist with the backend that the pyproject.toml at its root names.

    Without that file they use setup.py and setuptools, which may build a different package. Without either, they fail.
    A setup.py next to another backend is a second build system, which older tools run.
    """
    roots = {file.name.partition("/")[0] for file in package.files}
    top = next(iter(roots)) if len(roots) == 1 else ""
    names = {file.name.removeprefix(f"{top}/") for file in package.files}
    if "PKG-INFO" not in names:
        return  # an archive, but not an sdist
    setup, project = "setup.py" in names, "pyproject.toml" in names
    ours = "latebind.toml" in names
    if not project and not setup:
        yield Hit(message="has neither pyproject.toml nor setup.py at its root", evidence=("PKG-INFO",))
        return
    backend = _backend(package.texts.get(f"{top}/pyproject.toml", b"")) if project else _FALLBACK
    if ours and backend == _FALLBACK:
        why = "names no build backend" if project else "is not at the root"
        yield Hit(
            message=f"pyproject.toml {why}, so installers build with setuptools, not latebind", evidence=(backend,)
        )
    elif not project:
        yield Hit(
            message="has no pyproject.toml, so installers build with setuptools",
            evidence=("setup.py",),
            severity="warning",
        )
    elif setup and not backend.startswith("setuptools"):
        yield Hit(
            inner=f"{top}/setup.py",
            message=f"is a second build system next to {backend}",
            evidence=("setup.py", f"build-backend = {backend}"),
            severity="warning",
        )


def _backend(text: bytes) -> str:
    try:
        document: Any = msgspec.toml.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _FALLBACK
    table = document.get("build-system", {})
    named = table.get("build-backend", "") if isinstance(table, dict) else ""
    return named if isinstance(named, str) and named else _FALLBACK
