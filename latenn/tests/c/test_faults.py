"""Every allocation of latenn's and every call of the runtime fails once: reported, released, and fine the next time."""

import sys

import pytest
from c.test_bound import step  # noqa: F401  # a fixture

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: the faults need --wrap of the linker")


@pytest.mark.parametrize(("kind", "least"), [("memory", 50), ("calls", 50)])
def test_each_fault_is_told_and_leaves_nothing_behind(programs, onnxruntime, step, tmp_path, kind, least):  # noqa: F811
    runtime = onnxruntime if kind == "memory" else programs.folder / "faulty" / "libfaulty_runtime.so"
    backend = programs.folder / "faulty" / "liblatenn_backend_onnxruntime.so"
    arguments = (kind, step, runtime, backend, tmp_path / "profile")
    done = programs.run("faults", *arguments, environment={"FAULTY_RUNTIME": str(onnxruntime)})
    assert int(done.stdout) >= least
