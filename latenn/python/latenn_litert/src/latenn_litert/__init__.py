"""latenn's backend for LiteRT: reports latenn where the backend library lies and where a runtime may lie."""

from __future__ import annotations

from latenn.supply import Supply

__all__ = ["library_directory", "runtime_advice", "runtime_directories", "runtime_note"]

_supply = Supply(
    distribution="latenn-litert",
    package=__name__,
    folder="ai_edge_litert",
    library=r"libLiteRt\.(so|dylib|dll)$",
)

library_directory = _supply.library_directory
runtime_advice = _supply.runtime_advice
runtime_directories = _supply.runtime_directories
runtime_note = _supply.runtime_note


def _show_freezers() -> None:
    """Never called: programs such as cx_Freeze and Nuitka follow imports, and so take the runtime along."""
    import ai_edge_litert  # noqa: F401, PLC0415
