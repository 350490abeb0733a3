"""latenn's backend for OpenVINO: reports latenn where the backend library lies and where a runtime may lie."""

from __future__ import annotations

from latenn.supply import Supply

__all__ = ["library_directory", "runtime_advice", "runtime_directories", "runtime_note"]

_supply = Supply(
    distribution="latenn-openvino",
    package=__name__,
    folder="openvino/libs",
    library=r"(libopenvino_c\.so.*|libopenvino_c\..*dylib|openvino_c\.dll)$",
)

library_directory = _supply.library_directory
runtime_advice = _supply.runtime_advice
runtime_directories = _supply.runtime_directories
runtime_note = _supply.runtime_note


def _show_freezers() -> None:
    """Never called: programs such as cx_Freeze and Nuitka follow imports, and so take the runtime along."""
    import openvino  # noqa: F401, PLC0415
