'use strict';

// Loads a model and runs it, through latenn.h. Calls are synchronous; nothing is printed.

const koffi = require('koffi');
const places = require('./places.cjs');
const { libraryPath } = require('./latebind.cjs');
const tensors = require('./tensors.cjs');

const ABI = 1;
const c = { loaded: null };

// Types have no names: koffi has one table of names for a process, and test runners load this module several times.
const VOID = koffi.pointer('void');
const VOID_OUT = koffi.out(koffi.pointer(VOID));
const OPTION = koffi.struct({ key: 'str', value: 'str' });
const TENSOR = koffi.struct({
  type: 'int32_t', rank: 'int32_t', shape: VOID, data: VOID, bytes: 'size_t', offsets: VOID,
});
const PORT = koffi.struct({ name: 'str', type: 'int32_t', rank: 'int32_t', shape: VOID, dimensions: VOID });
const LOAD_OPTIONS = koffi.struct({
  size: 'uint32_t', backend: 'str', device: 'str', backend_directories: 'str *', backend_directory_count: 'size_t',
  runtime_path: 'str', runtime_directories: 'str *', runtime_directory_count: 'size_t', runtime_minimum: 'str',
  runtime_advice: 'str', options: koffi.pointer(OPTION), option_count: 'size_t', weights: VOID, weights_size: 'size_t',
  log: VOID, log_user: VOID,
});

const FUNCTIONS = {
  abi: ['uint32_t', []],
  version: ['str', []],
  status_code: ['int', [VOID]],
  status_message: ['str', [VOID]],
  status_report: ['str', [VOID]],
  status_release: ['void', [VOID]],
  load_path: [VOID, ['str', koffi.pointer(LOAD_OPTIONS), VOID_OUT]],
  load_bytes: [VOID, [VOID, 'size_t', koffi.pointer(LOAD_OPTIONS), VOID_OUT]],
  model_release: ['void', [VOID]],
  input_count: ['size_t', [VOID]],
  output_count: ['size_t', [VOID]],
  input: [VOID, [VOID, 'size_t']],
  output: [VOID, [VOID, 'size_t']],
  model_backend: ['str', [VOID]],
  model_report: ['str', [VOID]],
  context_create: [VOID, [VOID, VOID_OUT]],
  context_release: ['void', [VOID]],
  set_input: [VOID, [VOID, 'size_t', koffi.pointer(TENSOR)]],
  compute: [VOID, [VOID]],
  get_output: [VOID, [VOID, 'size_t', koffi.out(koffi.pointer(TENSOR))]],
};

/** A failure of latenn, of a backend or of its runtime. */
class LatennError extends Error {
  constructor(message, code, report) {
    super(message);
    this.name = 'LatennError';
    this.code = code;
    this.report = report;
  }
}

function library() {
  if (c.loaded) return c.loaded;
  const file = libraryPath();
  const opened = koffi.load(file);
  const found = {};
  for (const [name, [result, parameters]] of Object.entries(FUNCTIONS)) {
    found[name] = opened.func(`latenn_${name}`, result, parameters);
  }
  if (found.abi() !== ABI) {
    throw new LatennError(`${file} has interface ${found.abi()}, this package needs ${ABI}. Install it again.`, 0, '');
  }
  c.loaded = found;
  return found;
}

function check(status) {
  if (!status) return;
  const l = library();
  const code = l.status_code(status);
  const text = l.status_message(status);
  const report = l.status_report(status);
  l.status_release(status);
  throw new LatennError(text, code, report);
}

function ports(model, count, port) {
  const found = [];
  for (let index = 0; index < count(model); index += 1) {
    const row = koffi.decode(port(model, index), PORT);
    const shape = row.rank < 0 ? null : tensors.integers(row.shape, row.rank);
    found.push({ name: row.name, type: tensors.typeName(row.type), shape });
  }
  return found;
}

function textOf(name, value) {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.includes('\0')) throw new TypeError(`${name} must be a text without NUL`);
  return value;
}

