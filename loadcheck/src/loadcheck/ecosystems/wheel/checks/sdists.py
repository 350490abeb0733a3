"""Check LB415: which build system an sdist has."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

import msgspec

from loadcheck.engine.check import Hit, Hits, Skip, check

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents

_FALLBACK = "setuptools.build_meta:__legacy__"
"""What installers use where pyproject.toml names no backend (PEP 517, "Source trees")."""


@check(
    "LB415",
    "Sdist without a clear build system",
    "error",
    because="Installers cannot build the sdist, or they build it with the wrong tool. The finding is a warning if the "
    "sdist has setup.py and no pyproject.toml, or setup.py next to another build backend.",
    kinds=("sdist",),
    example="tiny-1.0.0.tar.gz has setup.py and no pyproject.toml",
    fix="Keep pyproject.toml with its build backend at the root of the sdist, and exclude an old setup.py.",
)
def sdist_build_system(package: Contents) -> Hits:
    """Installers build an sdist with the backend that the pyproject.toml at its root names.

    Without that file they use setup.py and setuptools, which may build a different package. Without either, they fail.
    A setup.py next to another backend is a second build system, which older tools run. If `backend-path` names a folder
    of the sdist that does not have the backend, the build fails.
    """
    top = package.top
    names = {file.name.removeprefix(f"{top}/") for file in package.files}
    if "PKG-INFO" not in names:
        return  # an archive, but not an sdist
    if f"{top}/pyproject.toml" in package.links:
        yield Skip(reason="pyproject.toml is a link, which loadcheck does not read")
        return
    setup, project = "setup.py" in names, "pyproject.toml" in names
    ours = "latebind.toml" in names
    if not project and not setup:
        text = "has neither pyproject.toml nor setup.py at its root"
        yield Hit(cause="neither", message=text, evidence=("PKG-INFO",))
        return
    backend = _backend(package.texts.get(f"{top}/pyproject.toml", b"")) if project else _FALLBACK
    if ours and backend == _FALLBACK:
        why = "names no build backend" if project else "is not at the root"
        text = f"pyproject.toml {why}, so installers build with setuptools, not latebind"
        yield Hit(cause="fallback", message=text, evidence=(backend,))
    elif _lacks_backend(package, top, backend):
        yield Hit(
            cause=f"lost {backend}",
            inner=f"{top}/pyproject.toml",
            message=f"names the build backend {backend}, but no folder in backend-path has it",
            evidence=(f"build-backend = {backend}",),
            fix=f"Include {backend.partition(':')[0]} in the sdist, in a folder that backend-path names.",
        )
    elif not project:
        text = "has no pyproject.toml, so installers build with setuptools"
        fix = (
            'Add a pyproject.toml next to setup.py: [build-system] with requires = ["setuptools"] and whatever else '
            "setup.py imports, and no build-backend, so that setup.py still finds its neighbors."
        )
        yield Hit(cause="setup.py", message=text, evidence=("setup.py",), fix=fix, severity="warning")
    elif setup and not backend.startswith("setuptools"):
        yield Hit(
            cause=f"second {backend}",
            inner=f"{top}/setup.py",
            message=f"is a second build system next to {backend}",
            evidence=("setup.py", f"build-backend = {backend}"),
            severity="warning",
        )


def _lacks_backend(package: Contents, top: str, backend: str) -> bool:
    """Whether an in-tree backend (PEP 517) is not in the folders that `backend-path` names."""
    listed = _build_system(package.texts.get(f"{top}/pyproject.toml", b"")).get("backend-path")
    folders = [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
    module = backend.partition(":")[0].replace(".", "/")
    candidates = [posixpath.normpath(f"{top}/{folder}/{module}") for folder in folders]
    return bool(candidates) and not any(
        {f"{candidate}.py", f"{candidate}/__init__.py"} & package.names for candidate in candidates
    )


def _backend(text: bytes) -> str:
    named = _build_system(text).get("build-backend", "")
    return named if isinstance(named, str) and named else _FALLBACK


def _build_system(text: bytes) -> dict[str, Any]:
    try:
        document: Any = msgspec.toml.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    table = document.get("build-system", {})
    return table if isinstance(table, dict) else {}
