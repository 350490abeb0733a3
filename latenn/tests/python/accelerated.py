"""Runs of a model as a builtin, or by ctypes, on whatever Python this is: the same results, errors and owners.

    python accelerated.py FOLDER "in use" [RUNTIME]

FOLDER has the models of `models.write_portable`. Needs NumPy, latenn and a runtime; prints `well` at the end.
"""

from __future__ import annotations

import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import latenn

FOLDER, TOLD = Path(sys.argv[1]), sys.argv[2]
CHOICE = {"runtime_path": sys.argv[3]} if len(sys.argv) > 3 else {}


def load(name):
    return latenn.load(FOLDER / f"{name}.onnx", **CHOICE)


def crowd(work, count=8):
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))


def test_it_is_told_and_true():
    accelerator = latenn.runtime_report(**CHOICE)["accelerator"]
    assert accelerator.startswith(TOLD), accelerator
    builtin = type(len)
    assert (type(load("small").run) is builtin) == (TOLD == "in use")


def test_results_are_right_new_writable_and_outlive_the_model():
    for name, shape in (
        ("small", (2, 3)),
        ("open", (4, 3)),
        ("open", (0, 3)),
        ("large", (300, 400)),
        ("wide", (70000,)),
    ):
        model = load(name)
        first = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        got = model.run({"x": first})["y"]
        other = model.run({"x": -first})["y"]
        model.close()
        del model
        gc.collect()
        assert type(got) is np.ndarray, type(got)
        assert got.dtype == np.float32
        assert got.shape == shape
        assert got.flags.writeable
        assert got.flags.c_contiguous
        assert np.array_equal(got, np.maximum(first, 0)), name
        assert np.array_equal(other, np.maximum(-first, 0)), name
        got[...] = 7
        assert np.array_equal(other, np.maximum(-first, 0)), name
        other.resize(shape, refcheck=False) if other.base is None else None


def test_every_plain_type_of_every_rank():
    for path in sorted(FOLDER.glob("same_*.onnx")):
        _, name, rank = path.stem.split("_")
        dtype, shape = np.dtype(name), {"0": (), "1": (5,), "3": (2, 3, 4)}[rank]
        with load(path.stem) as model:
            array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
            got = model.run({"x": array})["y"]
            assert (got.dtype, got.shape) == (dtype, shape)
            assert np.array_equal(got, array)


def assert_refused(call, *texts, kind=latenn.InvalidArgumentError):
    try:
        call()
    except kind as error:
        assert all(text in str(error) for text in texts), error  # noqa: PT017  # there is no pytest there
    else:
        raise AssertionError(f"nothing was refused: {texts}")


def test_what_does_not_fit_is_refused_in_the_usual_words():
    good = np.ones((2, 3), np.float32)
    wrong = (
        ({}, "input 'x' is missing"),
        ({"z": good}, "unknown input 'z'"),
        ({"x": good, "z": good}, "unknown input 'z'"),
        ({"x": good.astype(np.float64)}, "float64", "astype"),
        ({"x": good.astype(">f4")}, ">f4"),
        ({"x": good.T}, "[2, 3]", "[3, 2]"),
        ({"x": good[0]}, "[2, 3]", "[3]"),
        ({"x": np.ma.masked_array(good, mask=good > 0)}, "masked"),
    )
    with load("small") as model:
        for inputs, *texts in wrong:
            assert_refused(partial(model.run, inputs), *texts)
        for arguments in ((), ({"x": good}, None, 1)):
            assert_refused(partial(model.run, *arguments), kind=TypeError)
        assert_refused(partial(model.run, {"x": good}, 1), "options is 1; make them with model.run_options()")
        assert np.array_equal(model.run({"x": good})["y"], good)
    assert_refused(lambda: model.run({"x": good}), "the model is closed")


def test_what_can_be_taken_is_taken_in_every_form():
    class Mine(dict):
        pass

    good = np.arange(6, dtype=np.float32).reshape(2, 3)
    fixed = good.copy()
    fixed.flags.writeable = False
    with load("small") as model:
        for value in (
            good,
            fixed,
            np.asfortranarray(good),
            np.repeat(good, 2, axis=1)[:, ::2],
            np.ascontiguousarray(good[::-1])[::-1],
            good.tolist(),
            memoryview(good),
        ):
            for inputs in ({"x": value}, Mine(x=value)):
                assert np.array_equal(model.run(inputs)["y"], good)
                assert np.array_equal(model.run(inputs=inputs)["y"], good)


