"""Programs that CMake starts in front of the compiler: ccache, where it is installed, keeps compiled objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from latebind.system.programs import which

_LANGUAGES = ("C", "CXX")


def launchers(first: Sequence[str] = ()) -> list[str]:
    """CMake arguments for the launchers of each language: `first`, and ccache if it is on PATH.

    sccache is not taken by itself: it starts a server, and does not know `zig cc` (0.16).
    """
    ccache = which("ccache")
    programs = [*first, *([ccache.as_posix()] if ccache else [])]
    return [f"-DCMAKE_{language}_COMPILER_LAUNCHER={';'.join(programs)}" for language in _LANGUAGES if programs]


def identify_compiler(variables: Mapping[str, str], identity: str) -> dict[str, str]:
    """Add to an environment how ccache recognizes the compiler: by version, as each environment has its own copy."""
    return {"CCACHE_COMPILERCHECK": f"string:{identity}", **variables}
