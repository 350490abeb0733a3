// What `latebind verify` runs in an application of Node.js: run one model, compare.
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { libraryPath } from '@example/tinyrun';
import koffi from 'koffi';

// The model adds its input to itself.
const MODEL = Buffer.from('CAgSADo3Cg4KAXgKAXgSAXkiA0FkZBIBZ1oQCgF4EgsKCQgBEgUKAxIBTmIQCgF5EgsKCQgBEgUKAxIBTkIECgAQEQ==', 'base64');

const { values } = parseArgs({ strict: false, options: { out: { type: 'string' }, 'runtime-path': { type: 'string' } } });
if (values['runtime-path']) process.env.ONNXRUNTIME_LIB_PATH = values['runtime-path'];
const run = koffi.load(libraryPath()).func(
  'int tinyrun_run(const void *model, size_t size, float *x, float *y, int64_t count, char *why, size_t room)',
);
const [y, why] = [new Float32Array(3), Buffer.alloc(4000)];
const failed = run(MODEL, MODEL.length, new Float32Array([1, 2, 3]), y, 3, why, why.length);
const right = String(y) === '2,4,6';
const message = why.toString('utf8', 0, why.indexOf(0));
// The stub itself records which runtime it bound.
fs.writeFileSync(values.out, JSON.stringify(failed ? { error: { message } } : { passed: right ? ['doubles'] : [] }));
process.exitCode = failed ? 3 : Number(!right);
