'use strict';

// Tensors in JavaScript and in C. A tensor is { type, shape, data }: data is the typed array of the type, an array of
// strings, or for types that JavaScript has no numbers for, the bytes as a Uint8Array.

const { isAnyArrayBuffer, isDataView, isSharedArrayBuffer } = require('node:util').types;
const koffi = require('koffi');

const NAMES = [
  'undefined', 'float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'string', 'bool', 'float16', 'float64',
  'uint32', 'uint64', 'complex64', 'complex128', 'bfloat16', 'float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2',
  'float8e5m2fnuz', 'uint4', 'int4',
];
const STRING = NAMES.indexOf('string');
const ARRAYS = {
  float32: Float32Array, uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array,
  int64: BigInt64Array, bool: Uint8Array, float64: Float64Array, uint32: Uint32Array, uint64: BigUint64Array,
  complex64: Float32Array, complex128: Float64Array,
};

const MAX_RANK = 255;

/** The getters of a class as functions: an object can have properties of the same names. */
function gettersOf(prototype) {
  const getter = (key) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(prototype, key).get);
  return { buffer: getter('buffer'), byteOffset: getter('byteOffset'), byteLength: getter('byteLength'), getter };
}

const DATA_VIEW = gettersOf(DataView.prototype);
const TYPED_ARRAY = gettersOf(Object.getPrototypeOf(Uint8Array.prototype));
TYPED_ARRAY.name = TYPED_ARRAY.getter(Symbol.toStringTag); // undefined for what is no typed array, a proxy too

function typeName(number) {
  return NAMES[number] || 'unknown';
}

function copied(address, bytes) {
  return bytes ? koffi.view(address, bytes).slice(0) : new ArrayBuffer(0);
}

/** The integers at an address, as numbers. */
function integers(address, count) {
  return Array.from(new BigInt64Array(copied(address, count * 8)), Number);
}

function readShape(name, shape) {
  const { length } = shape;
  if (length > MAX_RANK) throw new TypeError(`input ${name} has ${length} dimensions; ${MAX_RANK} are possible`);
  const sizes = new BigInt64Array(length);
  for (let index = 0; index < length; index += 1) {
    const size = shape[index];
    if (typeof size === 'bigint' ? BigInt.asIntN(64, size) !== size : !Number.isSafeInteger(size)) {
      throw new TypeError(`dimension ${index} of input ${name} is not a whole number`);
    }
    sizes[index] = BigInt(size);
  }
  return sizes;
}

function readStrings(name, shape, data) {
  const texts = [];
  for (const text of data) {
    if (typeof text !== 'string') throw new TypeError(`the data of input ${name} must be an Array of strings`);
    texts.push(Buffer.from(text, 'utf8'));
  }
  // C takes as many offsets as the shape has elements.
  const count = shape.reduce((product, size) => product * size, 1n);
  if (count !== BigInt(texts.length)) {
    throw new TypeError(`input ${name} has ${texts.length} strings; its shape [${shape.join(', ')}] has ${count}`);
  }
  const offsets = new BigUint64Array(texts.length + 1);
  texts.forEach((text, index) => { offsets[index + 1] = offsets[index] + BigInt(text.length); });
  return { bytes: Buffer.concat(texts), offsets };
}

/** The bytes that a typed array or a buffer has now. Its own properties are not asked: they could say anything. */
function bytesOf(data) {
  const view = ArrayBuffer.isView(data);
  if (!view && !isAnyArrayBuffer(data)) throw new TypeError('the bytes of a model must be a Uint8Array or an ArrayBuffer');
  const { buffer, byteOffset, byteLength } = isDataView(data) ? DATA_VIEW : TYPED_ARRAY;
  if (view && !byteLength(data)) return new Uint8Array(0); // also of memory that was moved away
  const bytes = view ? new Uint8Array(buffer(data), byteOffset(data), byteLength(data)) : new Uint8Array(data);
  // Other threads may write to shared memory at any time.
  return isSharedArrayBuffer(bytes.buffer) ? new Uint8Array(bytes) : bytes;
}

/** Reads a tensor of the caller; strings are copied, other data is not touched yet. */
function read(name, tensor) {
  const { type, shape, data } = tensor || {};
  const number = NAMES.indexOf(type);
  if (number < 1 || !Array.isArray(shape)) {
    throw new TypeError(`input ${name} must be { type, shape, data }, with one of the types ${NAMES.slice(1).join(', ')}`);
  }
  const wanted = (ARRAYS[type] || Uint8Array).name;
  if (number === STRING ? !Array.isArray(data) : TYPED_ARRAY.name(data) !== wanted) {
    const kind = number === STRING ? 'an Array of strings' : `a ${wanted}`;
    throw new TypeError(`the data of input ${name} must be ${kind}, for the type ${type}`);
  }
  const sizes = readShape(name, shape);
  return { number, shape: sizes, data, text: number === STRING ? readStrings(name, sizes, data) : null };
}

/**
 * A tensor for C. It points to the memory of the data, so the caller's code must not run until C has read it; what is
 * returned must be kept until then.
 */
function toNative({ number, shape, data, text }) {
  const bytes = text ? text.bytes : bytesOf(data);
  const tensor = {
    type: number,
    rank: shape.length,
    shape: shape.length ? shape : null,
    data: bytes.length ? bytes : null,
    bytes: bytes.length,
    offsets: text ? text.offsets : null,
  };
  return { tensor };
}

/** A copy of a tensor of C, whose memory ends with the next computation. */
function fromNative(native) {
  const type = typeName(native.type);
  const shape = integers(native.shape, native.rank);
  if (native.type !== STRING) {
    return { type, shape, data: new (ARRAYS[type] || Uint8Array)(copied(native.data, Number(native.bytes))) };
  }
  const count = shape.reduce((size, one) => size * one, 1);
  const ends = Array.from(new BigUint64Array(copied(native.offsets, (count + 1) * 8)), Number);
  const bytes = Buffer.from(copied(native.data, Number(native.bytes)));
  return { type, shape, data: ends.slice(1).map((end, index) => bytes.toString('utf8', ends[index], end)) };
}

module.exports = { NAMES, bytesOf, fromNative, integers, read, toNative, typeName };
