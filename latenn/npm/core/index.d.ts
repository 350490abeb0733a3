/** A tensor. `data` is the typed array of the type, strings, or a Uint8Array for a type that JavaScript lacks. */
export interface Tensor {
  type: string;
  shape: number[];
  data: ArrayBufferView | string[];
}

/** An input or output. `shape` has -1 for an open dimension, and is null where the rank is open. */
export interface Port {
  name: string;
  type: string;
  shape: number[] | null;
}

export interface LoadOptions {
  /** "onnxruntime", or the path of a backend library. */
  backend?: string;
  /** "cpu", "cuda", "cuda:1". */
  device?: string;
  /** The runtime's file or folder; no other is looked for. */
  runtimePath?: string;
  /** "1.20" raises the backend's own minimum. */
  runtimeMinimum?: string;
  /** Options of the backend. */
  options?: Record<string, string | number | boolean>;
}

/** A file or folder that was not used because other users may have changed it. */
export interface Refused {
  path: string;
  reason: string;
}

/**
 * A failure of latenn, of a backend or of its runtime. `report` lists, as JSON, every library that was tried, and in
 * `refused` those that were not trusted.
 */
export class LatennError extends Error {
  code: number;
  report: string;
}

/** A loaded model. */
export class Model {
  private constructor();
  readonly inputs: Port[];
  readonly outputs: Port[];
  readonly backend: string;
  /** The report on the runtime that was bound. */
  readonly report: { version?: string; path?: string; refused?: Refused[]; [key: string]: unknown };
  run(inputs: Record<string, Tensor>): Record<string, Tensor>;
  close(): void;
}

/** Loads a model: the path of a file, or its bytes. */
export function load(model: string | Uint8Array | ArrayBuffer, options?: LoadOptions): Model;
/** The version of the native library. */
export function version(): string;
/** The element types, by ONNX's numbers. */
export const elementTypes: string[];
