"""Runs of latenn's npm package: each has its own inputs; a caller's objects may cause an error, but no wrong result."""

from __future__ import annotations

import pytest

from tests.support.building import ROOT

RANDOM = ROOT / "latenn" / "tests" / "npm" / "random_runs.cjs"
BEFORE = """
const latenn = require('@latenn/core');
const [path, backend] = process.argv.slice(1);
const model = latenn.load(path, { backend });
const numbers = (...values) => ({ type: 'float32', shape: [1, 3], data: new Float32Array(values) });
const words = { type: 'string', shape: [2], data: ['a', 'b'] };
const nibbles = { type: 'int4', shape: [3], data: new Uint8Array([0x21, 3]) };
const good = () => ({ numbers: numbers(1, 2, 3), words, nibbles });
const thrown = (work) => { try { work(); return ''; } catch (error) { return error.message; } };
const works = () => Array.from(model.run(good()).numbers.data).join() === '1,2,3';
"""


@pytest.fixture
def js(answer, binding):
    def run_js(program, **options):
        return answer(
            binding.folder, BEFORE + program, binding.model, binding.backend, flags=["--expose-gc"], **options
        )

    return run_js


def test_a_run_after_one_that_threw_has_none_of_its_inputs(js):
    program = """
    const first = thrown(() => model.run({ ...good(), words: { type: 'string', shape: [2], data: 5 } }));
    const second = thrown(() => model.run({ words, nibbles }));
    return [first, second, works()];
    """
    assert js(program) == [
        "the data of input words must be an Array of strings, for the type string",
        'Input "numbers" was not set; the model needs 3 inputs.',
        True,
    ]


def test_a_run_that_the_core_refused_leaves_none_of_its_inputs(js):
    program = """
    const first = thrown(() => model.run({ ...good(), nibbles: { ...nibbles, shape: [9] } }));
    gc();
    return [first, thrown(() => model.run({ nibbles })), works()];
    """
    assert js(program) == [
        'input "nibbles": shape [9] of int4 is 5 bytes; 2 were given.',
        'Input "numbers" was not set; the model needs 3 inputs.',
        True,
    ]


def test_a_getter_may_run_the_same_model(js):
    program = """
    const inner = [];
    const inputs = { get words() { inner.push(model.run({ ...good(), numbers: numbers(7, 8, 9) })); return words; } };
    const outer = model.run({ ...good(), ...{}, __proto__: null, words: inputs.words });
    const both = Object.defineProperty(good(), 'words', Object.getOwnPropertyDescriptor(inputs, 'words'));
    const last = model.run(both);
    return [outer, ...inner, last].map((one) => Array.from(one.numbers.data));
    """
    assert js(program) == [[1, 2, 3], [7, 8, 9], [7, 8, 9], [1, 2, 3]]


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("model.run({ ...good(), get words() { model.close(); return words; } })", "the model is closed"),
        ("model.close(); model.close(); model.run(good())", "the model is closed"),
        ("new latenn.Model(1234)", "load() makes models"),
        ("new latenn.Model(null, 1234, [])", "load() makes models"),
        ("latenn.Model.prototype.run.call({}, good())", "instance of class Model"),
        ("latenn.load({ byteLength: 1 << 20 }, { backend })", "must be a Uint8Array or an ArrayBuffer"),
        ("latenn.load(new Proxy(new Uint8Array(8), {}), { backend })", "must be a Uint8Array or an ArrayBuffer"),
        ("latenn.load(path, { backend: Buffer.from('echo') })", "backend must be a text"),
        ("latenn.load(path, { backend, runtimePath: 'a\\0b' })", "runtimePath must be a text without NUL"),
        ("latenn.load(new Uint8Array(0), { backend })", "the model is empty"),
        ("latenn.load('', { backend })", "the path is empty"),
    ],
)
def test_what_a_model_is_not_is_refused(js, program, says):
    assert says in js(f"return thrown(() => {{ {program} }});".replace("get words", "numbers: numbers(1), get words"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("given.data = new Float32Array(2)", "is 12 bytes; 8 were given"),
        ("given.data = new Proxy(given.data, {})", "must be a Float32Array"),
        ("given.data = { byteLength: 12, __proto__: Float32Array.prototype }", "must be a Float32Array"),
        ("given.data = [1, 2, 3]", "must be a Float32Array"),
        ("given.data = new DataView(new ArrayBuffer(12))", "must be a Float32Array"),
        ("structuredClone(0, { transfer: [given.data.buffer] })", "is 12 bytes; 0 were given"),
        ("given.shape = [1, 3.5]", "dimension 1 of input numbers is not a whole number"),
        ("given.shape = [1, 2n ** 64n + 3n]", "dimension 1 of input numbers is not a whole number"),
        ("given.shape = [-1, 3]", "has a negative dimension"),
        ("given.shape = new Array(1e9)", "has 1000000000 dimensions"),
        ("given.shape = [2 ** 53 - 1, 3]", "108086391056891892 bytes; 12 were given"),
        ("given.type = 'int64'", "must be a BigInt64Array"),
        ("inputs.words = { ...words, data: ['a', 5] }", "must be an Array of strings"),
        ("inputs.words = { ...words, data: ['a'] }", "input words has 1 strings; its shape [2] has 2"),
        ("inputs.numbers = null", "must be { type, shape, data }"),
        ("inputs.other = given", "other is not an input of the model"),
    ],
)
def test_a_wrong_input_is_an_error_and_the_next_run_works(js, change, says):
    program = f"""
    const inputs = good();
    const given = inputs.numbers;
    {change};
    return [thrown(() => model.run(inputs)), works()];
    """
    message, right = js(program)
    assert says in message
    assert right


