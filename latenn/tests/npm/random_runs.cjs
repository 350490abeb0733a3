'use strict';

// Runs a model that gives back what it is given, with random inputs, of which many are wrong. The numbers differ from run
// to run, so that an output of another run, or of freed memory, is noticed.

const assert = require('node:assert');

function makeRandom(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function makeInputs(random) {
  const rows = random(4) === 0 ? 5000 : random(4);
  const memory = random(8) === 0 ? new SharedArrayBuffer(rows * 12) : new ArrayBuffer(rows * 12);
  const data = new Float32Array(memory);
  const first = random(1 << 20);
  data.forEach((_, index) => { data[index] = first + index; });
  return {
    numbers: { type: 'float32', shape: [rows, 3], data },
    words: { type: 'string', shape: [2], data: [`${first}`, 'é'.repeat(random(40))] },
    nibbles: { type: 'int4', shape: [3], data: Uint8Array.of(random(256), random(16)) },
  };
}

const CHANGES = [
  (inputs) => { delete inputs.numbers; },
  (inputs) => { delete inputs.nibbles; },
  (inputs) => { inputs.numbers.shape = [inputs.numbers.shape[0] + 1, 3]; },
  (inputs) => { inputs.words.data = ['one']; },
  (inputs) => { inputs.nibbles.data = [1, 2]; },
  (inputs) => { inputs.nibbles.type = 'uint4'; },
  (inputs) => { inputs.numbers.data = new Proxy(inputs.numbers.data, {}); },
  (inputs) => { inputs.numbers.shape = [2 ** 40, 2 ** 40]; },
  (inputs) => { Object.defineProperty(inputs, 'words', { enumerable: true, get() { gc(); throw new Error('getter'); } }); },
  ({ numbers, nibbles }, inputs) => {
    const change = () => {
      if (!(numbers.data.buffer instanceof SharedArrayBuffer)) structuredClone(0, { transfer: [numbers.data.buffer] });
      gc();
      return nibbles.data;
    };
    inputs.nibbles = { ...nibbles, get data() { return change(); } };
  },
];

function check(outputs, inputs) {
  for (const name of Object.keys(inputs)) {
    assert.deepStrictEqual(outputs[name].shape, inputs[name].shape);
    const { data } = inputs[name];
    assert.deepStrictEqual(Array.from(outputs[name].data), data.length ? Array.from(data) : []); // moved away: 0 rows
  }
}

function main(latenn, path, backend, count) {
  const random = makeRandom(20);
  const totals = { right: 0, errors: 0 };
  let model = latenn.load(path, { backend });
  for (let index = 0; index < Number(count); index += 1) {
    const inputs = makeInputs(random);
    if (random(2)) CHANGES[random(CHANGES.length)](inputs, inputs);
    let outputs = null;
    try {
      outputs = model.run(inputs);
    } catch (error) {
      totals.errors += 1;
    }
    if (random(5) === 0) gc();
    if (outputs) {
      check(outputs, inputs);
      totals.right += 1;
    }
    if (random(200) === 0) {
      model.close();
      model = latenn.load(path, { backend });
    }
  }
  console.log(totals.right, totals.errors);
}

module.exports = { main };
