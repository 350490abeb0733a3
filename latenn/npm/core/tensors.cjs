'use strict';

// Tensors in JavaScript and in C. A tensor is { type, shape, data }: data is the typed array of the type, an array of
// strings, or for types that JavaScript has no numbers for, the bytes as a Uint8Array.

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

function strings(data) {
  const texts = data.map((text) => Buffer.from(text, 'utf8'));
  const offsets = new BigUint64Array(texts.length + 1);
  texts.forEach((text, index) => { offsets[index + 1] = offsets[index] + BigInt(text.length); });
  return { bytes: Buffer.concat(texts), offsets };
}

/** A tensor for C, with the memory that must stay until it was computed. */
function toNative(name, tensor) {
  const number = NAMES.indexOf(tensor && tensor.type);
  if (number < 1 || !Array.isArray(tensor.shape)) {
    throw new TypeError(`input ${name} must be { type, shape, data }, with one of the types ${NAMES.slice(1).join(', ')}`);
  }
  const wanted = ARRAYS[tensor.type] || Uint8Array;
  if (number === STRING ? !Array.isArray(tensor.data) : !(tensor.data instanceof wanted)) {
    const kind = number === STRING ? 'Array of strings' : wanted.name;
    throw new TypeError(`the data of input ${name} must be a ${kind}, for the type ${tensor.type}`);
  }
  const text = number === STRING ? strings(tensor.data) : null;
  const data = text ? text.bytes : tensor.data;
  const shape = BigInt64Array.from(tensor.shape, BigInt);
  const native = {
    type: number,
    rank: shape.length,
    shape: shape.length ? shape : null,
    data: data.byteLength ? data : null,
    bytes: data.byteLength,
    offsets: text ? text.offsets : null,
  };
  return { native, kept: [shape, data, text] };
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

module.exports = { NAMES, fromNative, integers, toNative, typeName };