function optionsOf(given, found) {
  const known = ['backend', 'device', 'runtimePath', 'runtimeMinimum', 'options'];
  for (const key of Object.keys(given)) {
    if (!known.includes(key)) throw new TypeError(`${key} is not an option of load(): use ${known.join(', ')}`);
  }
  const all = found.backends.length ? `${found.backends.map((row) => row.name).join(',')},` : null;
  const minimum = textOf('runtimeMinimum', given.runtimeMinimum);
  const options = Object.entries(given.options || {}).map(([key, value]) => (
    { key: textOf('the key of an option', key) || '', value: textOf(`the option ${key}`, String(value)) || '' }));
  return {
    size: koffi.sizeof(LOAD_OPTIONS),
    backend: textOf('backend', given.backend) || all,
    device: textOf('device', given.device),
    backend_directories: found.backends.map((row) => row.folder),
    backend_directory_count: found.backends.length,
    runtime_path: textOf('runtimePath', given.runtimePath),
    runtime_directories: found.runtimes,
    runtime_directory_count: found.runtimes.length,
    runtime_minimum: minimum,
    runtime_advice: places.advice(minimum),
    options,
    option_count: options.length,
    weights: null, weights_size: 0, log: null, log_user: null,
  };
}

/** A report with the places that this package did not trust. */
function withRefused(report, refused) {
  return refused.length ? { ...report, refused } : report;
}

const FROM_LOAD = Symbol('from load()');
/** Memory that C reads: a variable that is not used again does not protect it from the garbage collector. */
const IN_USE = new Set();

/** A loaded model. Call close() when it is no longer needed. */
class Model {
  #handle;

  #inputs;

  #outputs;

  constructor(token, handle, refused) {
    if (token !== FROM_LOAD) throw new TypeError('load() makes models');
    const l = library();
    this.#handle = handle;
    this.#inputs = ports(handle, l.input_count, l.input);
    this.#outputs = ports(handle, l.output_count, l.output);
    this.inputs = structuredClone(this.#inputs);
    this.outputs = structuredClone(this.#outputs);
    this.backend = l.model_backend(handle);
    this.report = withRefused(JSON.parse(l.model_report(handle) || '{}'), refused);
  }

  /** Computes the outputs, by name, from a tensor for each input, by name. */
  run(inputs) {
    const read = this.#read(inputs);
    if (!this.#handle) throw new LatennError('the model is closed', 1, '');
    // From here on, nothing of the caller's runs that could close the model or take the memory of an input away.
    const natives = read.map((tensor) => tensor && tensors.toNative(tensor));
    const l = library();
    const contexts = [null];
    check(l.context_create(this.#handle, contexts));
    IN_USE.add(natives);
    try {
      return this.#compute(contexts[0], natives);
    } finally {
      l.context_release(contexts[0]);
      IN_USE.delete(natives);
    }
  }

  /** The tensors of the inputs, in the model's order. The caller's getters and proxies may do anything meanwhile. */
  #read(inputs) {
    const names = this.#inputs.map((port) => port.name);
    for (const name of Object.keys(inputs)) {
      if (!names.includes(name)) throw new TypeError(`${name} is not an input of the model: ${names.join(', ')}`);
    }
    // The core reports an input that is missing.
    return names.map((name) => (name in inputs ? tensors.read(name, inputs[name]) : null));
  }

  #compute(context, natives) {
    const l = library();
    natives.forEach((native, index) => {
      if (native) check(l.set_input(context, index, native.tensor));
    });
    check(l.compute(context));
    return Object.fromEntries(this.#outputs.map((port, index) => {
      const output = {};
      check(l.get_output(context, index, output));
      return [port.name, tensors.fromNative(output)];
    }));
  }

  /** Releases the native memory. */
  close() {
    const handle = this.#handle;
    this.#handle = null;
    if (handle) library().model_release(handle);
  }
}

function failure(error, found) {
  if (!(error instanceof LatennError)) return error;
  const report = found.refused.length
    ? JSON.stringify(withRefused(JSON.parse(error.report || '{}'), found.refused)) : error.report;
  return new LatennError(places.withAdvice(found, error.code, error.message), error.code, report);
}

/** Loads a model: the path of a file, or its bytes. */
function load(model, options = {}) {
  const l = library();
  const found = places.findPlaces();
  const native = optionsOf(options, found);
  const source = typeof model === 'string' ? textOf('the path', model) : tensors.bytesOf(model);
  const handles = [null];
  try {
    check(typeof model === 'string' ? l.load_path(source || '', native, handles)
      : l.load_bytes(source, source.length, native, handles));
  } catch (error) {
    throw failure(error, found);
  }
  return new Model(FROM_LOAD, handles[0], found.refused);
}

/** The version of the native library. */
function version() {
  return library().version();
}

module.exports = { load, version, Model, LatennError, elementTypes: tensors.NAMES };
