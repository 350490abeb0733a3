"""What `latebind verify` runs in each clean environment: registers the provider, and checks what it computes."""

import argparse
import base64
import gc
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import onnxruntime_ep_tiny as ep

# y = Relu(Mul(a, b)) for float tensors of 2 x 3.
MODEL = base64.b64decode(
    "CAg6YAoOCgFhCgFiEgFjIgNNdWwKDAoBYxIBeSIEUmVsdRIBZ1oTCgFhEg4KDAgBEggKAggCCgIIA1oTCgFiEg4KDAgBEggKAggCCgIIA2ITCgF5Eg4KDAgBEggKAggCCgIIA0IECgAQEQ=="
)
A = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
B = np.array([[2, 2, -2], [-1, 0.5, 1]], np.float32)


def cases():
    """Register, run on a device without the CPU's kernels, release, unregister.

    Return the problem of each case, "" if there is none; or {} without a device.
    """
    known = {row.ep_name for row in onnxruntime.get_ep_devices()}
    onnxruntime.register_execution_provider_library(ep.get_ep_name(), ep.get_library_path())
    devices = [row for row in onnxruntime.get_ep_devices() if row.ep_name not in known]
    if not devices:
        return {}
    names, named = sorted({row.ep_name for row in devices}), sorted(ep.get_ep_names())
    wrong = {"names": "" if names == named else f"the devices are for {names}, but get_ep_names() returns {named}"}
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices(devices[:1], {})
    # By default, onnxruntime creates a failed session again on the CPU, and the second error hides the first one.
    session = onnxruntime.InferenceSession(MODEL, options, enable_fallback=0)
    computed, expected = session.run(None, {"a": A, "b": B})[0].tolist(), np.maximum(A * B, 0).tolist()
    wrong["numbers"] = "" if computed == expected else f"computed {computed}, expected {expected}"
    del session, options, devices
    gc.collect()
    onnxruntime.unregister_execution_provider_library(ep.get_ep_name())
    return wrong


def main(words=None):
    """Write the result, as https://github.com/latebind/latebind/blob/main/docs/consumers.md describes it."""
    parser = argparse.ArgumentParser(allow_abbrev=False)  # --runtime is not short for --runtime-path
    parser.add_argument("--out", type=Path)
    given, _ = parser.parse_known_args(words)
    wrong = cases()
    result = {
        "report": {"version": onnxruntime.__version__},
        "libraries": [ep.get_library_path()],
        "no_device": "" if wrong else f"{ep.get_ep_name()} found no device",
        "passed": [name for name, message in wrong.items() if not message],
        "failed": [{"name": name, "message": message} for name, message in wrong.items() if message],
    }
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
