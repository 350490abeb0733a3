// The Node consumer that `latebind verify` runs: ONNX's node tests through @latenn/core.
//
//     node smoke.mjs --cases FOLDER --out RESULT.json [--runtime-path P] [--runtime-minimum V] [--sample N]
//
// Types that JavaScript has no numbers for are compared by their bytes.

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { LatennError, elementTypes, load } from '@latenn/core';

const OWN = /\.so|\.dylib$|\.dll$/i;
const NUMBERS = {
  float32: Float32Array, uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array,
  int64: BigInt64Array, bool: Uint8Array, float64: Float64Array, uint32: Uint32Array, uint64: BigUint64Array,
  complex64: Float32Array, complex128: Float64Array,
};

const { values: words } = parseArgs({
  options: {
    cases: { type: 'string' },
    out: { type: 'string' },
    runtime: { type: 'string' },
    'runtime-path': { type: 'string' },
    'runtime-minimum': { type: 'string' },
    sample: { type: 'string', default: '0' },
  },
});
const document = JSON.parse(fs.readFileSync(path.join(words.cases, 'cases.json'), 'utf8'));
const blob = fs.readFileSync(path.join(words.cases, 'cases.bin'));
const options = { runtimePath: words['runtime-path'], runtimeMinimum: words['runtime-minimum'] };
// For a session of each of 1,300 cases, threads of its own are a third of all work. Samples have them.
if (words.sample === '0') options.options = { intra_op_num_threads: 1 };

function part([offset, size]) {
  return Uint8Array.from(blob.subarray(offset, offset + size));
}

function tensor(row) {
  const type = elementTypes[row.type];
  const bytes = part(row.data);
  if (type !== 'string') return { type, shape: row.shape, data: new (NUMBERS[type] || Uint8Array)(bytes.buffer) };
  const ends = Array.from(new BigInt64Array(part(row.offsets).buffer), Number);
  const text = Buffer.from(bytes);
  return { type, shape: row.shape, data: ends.slice(1).map((end, index) => text.toString('utf8', ends[index], end)) };
}

// IEEE 754 half precision, which Node has no array for.
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

// The 8-bit types that have several NaNs, of which any will do.
const NOT_A_NUMBER = {
  float8e4m3fn: (bits) => (bits & 127) === 127,
  float8e5m2: (bits) => (bits & 124) === 124 && (bits & 3) !== 0,
};
const WIDER = {
  float16: half,
  bfloat16: (bits) => new Float32Array(new Uint32Array([bits << 16]).buffer)[0],
};

function plain({ type, data }) {
  if (type in NOT_A_NUMBER) return { list: Array.from(data, (bits) => (NOT_A_NUMBER[type](bits) ? NaN : bits)) };
  if (!(type in WIDER)) return { real: /^(float(32|64)|complex)/.test(type), list: data };
  return { real: true, list: Array.from(new Uint16Array(data.slice().buffer), WIDER[type]) };
}

// NumPy's assert_allclose: |got - want| <= atol + rtol * |want|.
function agree(got, want, rtol, atol) {
  if (got.type !== want.type || String(got.shape) !== String(want.shape)) {
    throw new Error(`${got.type}[${got.shape}], expected ${want.type}[${want.shape}]`);
  }
  const [mine, theirs] = [plain(got), plain(want)];
  if (mine.list.length !== theirs.list.length) throw new Error(`${mine.list.length} elements, not ${theirs.list.length}`);
  for (let index = 0; index < theirs.list.length; index += 1) {
    const [a, b] = [mine.list[index], theirs.list[index]];
    const equal = Object.is(a, b) || a === b;
    if (!equal && !(mine.real && Math.abs(a - b) <= atol + rtol * Math.abs(b))) {
      throw new Error(`element ${index} is ${a}, expected ${b}`);
    }
  }
}

function tried(row) {
  const model = load(part(row.model), options);
  try {
    for (const set of row.sets) {
      const inputs = Object.fromEntries(set.inputs.map((one) => [one.name, tensor(one)]));
      const outputs = Object.values(model.run(inputs));
      if (outputs.length !== set.outputs.length) throw new Error(`${outputs.length} outputs, not ${set.outputs.length}`);
      set.outputs.forEach((one, index) => agree(outputs[index], tensor(one), row.rtol, row.atol));
    }
  } finally {
    model.close();
  }
}

// Mapped files of latenn and the runtime; nothing without /proc.
function libraries() {
  if (!fs.existsSync('/proc/self/maps')) return [];
  const lines = fs.readFileSync('/proc/self/maps', 'utf8').split('\n');
  const files = new Set(lines.map((line) => line.split(/\s+/).slice(5).join(' ')).filter((file) => OWN.test(file)));
  return [...files].filter((file) => /latenn|onnxruntime/.test(path.basename(file))).sort();
}

function verified() {
  const count = Number(words.sample);
  const every = document.cases;
  const rows = count > 0 && count < every.length
    ? Array.from({ length: count }, (_, index) => every[Math.floor((index * every.length) / count)]) : every;
  let report;
  try {
    const first = load(part(rows[0].model), options);
    report = first.report;
    first.close();
  } catch (error) {
    if (!(error instanceof LatennError)) throw error;
    return [{ error: { message: error.message, code: error.code, report: error.report } }, 3];
  }
  const result = { report, passed: [], failed: [], out_of_scope: document.out_of_scope };
  for (const row of rows) {
    try {
      tried(row);
      result.passed.push(row.name);
    } catch (error) {
      result.failed.push({ name: row.name, message: String(error.message).slice(0, 600) });
    }
  }
  return [{ ...result, libraries: libraries() }, Number(result.failed.length > 0)];
}

const [result, status] = verified();
fs.writeFileSync(words.out, JSON.stringify(result));
process.exitCode = status;
