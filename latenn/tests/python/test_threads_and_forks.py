"""Many threads, forked children, subinterpreters, coroutines: runs go well, or are refused in words."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import Future

import models
import numpy as np
import pytest
from python.running import in_process

from tests.support.building import runtime_library
from tests.support.programs import run_checked

BOTH = pytest.mark.parametrize("accelerator", ["0", "1"])

FORK = """
import latenn, numpy, os, sys
given = {{"x": numpy.ones((2, 3), "f4")}}
model = latenn.load({model!r}, options={options!r})
model.run(given)
binding = model.bind()
binding.inputs["x"] = given["x"]
tensor = binding.run()["y"]  # both are still there when the child ends
array = numpy.asarray(tensor)
sys.stdout.flush()
child = os.fork()
if not child:
    try:
        print("computed", model.run(given)["y"].sum())
    except latenn.UnsupportedError as error:
        print(error)
    model.close()
    print("anew", latenn.load({model!r}).run(given)["y"].sum(), flush=True)
    sys.exit(3)
print("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), model.run(given)["y"].sum())
"""


@BOTH
@pytest.mark.parametrize("shape", [(2, 3), (2, "n")])
def test_a_forked_child_is_told_to_load_the_model_itself(latenn_site, accelerator, shape):
    code = FORK.format(model=models.relu(2, shape), options={"intra_op_num_threads": 4})
    done = in_process(latenn_site, code, LATENN_ACCELERATOR=accelerator)
    refusal, anew, parent = done.stdout.splitlines()
    assert "before this process was forked" in refusal
    assert (anew, parent) == ("anew 6.0", "parent 3 6.0"), done.stderr


@BOTH
def test_a_model_without_threads_of_its_own_survives_a_fork(latenn_site, accelerator):
    code = FORK.format(model=models.relu(2, (2, 3)), options={"intra_op_num_threads": 1})
    done = in_process(latenn_site, code, LATENN_ACCELERATOR=accelerator)
    assert done.stdout.splitlines() == ["computed 6.0", "anew 6.0", "parent 3 6.0"], done.stderr


LETTING_GO = """
import gc, latenn, numpy, os, sys
model = latenn.load({model!r}, options={{"intra_op_num_threads": 4}})
binding = model.bind()
binding.inputs["x"] = numpy.ones((2, 3), "f4")
tensor = binding.run()["y"]
kept = {kept}
model.close()
del model{forgotten}
gc.collect()
child = os.fork()
if not child:
    del kept
    gc.collect()
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@BOTH
@pytest.mark.parametrize(
    ("holder", "forgotten"),
    [("binding", ", tensor"), ("tensor", ", binding"), ("numpy.asarray(tensor)", ", tensor, binding")],
)
def test_the_last_holder_of_a_model_lets_go_in_a_child_that_ends_by_exit(latenn_site, accelerator, holder, forgotten):
    code = LETTING_GO.format(model=models.relu(2, (2, 3)), kept=holder, forgotten=forgotten)
    done = in_process(latenn_site, code, LATENN_ACCELERATOR=accelerator)
    assert done.stdout == "3\n", done.stderr


HANDLERS = """
#include <stdlib.h>
#include <unistd.h>
static void say(const char* text, size_t size) { if (write(1, text, size) < 0) _exit(9); }
static void first(void) { say("registered first\\n", 17); }
static void last(void) { say("registered last\\n", 16); }
static void status(int code, void* unused) { (void)unused; say(code == 3 ? "3\\n" : "?\\n", 2); }
__attribute__((constructor)) static void begin(void) { on_exit(status, 0); atexit(first); }
__attribute__((destructor)) static void unload(void) { say("destructor\\n", 11); }
void end(void) { atexit(last); }
"""

ENDING = """
import atexit, ctypes, os, sys
library = ctypes.CDLL({library!r})  # its handlers come before those of the runtime, which run later
atexit.register(lambda: print("Python's", flush=True))
import latenn
model = latenn.load({model!r}, options={{"intra_op_num_threads": {threads}}})
library.end()
if os.fork():
    code = os.waitstatus_to_exitcode(os.wait()[1])
    os.write(1, b"parent %d\\n" % code)
    os._exit(0)
sys.exit(3)
"""


@pytest.fixture(scope="module")
def handlers(tmp_path_factory):
    """A library of the host with exit handlers of each kind."""
    folder = tmp_path_factory.mktemp("handlers")
    (folder / "handlers.c").write_text(HANDLERS, encoding="utf-8")
    library = folder / "libhandlers.so"
    command = [sys.executable, "-m", "ziglang", "cc", "-D_GNU_SOURCE", "-fPIC", "-shared", "-o", library]
    run_checked(*command, folder / "handlers.c")
    return str(library)


@pytest.mark.skipif(sys.platform != "linux", reason="not run: on_exit() is of glibc")
@pytest.mark.parametrize("threads", [1, 4])
def test_every_exit_handler_of_the_host_runs_in_a_forked_child(latenn_site, handlers, threads):
    done = in_process(latenn_site, ENDING.format(library=handlers, model=models.relu(2, (2, 3)), threads=threads))
    expected = ["Python's", "registered last", "registered first", "3", "destructor", "parent 3"]
    assert done.stdout.splitlines() == expected, done.stderr


BARE = """
import ctypes, os, sys, time
runtime = ctypes.CDLL({path!r})
runtime.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p)
api = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(runtime.OrtGetApiBase()[0])(19)
create = ctypes.cast(api, ctypes.POINTER(ctypes.c_void_p))[3]  # CreateEnv
env = ctypes.c_void_p()
ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(create)(4, b"", ctypes.addressof(env))
time.sleep(1)  # until its thread waits
child = os.fork()
if not child:
    sys.exit(3)
time.sleep(3)
if not os.waitpid(child, os.WNOHANG)[0]:
    print("hangs")
    os.kill(child, 9)
os._exit(0)
"""


def test_without_latenn_such_a_child_of_a_new_runtime_never_ends(latenn_site):
    """The control: what `ort_guard_end` is there for. Where it ends by itself, the tests above prove less."""
    done = in_process(latenn_site, BARE.format(path=str(runtime_library())))
    if done.stdout != "hangs\n":
        pytest.skip(f"not run: this runtime, or CI, has no thread that a child could wait for: {done.stderr}")


THREADS = """
import latenn, numpy, sys, threading
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
wrong = []
def work(model, number, count):
    given = numpy.full((2, 3), number, "f4")
    for _ in range(count):
        if model.run({{"x": given}})["y"][1, 2] != number:
            wrong.append(number)
def crowd(model, count):
    threads = [threading.Thread(target=work, args=(model, number, count)) for number in range(64)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
model = latenn.load({model!r}, options={{"intra_op_num_threads": 1}})
crowd(model, 50)
before = resident()
crowd(model, {count})
print(wrong, (resident() - before) >> 20)
"""


@BOTH
@pytest.mark.parametrize("shape", [(2, 3), (2, "n")])
@pytest.mark.parametrize("count", [200, pytest.param(2_500, marks=pytest.mark.slow)])
def test_64_threads_share_a_model_and_memory_stays(latenn_site, accelerator, shape, count):
    code = THREADS.format(model=models.relu(1, shape), count=count)
    done = in_process(latenn_site, code, LATENN_ACCELERATOR=accelerator)
    wrong, grown = done.stdout.rsplit(maxsplit=1)
    assert wrong == "[]", done.stderr
    assert int(grown) <= 8, "MB more after all runs: 53 bytes that each of 160,000 leaves behind"


def test_runs_in_the_background_are_awaited_or_waited_for(latenn):
    batches = [{"x": np.full((2, 3), number, np.float32)} for number in range(5)]

    async def all_of(model):
        return await asyncio.gather(*(model.run_async(inputs) for inputs in batches))

    with latenn.load(models.relu(1, (2, 3))) as model:
        future = model.run_async(batches[4])
        assert isinstance(future, Future)
        assert future.result(10)["y"].sum() == 24
        assert [outputs["y"].sum() for outputs in asyncio.run(all_of(model))] == [0, 6, 12, 18, 24]


def test_an_error_in_the_background_is_raised_where_it_is_waited_for(latenn):
    with latenn.load(models.relu(1, (2, 3))) as model:
        future = model.run_async({"z": 1})
        with pytest.raises(latenn.InvalidArgumentError, match="unknown input 'z'"):
            future.result(10)
    with pytest.raises(latenn.InvalidArgumentError, match="the model is closed"):
        asyncio.run(await_run(model))


async def await_run(model):
    return await model.run_async({"x": np.ones((2, 3), np.float32)})
