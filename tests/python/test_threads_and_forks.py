"""Many threads, forked children, subinterpreters, coroutines: runs go well, or are refused in words."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

import numpy as np
import pytest

from tests.python import models
from tests.python.test_latenn import in_process

BOTH = pytest.mark.parametrize("accelerator", ["0", "1"])

FORK = """
import latenn, numpy, os, sys
given = {{"x": numpy.ones((2, 3), "f4")}}
model = latenn.load({model!r}, options={options!r})
model.run(given)
sys.stdout.flush()
child = os.fork()
if not child:
    try:
        print("computed", model.run(given)["y"].sum())
    except latenn.UnsupportedError as error:
        print(error)
    model.close()
    print("anew", latenn.load({model!r}).run(given)["y"].sum(), flush=True)
    os._exit(3)  # as multiprocessing does: by sys.exit() it hung, and why is not known yet
print("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), model.run(given)["y"].sum())
"""


@BOTH
@pytest.mark.parametrize("shape", [(2, 3), (2, "n")])
def test_a_forked_child_is_told_to_load_the_model_itself(site, accelerator, shape):
    code = FORK.format(model=models.relu(2, shape), options={"intra_op_num_threads": 4})
    done = in_process(site, code, LATENN_ACCELERATOR=accelerator)
    refusal, anew, parent = done.stdout.splitlines()
    assert "before this process was forked" in refusal
    assert (anew, parent) == ("anew 6.0", "parent 3 6.0"), done.stderr


@BOTH
def test_a_model_without_threads_of_its_own_survives_a_fork(site, accelerator):
    code = FORK.format(model=models.relu(2, (2, 3)), options={"intra_op_num_threads": 1})
    done = in_process(site, code, LATENN_ACCELERATOR=accelerator)
    assert done.stdout.splitlines() == ["computed 6.0", "anew 6.0", "parent 3 6.0"], done.stderr


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
@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_64_threads_share_a_model_and_memory_stays(site, accelerator, shape, count):
    code = THREADS.format(model=models.relu(1, shape), count=count)
    done = in_process(site, code, LATENN_ACCELERATOR=accelerator)
    wrong, grown = done.stdout.rsplit(maxsplit=1)
    assert wrong == "[]", done.stderr
    assert int(grown) <= 8, "MB more after all runs"


def test_runs_in_the_background_are_awaited_or_waited_for(latenn):
    given = [{"x": np.full((2, 3), number, np.float32)} for number in range(5)]

    async def all_of(model):
        return await asyncio.gather(*(model.run_async(inputs) for inputs in given))

    with latenn.load(models.relu(1, (2, 3))) as model:
        future = model.run_async(given[4])
        assert isinstance(future, Future)
        assert future.result(10)["y"].sum() == 24
        assert [row["y"].sum() for row in asyncio.run(all_of(model))] == [0, 6, 12, 18, 24]


def test_an_error_in_the_background_is_raised_where_it_is_waited_for(latenn):
    with latenn.load(models.relu(1, (2, 3))) as model:
        future = model.run_async({"z": 1})
        with pytest.raises(latenn.InvalidArgumentError, match="unknown input 'z'"):
            future.result(10)
    with pytest.raises(latenn.InvalidArgumentError, match="the model is closed"):
        asyncio.run(awaited(model))


async def awaited(model):
    return await model.run_async({"x": np.ones((2, 3), np.float32)})
