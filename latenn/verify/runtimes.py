"""The runtimes' own Python APIs, as the reference: each function gives one that runs a model of bytes on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]
    Runner = Callable[[bytes, Arrays], list[NDArray[Any]]]


def onnxruntime() -> Runner:
    """Plain onnxruntime."""
    import onnxruntime as runtime  # noqa: PLC0415  # one of them is installed

    quiet = runtime.SessionOptions()
    quiet.log_severity_level = 4

    def run(model: bytes, inputs: Arrays) -> list[NDArray[Any]]:
        session = runtime.InferenceSession(model, quiet, providers=["CPUExecutionProvider"])
        return list(session.run(None, inputs))

    return run


def openvino() -> Runner:
    """Plain openvino."""
    import openvino as runtime  # noqa: PLC0415  # one of them is installed

    core = runtime.Core()

    def run(model: bytes, inputs: Arrays) -> list[NDArray[Any]]:
        compiled = core.compile_model(core.read_model(model), "CPU")
        return list(compiled(inputs).values())

    return run


def litert() -> Runner:
    """The interpreter of ai-edge-litert."""
    from ai_edge_litert import interpreter as runtime  # noqa: PLC0415  # one of them is installed

    def run(model: bytes, inputs: Arrays) -> list[NDArray[Any]]:
        interpreter = runtime.Interpreter(model_content=model)
        ports = {details["name"]: details["index"] for details in interpreter.get_input_details()}
        for name, array in inputs.items():
            interpreter.resize_tensor_input(ports[name], array.shape)
        interpreter.allocate_tensors()
        for name, array in inputs.items():
            interpreter.set_tensor(ports[name], array)
        interpreter.invoke()
        return [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]

    return run
