"""Where installed plugin execution providers of ONNX Runtime have their libraries."""

from __future__ import annotations

from importlib import import_module

from latenn._errors import RuntimeUnavailableError


def plugin_ep(name: str) -> str:
    """The library of the installed package `onnxruntime-ep-NAME`, for the option plugin_ep.NAME of `load`.

    Its module has a function get_library_path, as ONNX Runtime's convention has it. Raises RuntimeUnavailableError.
    """
    distribution = f"onnxruntime-ep-{name}"
    try:
        return str(import_module(distribution.replace("-", "_").replace(".", "_")).get_library_path())
    except (ImportError, AttributeError) as error:
        raise RuntimeUnavailableError(
            f"the execution provider {name!r} is not installed ({error}). Install it: pip install {distribution}"
        ) from error
