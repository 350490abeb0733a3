'use strict';

// Loads a model and runs it, through latenn.h. Calls are synchronous; nothing is printed.

const koffi = require('koffi');
const places = require('./places.cjs');
const { libraryPath } = require('./latebind.cjs');
const tensors = require('./tensors.cjs');

const ABI = 1;
const c = { loaded: null };

koffi.struct('latenn_option', { key: 'str', value: 'str' });
koffi.struct('latenn_tensor', {
  type: 'int32_t', rank: 'int32_t', shape: 'void *', data: 'void *', bytes: 'size_t', offsets: 'void *',
});
koffi.struct('latenn_port', {
  name: 'str', type: 'int32_t', rank: 'int32_t', shape: 'void *', dimensions: 'void *',
});
koffi.struct('latenn_load_options', {
  size: 'uint32_t', backend: 'str', device: 'str', backend_directories: 'str *', backend_directory_count: 'size_t',
  runtime_path: 'str', runtime_directories: 'str *', runtime_directory_count: 'size_t', runtime_minimum: 'str',
  runtime_advice: 'str', options: 'latenn_option *', option_count: 'size_t', weights: 'void *', weights_size: 'size_t',
  log: 'void *', log_user: 'void *',
});

const FUNCTIONS = [
  'uint32_t latenn_abi()',
  'const char *latenn_version()',
  'int latenn_status_code(void *status)',
  'const char *latenn_status_message(void *status)',
  'const char *latenn_status_report(void *status)',
  'void latenn_status_release(void *status)',
  'void *latenn_load_path(const char *path, const latenn_load_options *options, _Out_ void **model)',
  'void *latenn_load_bytes(const void *bytes, size_t size, const latenn_load_options *options, _Out_ void **model)',
  'void latenn_model_release(void *model)',
  'size_t latenn_input_count(void *model)',
  'size_t latenn_output_count(void *model)',
  'void *latenn_input(void *model, size_t index)',
  'void *latenn_output(void *model, size_t index)',
  'const char *latenn_model_backend(void *model)',
  'const char *latenn_model_report(void *model)',
  'void *latenn_context_create(void *model, _Out_ void **context)',
  'void latenn_context_release(void *context)',
  'void *latenn_set_input(void *context, size_t index, const latenn_tensor *tensor)',
  'void *latenn_compute(void *context)',
  'void *latenn_get_output(void *context, size_t index, _Out_ latenn_tensor *tensor)',
];

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
  for (const declaration of FUNCTIONS) {
    const name = declaration.match(/latenn_(\w+)\(/)[1];
    found[name] = opened.func(declaration);
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
    const row = koffi.decode(port(model, index), 'latenn_port');
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
    size: koffi.sizeof('latenn_load_options'),
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
