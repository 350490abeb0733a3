"""Tensors and capsules in every order of their ends, with a core that is built with the address sanitizer."""

import os
import shutil
import sys
from pathlib import Path

import models
import pytest
from c.building import build_latenn

from tests.support.building import runtime_library, system_compiler
from tests.support.programs import run_program

SOURCES = Path(__file__).resolve().parents[2] / "python"

LIVES = """
import gc, itertools, sys, threading
import numpy as np, latenn
model_bytes = bytes.fromhex(sys.argv[1])

class Old:
    def __init__(self, tensor): self.tensor = tensor
    def __dlpack__(self, **options): return self.tensor.__dlpack__()
    def __dlpack_device__(self): return self.tensor.__dlpack_device__()

def make():
    model = latenn.load(model_bytes)
    binding = model.bind()
    binding.inputs["state"] = np.arange(1, 1001, dtype=np.float32)
    tensor = binding.run()["next"]
    return {
        "model": model, "binding": binding, "tensor": tensor, "array": tensor.numpy(), "new": np.from_dlpack(tensor),
        "old": np.from_dlpack(Old(tensor)), "unused": tensor.__dlpack__(),
        "unused new": tensor.__dlpack__(max_version=(1, 0)),
    }

def last_ones(last):
    names = [name for name in make() if name != last]
    for turn in range(len(names)):
        held = make()
        for name in names[turn:] + names[:turn]:
            del held[name]
            if last == "array" or last in ("new", "old"): assert held[last][-1] == 1001
        held.clear()

for last in ("array", "new", "old", "tensor", "binding", "unused", "unused new"):
    last_ones(last)

def in_thread(held):
    while held: held.pop()
threads = [threading.Thread(target=in_thread, args=(list(make().values()),)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()

shared = make()["tensor"]
def share():
    for _ in range(300):
        shared.__dlpack__(); np.from_dlpack(shared); shared.__dlpack__(max_version=(1, 0)); shared.numpy()
threads = [threading.Thread(target=share) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert shared.numpy()[-1] == 1001

binding = latenn.load(model_bytes).bind()
binding.inputs["state"], binding.outputs["next"] = np.zeros(1000, "f4"), np.zeros(1000, "f4")
binding.feed({"next": "state"})
for _ in range(50): binding.run()
assert binding.run()["next"][0] == 51

class Cycle: pass
cycle = Cycle(); cycle.itself = cycle; cycle.held = make()   # for the interpreter's own end
at_exit = make()
print("lived")
"""

TWICE = """
import sys, latenn, numpy as np
binding = latenn.load(bytes.fromhex(sys.argv[1])).bind()
binding.inputs["state"] = np.ones(4, "f4")
held = binding.run()["next"]._held
held._release(held.pointer)
held._release(held.pointer)
"""


@pytest.fixture(scope="session")
def sanitized_environment(kept_builds, tmp_path_factory):
    """The environment of a Python whose latenn is the sources with libraries built under the sanitizer."""
    compiler, runtime = system_compiler(), runtime_library()
    if compiler is None or runtime is None:
        pytest.skip("not run: there is no C compiler of the machine's own, or no ONNX Runtime: apt-get install gcc")
    asked = run_program(compiler, "-print-file-name=libasan.so")
    library = Path(asked.stdout.strip())
    if not library.is_absolute():
        pytest.skip("not run: the compiler has no libasan to load before Python: apt-get install gcc")
    built = build_latenn(kept_builds, "address,undefined").folder / "latenn"
    site = tmp_path_factory.mktemp("sanitized") / "site"
    for name, part in (("latenn", "core"), ("latenn_onnxruntime", "backend_onnxruntime")):
        shutil.copytree(SOURCES / name / "src" / name, site / name)
        shutil.copy2(built / f"liblatenn_{part}.so", site / name)
    return {
        **os.environ,
        "PYTHONPATH": str(site),
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter keeps what it likes
        "LATENN_BACKEND": str(site / "latenn_onnxruntime" / "liblatenn_backend_onnxruntime.so"),
        "ONNXRUNTIME_LIB_PATH": str(runtime),
    }


def run(environment, code):
    return run_program(sys.executable, "-c", code, models.step().hex(), env=environment, timeout=300)


@pytest.mark.slow
def test_no_order_of_ends_touches_what_is_gone(sanitized_environment):
    done = run(sanitized_environment, LIVES)
    assert (done.returncode, done.stdout, done.stderr) == (0, "lived\n", "")


@pytest.mark.slow
def test_the_sanitizer_would_see_it(sanitized_environment):
    done = run(sanitized_environment, TWICE)
    assert done.returncode != 0
    assert "heap-use-after-free" in done.stderr
