"""FFmpeg's filter for neural networks loads a model of OpenVINO, and refuses a file that is none."""

import ctypes
from pathlib import Path

VARIABLE = "OPENVINO_LIB_PATH"
P = ctypes.c_void_p


def start_filter(library, file):
    model = Path(__file__).with_name(file)
    options = f"dnn_backend=openvino:model={model}:input=x:output=y".encode()
    library.avfilter_graph_alloc.restype = P
    library.avfilter_get_by_name.restype = P
    graph, made = P(library.avfilter_graph_alloc()), P()
    kind = P(library.avfilter_get_by_name(b"dnn_processing"))
    return library.avfilter_graph_create_filter(ctypes.byref(made), kind, b"dnn", options, None, graph)


def run_cases():
    import ffmpeg

    folder = Path(ffmpeg.__file__).parent
    ctypes.CDLL(str(next(folder.glob("libavutil*"))), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(next(folder.glob("libavfilter*"))))
    status = start_filter(library, "identity.xml")
    if status < 0:
        raise RuntimeError(f"the filter did not start: {status}")
    return {"a text is refused": "" if start_filter(library, "smoke.py") < 0 else "it was taken for a model"}
