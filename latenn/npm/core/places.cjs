'use strict';

// Where Node.js finds the backends' libraries and the runtimes that other packages supply. It loads nothing.

const fs = require('node:fs');
const path = require('node:path');
const { target } = require('./latebind.cjs');
const { findFile, judge, show } = require('./latebind-trusted.cjs');

const BACKENDS = [
  { name: 'onnxruntime', package: '@latenn/onnxruntime', runtime: 'onnxruntime-node', minimum: '1.19' },
];
const GET = ' Get it with: ';
const MISSING = [2, 4]; // LATENN_BACKEND_MISSING, LATENN_RUNTIME_UNAVAILABLE

function nameLibrary(backend) {
  const system = { win32: ['', '.dll'], darwin: ['lib', '.dylib'] }[process.platform] || ['lib', '.so'];
  return `${system[0]}latenn_backend_${backend}${system[1]}`;
}

/** A backend's library, from the package's layout: a package must not run to say where its files are. */
function findLibrary(backend) {
  const main = findFile(backend.package, 'package.json');
  const library = main.path ? findFile(`${backend.package}-${target}`, nameLibrary(backend.name), main.path)
    : { path: null, refused: [] };
  return { main: main.path, library: library.path, refused: [...main.refused, ...library.refused] };
}

/** The package with the library for this machine, which npm left out: of the version of the package that needs it. */
function nameNative(backend, main) {
  return `${backend.package}-${target}@${JSON.parse(fs.readFileSync(main, 'utf8')).version}`;
}

function listFolder(folder) {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

/** The folders of native files in onnxruntime-node: bin/napi-v6/linux/x64. The number is that of its own interface. */
function findRuntimes(backend, start) {
  const found = findFile(backend.runtime, 'package.json', start);
  const folders = [];
  const refused = [...found.refused];
  const bin = found.path && path.join(path.dirname(found.path), 'bin');
  const versions = bin ? listFolder(bin).sort((a, b) => b.localeCompare(a, 'en', { numeric: true })) : [];
  for (const version of versions) {
    const folder = path.join(bin, version, process.platform, process.arch);
    const files = listFolder(folder);
    // The runtime opens what is next to it, too.
    const reason = files.map((file) => judge(path.join(folder, file))).find(Boolean);
    if (reason) refused.push({ path: folder, reason });
    else if (files.length) folders.push(folder);
  }
  return { folders, refused };
}

/**
 * The backends that are installed (name, and the folder of the library), the folders of runtimes, and which places were
 * not trusted, with the reason.
 */
function findPlaces() {
  const places = { backends: [], runtimes: [], refused: [], missing: [] };
  for (const backend of BACKENDS) {
    const { main, library, refused } = findLibrary(backend);
    if (library) places.backends.push({ name: backend.name, folder: path.dirname(library) });
    else if (!refused.length) places.missing.push(main ? nameNative(backend, main) : backend.package);
    // With pnpm, a backend's peers are next to the backend alone.
    const searches = [undefined, ...(main ? [main] : [])].map((start) => findRuntimes(backend, start));
    places.runtimes.push(...searches.flatMap((search) => search.folders));
    places.refused.push(...refused, ...searches.flatMap((search) => search.refused));
  }
  places.runtimes = [...new Set(places.runtimes)];
  places.refused = [...new Map(places.refused.map((row) => [row.path, row])).values()];
  return places;
}

/** The commands that supply a runtime, a line for each backend. */
function advice(minimum) {
  return BACKENDS.map((row) => `${row.name}: npm install "${row.runtime}@>=${minimum || row.minimum}"\n`).join('');
}

/** The message of a failed load, with the command that installs a missing backend, and with what was not trusted. */
function withAdvice(places, code, text) {
  if (!MISSING.includes(code)) return text;
  const [found, commands] = text.split(GET); // the core names the commands of other installers
  const isOurs = commands && code === 2 && places.missing.length;
  const message = isOurs ? `${found}${GET}npm install ${places.missing[0]}` : text;
  if (!places.refused.length) return message;
  const refused = places.refused.map(({ path: file, reason }) => `\n  ${show(file)}: ${show(reason)}`).join('');
  return `${message}\nNot used:${refused}\nhelp: install the package in the application's own node_modules, `
    + 'or name the file with the options backend and runtimePath.';
}

module.exports = { advice, findPlaces, withAdvice };
