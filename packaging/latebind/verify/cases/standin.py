"""Which runtimes have a stand-in, a library of latebind's own for machines that run no real one; which versions."""

from __future__ import annotations

from pathlib import Path

from packaging.version import Version

from latebind.config.runtime import RuntimeUse

SOURCES = Path(__file__).parent.parent / "standin"
STAND_IN = "stand-in"
"""What test cases call it in the runtime's place."""
SAYS_SO = "the stand-in for"
"""What the message of a function that it lacks has."""


def has_stand_in(runtime: RuntimeUse | None) -> bool:
    """Whether latebind has a stand-in for a runtime."""
    return runtime is not None and (SOURCES / f"{runtime.preset}.c").is_file()


def list_versions(runtime: RuntimeUse, *, every: bool) -> tuple[str, ...]:
    """The version that latebind was built with; with `every`, the minimum and a newer one, too."""
    built = Version(runtime.traits.built)
    newer = f"{built.major}.{built.minor + 1}.0"
    usual = _complete(runtime.traits.built)
    return tuple(dict.fromkeys((_complete(runtime.minimum), usual, newer))) if every else (usual,)


def oldest_version(runtime: RuntimeUse) -> str:
    """The minimum: `1.19.0`."""
    return _complete(runtime.minimum)


def _complete(version: str) -> str:
    return ".".join([*version.split("."), "0", "0"][:3])