def test_nothing_is_held_longer_than_a_run():
    for name, shape in (("small", (2, 3)), ("large", (300, 400)), ("open", (9, 3))):
        with load(name) as model:
            array = np.ones(shape, np.float32)
            inputs = {"x": array}
            wrong = {"x": array.astype(np.float64)}
            before = None
            for _ in range(50):
                model.run(inputs)
                assert_refused(partial(model.run, wrong), "float64")
                counts = [
                    sys.getrefcount(value) for value in (array, inputs, np.dtype(np.float32), model.run, wrong["x"])
                ]
                before = before or counts
            assert counts == before, (before, counts)
            gone = weakref.ref(array)
            del array, inputs
            assert gone() is None
            output = model.run({"x": np.ones(shape, np.float32)})["y"]
            gone = weakref.ref(output)
            del output
            assert gone() is None


def test_run_alone_keeps_the_model():
    run = load("small").run
    gc.collect()
    assert run({"x": np.ones((2, 3), np.float32)})["y"].sum() == 6


def test_threads_have_their_own_runs():
    def work(model, shape, number):
        array = np.full(shape, number + 1, np.float32)
        for _ in range(100):
            assert model.run({"x": array})["y"].ravel()[-1] == number + 1

    for name, shape in (("small", (2, 3)), ("open", (5, 3)), ("large", (300, 400))):
        with load(name) as model:
            crowd(partial(work, model, shape))


def test_a_model_of_several_ports_gives_them_by_name_in_order():
    with load("ports") as model:
        left, right = np.full((2, 4), 1, np.float32), np.full((2, 4), 2, np.float32)
        got = model.run({"right": right, "left": left})
        assert list(got) == ["twice", "sum"]
        assert got["sum"].tolist() == [[3] * 4] * 2
        assert got["twice"].tolist() == [[6] * 4] * 2


def test_a_failure_of_the_runtime_is_raised_and_the_next_run_is_well():
    with load("gather") as model:
        for _ in range(20):
            assert model.run({"x": np.array([1], np.int64)})["y"].tolist() == [20]
            assert_refused(
                lambda: model.run({"x": np.array([9], np.int64)}), "failed to compute", kind=latenn.LatennError
            )


def test_outputs_may_have_other_shapes_than_the_model_says():
    for name, width in (("untrue", 3), ("untrue_large", 300)):
        with load(name) as model:
            for height in (100, 4, 100, 7, 7, 0):
                array = np.full((height, width), height, np.float32)
                assert np.array_equal(model.run({"x": array})["y"], array), (name, height)


def test_a_dimension_that_the_model_calls_as_an_inputs_may_be_another():
    with load("doubled") as model:
        for height in (100, 4, 100, 7, 7, 0, 100):
            array = np.full((height, 300), height, np.float32)
            assert np.array_equal(model.run({"x": array})["y"], np.concatenate([array, array])), height


def test_a_dimension_that_was_an_inputs_once_may_be_another_later():
    with load("nonzero_said_full") as model:
        for step in (1, 1, 3, 1, 2, 30000, 1):
            array = np.zeros(30000, np.float32)
            array[::step] = 1
            assert model.run({"x": array})["y"].tolist() == [list(range(0, 30000, step))], step


def test_memory_is_written_again_only_when_nobody_looks_at_it():
    for name, shape in (("large", (300, 400)), ("wide", (120000,))):
        with load(name) as model:
            give = np.ones(shape, np.float32)
            model.run({"x": give})
            addresses = set()
            for _ in range(50):
                result = model.run({"x": give})["y"]
                addresses.add(result.ctypes.data)
            assert len(addresses) == 2 or TOLD != "in use", (name, addresses)
            views = [model.run({"x": give * number})["y"][100:].T for number in range(20)]
            again = [model.run({"x": give * -1})["y"] for _ in range(20)]
            assert [view.flat[0] for view in views] == list(range(20))
            assert all((result == 0).all() for result in again)
            del again
            gc.collect()
            assert (model.run({"x": give * 3})["y"] == 3).all()
            assert [view.flat[0] for view in views] == list(range(20))


def test_memory_of_several_shapes_in_turn():
    with load("wide") as model:
        results = []
        for number in range(60):
            size = (5000, 120000, 9000, 400000, 3, 0)[number % 6]
            results = [*results, model.run({"x": np.full(size, number, np.float32)})["y"]][-(number % 4 + 1) :]
            sizes = [(result.size, set(result.tolist())) for result in results if result.size]
            assert all(len(values) == 1 for _, values in sizes), sizes
            assert results[-1].shape == (size,)


