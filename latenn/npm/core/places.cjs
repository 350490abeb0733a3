'use strict';

// Where npm put the backends' libraries and the runtimes that other packages supply. It opens nothing.

const fs = require('node:fs');
const path = require('node:path');

const BACKENDS = [
  { name: 'onnxruntime', package: '@latenn/onnxruntime', runtime: 'onnxruntime-node', minimum: '1.19' },
];

/** The folders from which a package is looked for: this one, the program's, the working folder. */
function starts() {
  return [__dirname, ...(process.argv[1] ? [path.dirname(process.argv[1])] : []), process.cwd()];
}

function find(request) {
  try {
    return require.resolve(request, { paths: starts() });
  } catch {
    return null;
  }
}

/** The backends that are installed: name, and the folder of the library. */
function backends() {
  const found = [];
  for (const row of BACKENDS) {
    const file = find(row.package);
    if (file) found.push({ name: row.name, folder: path.dirname(require(file).libraryPath()) });
  }
  return found;
}

/** The folders of native files in onnxruntime-node: bin/napi-v6/linux/x64. The number is that of its own interface. */
function runtimes() {
  const found = [];
  for (const row of BACKENDS) {
    const file = find(`${row.runtime}/package.json`);
    if (!file) continue;
    const bin = path.join(path.dirname(file), 'bin');
    const folders = fs.existsSync(bin) ? fs.readdirSync(bin).sort().reverse() : [];
    found.push(...folders.map((name) => path.join(bin, name, process.platform, process.arch)).filter(fs.existsSync));
  }
  return found;
}

/** The commands that supply a runtime, a line for each backend. */
function advice(minimum) {
  return BACKENDS.map((row) => `${row.name}: npm install "${row.runtime}@>=${minimum || row.minimum}"\n`).join('');
}

/** The message of a failed load, with the command that installs a missing backend. */
function withAdvice(code, text) {
  const missing = code === 2 ? BACKENDS.filter((row) => !find(row.package)) : [];
  return missing.length ? `${text}, or npm install ${missing[0].package}` : text;
}

module.exports = { advice, backends, runtimes, withAdvice };