def test_what_a_later_getter_does_to_an_earlier_input_is_seen(js):
    program = """
    const memory = new ArrayBuffer(12, { maxByteLength: 1 << 20 });
    const resized = { type: 'float32', shape: [1, 3], data: new Float32Array(memory) };
    const moved = numbers(1, 2, 3);
    const run = (given, work) => thrown(() => model.run({
      numbers: given, get words() { work(); return words; }, nibbles }));
    return [
      run(resized, () => memory.resize(4)),
      run(moved, () => structuredClone(0, { transfer: [moved.data.buffer] })),
      works(),
    ];
    """
    resized, moved, right = js(program)
    assert "is 12 bytes; 4 were given" in resized
    assert "is 12 bytes; 0 were given" in moved
    assert right


def test_what_an_object_says_of_its_own_length_is_not_believed(js):
    program = """
    class Long extends Float32Array { get byteLength() { return 1 << 24; } get length() { return 1 << 22; } }
    const given = { type: 'float32', shape: [1, 3], data: Object.defineProperty(new Long([1, 2, 3]), 'buffer',
      { value: new ArrayBuffer(1) }) };
    return [Array.from(model.run({ ...good(), numbers: given }).numbers.data),
      thrown(() => model.run({ ...good(), numbers: { ...given, shape: [1 << 22, 3] } }))];
    """
    right, message = js(program)
    assert right == [1, 2, 3]
    assert "bytes; 12 were given" in message


def test_shared_memory_and_views_are_read_where_they_are(js):
    program = """
    const shared = new Float32Array(new SharedArrayBuffer(32), 8, 3);
    shared.set([4, 5, 6]);
    const view = new Float32Array(Float32Array.of(0, 7, 8, 9).buffer, 4);
    const wasm = new Float32Array(new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }).buffer, 0, 3);
    return [shared, view, wasm].map((data) => Array.from(
      model.run({ ...good(), numbers: { type: 'float32', shape: [1, 3], data } }).numbers.data));
    """
    assert js(program) == [[4, 5, 6], [7, 8, 9], [0, 0, 0]]


def test_outputs_stay_when_the_model_is_closed(js):
    program = """
    const outputs = model.run(good());
    model.close();
    gc();
    return [Array.from(outputs.numbers.data), outputs.words.data];
    """
    assert js(program) == [[1, 2, 3], ["a", "b"]]


@pytest.mark.parametrize(
    ("sanitizers", "count"),
    [("", 500), pytest.param("address,undefined", 10000, marks=pytest.mark.slow)],
    ids=["plain", "sanitized"],
)
def test_random_runs_are_right_or_an_error(install, start, sanitizers, count):
    app = install(sanitizers)
    variables = {"LD_PRELOAD": app.preload, "ASAN_OPTIONS": "detect_leaks=0"} if app.preload else {}
    program = f"require('{RANDOM}').main(require('@latenn/core'), ...process.argv.slice(1))"
    arguments = [app.model, app.backend, count]
    ended = start(app.folder, program, *arguments, flags=["--expose-gc"], timeout=900, **variables)
    assert ended.returncode == 0, (ended.returncode, ended.stdout[-2000:], ended.stderr[:3000])
    right, errors = map(int, ended.stdout.split())
    assert right + errors == count
    assert min(right, errors) > count / 10
