"""Where installed plugin execution providers of ONNX Runtime have their libraries."""

from __future__ import annotations

from importlib import import_module

from latenn._errors import RuntimeUnavailableError


def plugin_ep(name: str) -> str:
    """The library of an installed plugin execution provider, for the option plugin_ep.NAME of `load`.

    It is that of the package `onnxruntime-ep-NAME` or `onnxruntime-NAME`, whose module has a function
    get_library_path, as ONNX Runtime's convention has it. Raises RuntimeUnavailableError.
    """
    reasons = []
    for distribution in (f"onnxruntime-ep-{name}", f"onnxruntime-{name}"):
        try:
            return str(import_module(distribution.replace("-", "_").replace(".", "_")).get_library_path())
        except (ImportError, AttributeError) as error:
            reasons.append(str(error))
    raise RuntimeUnavailableError(
        f"the execution provider {name!r} is not installed ({'; '.join(reasons)}). "
        f"Install it: pip install onnxruntime-ep-{name}"
    )
