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

function check(status, advice) {
  if (!status) return;
  const l = library();
  const code = l.status_code(status);
  const text = l.status_message(status);
  const report = l.status_report(status);
  l.status_release(status);
  throw new LatennError(advice ? advice(code, text) : text, code, report);
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

function optionsOf(given) {
  const known = ['backend', 'device', 'runtimePath', 'runtimeMinimum', 'options'];
  for (const key of Object.keys(given)) {
    if (!known.includes(key)) throw new TypeError(`${key} is not an option of load(): use ${known.join(', ')}`);
  }
  const backends = places.backends();
  const runtimes = places.runtimes();
  const choice = given.backend || (backends.length ? `${backends.map((row) => row.name).join(',')},` : null);
  const options = Object.entries(given.options || {}).map(([key, value]) => ({ key, value: String(value) }));
  return {
    size: koffi.sizeof('latenn_load_options'),
    backend: choice,
    device: given.device || null,
    backend_directories: backends.map((row) => row.folder),
    backend_directory_count: backends.length,
    runtime_path: given.runtimePath || null,
    runtime_directories: runtimes,
    runtime_directory_count: runtimes.length,
    runtime_minimum: given.runtimeMinimum || null,
    runtime_advice: places.advice(given.runtimeMinimum),
    options,
    option_count: options.length,
    weights: null, weights_size: 0, log: null, log_user: null,
  };
}

/** A loaded model. Call close() when it is no longer needed. */
class Model {
  #handle;

  #context;

  constructor(handle) {
    const l = library();
    this.#handle = handle;
    this.inputs = ports(handle, l.input_count, l.input);
    this.outputs = ports(handle, l.output_count, l.output);
    this.backend = l.model_backend(handle);
    this.report = JSON.parse(l.model_report(handle) || '{}');
    const made = [null];
    check(l.context_create(handle, made));
    [this.#context] = made;
  }

  /** Computes the outputs, by name, from a tensor for each input, by name. */
  run(inputs) {
    if (!this.#handle) throw new LatennError('the model is closed', 1, '');
    const l = library();
    const names = this.inputs.map((port) => port.name);
    for (const name of Object.keys(inputs)) {
      if (!names.includes(name)) throw new TypeError(`${name} is not an input of the model: ${names.join(', ')}`);
    }
    const kept = [];
    this.inputs.forEach((port, index) => {
      if (!(port.name in inputs)) return; // the core says that it is missing
      const tensor = tensors.toNative(port.name, inputs[port.name]);
      kept.push(tensor); // its memory is read until compute() is over
      check(l.set_input(this.#context, index, tensor.native));
    });
    check(l.compute(this.#context));
    const found = {};
    this.outputs.forEach((port, index) => {
      const native = {};
      check(l.get_output(this.#context, index, native));
      found[port.name] = tensors.fromNative(native);
    });
    kept.length = 0;
    return found;
  }

  /** Releases the native memory. */
  close() {
    if (!this.#handle) return;
    library().context_release(this.#context);
    library().model_release(this.#handle);
    this.#handle = null;
  }
}

/** Loads a model: the path of a file, or its bytes. */
function load(model, options = {}) {
  const l = library();
  const made = [null];
  const native = optionsOf(options);
  const bytes = typeof model !== 'string';
  const status = bytes ? l.load_bytes(model, model.byteLength, native, made) : l.load_path(model, native, made);
  check(status, places.withAdvice);
  return new Model(made[0]);
}

/** The version of the native library. */
function version() {
  return library().version();
}

module.exports = { load, version, Model, LatennError, elementTypes: tensors.NAMES };
