"""What a runtime logs: the host's own sessions as the host wants it, latenn's not at all unless it is asked for."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import models
import numpy as np
import pytest
from onnx import TensorProto, helper
from python.running import python
from python.wrapping import OLDER, install_onnxruntime

from tests.support.building import runtime_library

WARNING = "Removing initializer 'unused'"


def warned_of():
    """A model that ONNX Runtime warns of: an initializer serves nothing."""
    x, y = ((name, TensorProto.FLOAT, [2]) for name in "xy")
    unused = helper.make_tensor("unused", TensorProto.FLOAT, [1], [1.0])
    return models.model([helper.make_node("Neg", ["x"], ["y"])], [x], [y], initializers=[unused])


HOST = """
import ctypes, logging, os, sys
import latenn
path, order, level = sys.argv[1:4]
model = bytes.fromhex(sys.argv[4])
runtime = ctypes.CDLL(path)
runtime.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p)
api = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(runtime.OrtGetApiBase()[0])(19)
table = ctypes.cast(api, ctypes.POINTER(ctypes.c_void_p))
kept = []

def call(slot, *arguments):
    types = [ctypes.c_size_t if isinstance(value, int) else type(value) for value in arguments]
    assert not ctypes.CFUNCTYPE(ctypes.c_void_p, *types)(table[slot])(*arguments)

def host():
    env, options, session = (ctypes.c_void_p() for _ in range(3))
    call(3, int(level), ctypes.c_char_p(b"host"), ctypes.c_void_p(ctypes.addressof(env)))
    call(10, ctypes.c_void_p(ctypes.addressof(options)))
    call(8, env, ctypes.c_char_p(model), len(model), options, ctypes.c_void_p(ctypes.addressof(session)))
    kept.append((env, options, session))

class Lines(logging.Handler):
    def emit(self, record):
        print("logger:", record.levelname, record.getMessage(), file=sys.stderr, flush=True)

def quiet():
    kept.append(latenn.load(model, runtime_path=path))

def logged():
    logger = logging.getLogger("host")
    logger.propagate = False
    logger.handlers = [Lines()]
    kept.append(latenn.load(model, runtime_path=path, logger=logger))

def printed():
    kept.append(latenn.load(model, runtime_path=path, options={"log_severity_level": 2}))

for word in order.split(","):
    print("begin", word, file=sys.stderr, flush=True)
    globals()[word]()
"""


@pytest.fixture(scope="module", params=["newest", OLDER[0]])
def library(request, latenn_site, tmp_path_factory):
    """A runtime's file, and the folders in which latenn is found."""
    if request.param == "newest":
        return runtime_library(), latenn_site
    folder = install_onnxruntime(request.param, tmp_path_factory.mktemp("runtime"))
    (path,) = (Path(folder) / "onnxruntime" / "capi").glob("libonnxruntime.so.*")
    return path, os.pathsep.join((str(folder), str(latenn_site)))


def run_host(library, *order, level=2):
    """What each step printed to stderr, in order."""
    path, latenn_site = library
    done = python(latenn_site, "-c", HOST, path, ",".join(order), level, warned_of().hex())
    assert done.returncode == 0, done.stderr
    return [part.partition("\n")[2] for part in done.stderr.split("begin ")[1:]]


def test_a_host_after_latenn_gets_its_warnings_and_latenn_stays_quiet(library):
    latenn, host, again = run_host(library, "quiet", "host", "quiet")
    assert latenn == again == ""
    assert WARNING in host


def test_a_host_before_latenn_keeps_its_own_level(library):
    host, latenn, after = run_host(library, "host", "quiet", "host", level=4)
    assert (host, latenn, after) == ("", "", "")
    host, latenn, after = run_host(library, "host", "quiet", "host", level=2)
    assert latenn == ""
    assert WARNING in host
    assert WARNING in after


def test_a_logger_gets_the_log_of_its_model_alone(library):
    for order, level in ((("logged", "quiet", "host"), 2), (("host", "logged", "quiet"), 4)):
        parts = dict(zip(order, run_host(library, *order, level=level), strict=True))
        lines = parts["logged"].splitlines()
        assert all(line.startswith("logger: WARNING ") for line in lines), lines
        assert WARNING in parts["logged"]
        assert parts["quiet"] == ""
        assert (WARNING in parts["host"]) == (level == 2)


def test_a_model_that_is_to_print_prints(library):
    (printed,) = run_host(library, "printed")
    assert WARNING in printed


def test_a_logger_hears_what_a_run_says_on_threads_of_the_runtime(latenn, caplog):
    logger = logging.getLogger("latenn.test")
    options = {"log_severity_level": 0, "intra_op_num_threads": 2}
    with (
        caplog.at_level(logging.DEBUG, "latenn.test"),
        latenn.load(warned_of(), options=options, logger=logger) as model,
    ):
        count = len(caplog.records)
        assert count
        model.run({"x": np.ones(2, np.float32)})
    assert len(caplog.records) >= count
    assert {record.name for record in caplog.records} == {"latenn.test"}
    assert all(record.category for record in caplog.records)


def test_what_is_no_logger_is_refused(latenn):
    with pytest.raises(latenn.InvalidArgumentError, match=r"give a logging\.Logger"):
        latenn.load(warned_of(), logger=print)