def test_a_shape_that_only_the_numbers_tell_may_change_from_run_to_run():
    with load("nonzero") as model:
        for size in (6, 20000):
            for step in (2, 2, 3, 1, 5, size, 2):
                array = np.zeros(size, np.float32)
                array[::step] = 1
                got = model.run({"x": array})["y"]
                assert got.dtype == np.int64
                assert got.tolist() == [list(range(0, size, step))]


def test_results_stay_as_they_are_whoever_looks_at_them():
    for name, shape in (("small", (2, 3)), ("open", (4, 3)), ("large", (300, 400)), ("wide", (70000,))):
        with load(name) as model:
            views = []
            for number in range(1, 13):
                result = model.run({"x": np.full(shape, number, np.float32)})["y"]
                views.append((result, result[1:], result.T, memoryview(result), result.view(np.int32))[number % 5])
            for number, view in enumerate(views, 1):
                array = np.asarray(view)
                values = array.view(np.float32) if array.dtype == np.int32 else array
                assert (values == number).all(), (name, number)
            state = np.full(shape, 1, np.float32)
            for _ in range(5):
                state = model.run({"x": state})["y"]  # what was given out goes in
            assert (state == 1).all()


def bind_arrays(name, shape):
    binding, source, taken = load(name).bind(), np.zeros(shape, np.float32), np.empty(shape, np.float32)
    binding.inputs["x"], binding.outputs["y"] = source, taken
    return binding, source, taken


def test_a_bound_run_sees_every_change_and_gives_what_is_bound():
    for name, shape in (("small", (2, 3)), ("open", (4, 3)), ("large", (300, 400))):
        binding, source, taken = bind_arrays(name, shape)
        assert (type(binding.run) is type(len)) == (TOLD == "in use")
        for number in range(1, 6):
            source[...] = number
            results = binding.run()
            assert list(results) == ["y"]
            assert results["y"] is taken
            assert (taken == number).all()
            results.clear()  # a dict of the caller's own
        other = np.full(shape, 9, np.float32)
        binding.inputs["x"] = other
        assert (binding.run()["y"] == 9).all()
        del binding.outputs["y"]
        assert binding.run()["y"] is not taken
        binding.outputs["y"] = source
        for _ in range(3):
            assert binding.run()["y"] is source
        assert (source == 9).all()


def test_a_bound_run_takes_nothing_and_ends_with_its_model():
    binding, _, _ = bind_arrays("small", (2, 3))
    for _ in range(3):
        binding.run()
        assert_refused(lambda: binding.run(None, 1), kind=TypeError)
        assert_refused(lambda: binding.run(1), "options is 1; make them with model.run_options()")
    binding._bound._model.close()
    for _ in range(2):
        assert_refused(binding.run, "the model is closed")


def test_a_bound_run_that_fails_leaves_the_next_one_well():
    binding = load("gather").bind()
    where, taken = np.array([1], np.int64), np.empty(1, np.int64)
    binding.inputs["x"], binding.outputs["y"] = where, taken
    for _ in range(20):
        where[0] = 1
        assert binding.run()["y"].tolist() == [20]
        where[0] = 9
        assert_refused(binding.run, "failed to compute", kind=latenn.LatennError)


def test_a_bound_run_holds_what_is_bound_and_nothing_else():
    binding, source, taken = bind_arrays("small", (2, 3))
    run, before = binding.run, None
    for _ in range(50):
        run()
        counts = [sys.getrefcount(value) for value in (source, taken, run)]
        before = before or counts
    assert counts == before, (before, counts)
    gone = [weakref.ref(source), weakref.ref(taken)]
    del binding, source, taken
    gc.collect()
    assert (run()["y"] == 0).all()  # the run alone keeps the rest
    del run
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_a_binding_is_for_one_thread_at_a_time_also_while_it_is_changed():
    binding, source, _ = bind_arrays("large", (300, 400))
    source[...] = 1
    refusals = []

    def work(number):
        rounds = 0
        while rounds < 200 or not refusals:
            rounds += 1
            try:
                if number == 3:
                    binding.inputs["x"] = source
                else:
                    assert (binding.run()["y"] == 1).all()
            except latenn.InvalidArgumentError as error:
                refusals.append(str(error))

    crowd(work, 4)
    assert set(refusals) == {"the binding is in use by another thread. Give every thread its own."}
    assert (binding.run()["y"] == 1).all()


for test in [value for name, value in sorted(globals().items()) if name.startswith("test_")]:
    test()
print("well")  # what the test waits for
