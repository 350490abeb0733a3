// What `latebind verify` runs in an application of Node.js: load the extension, and call its function.
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { libraryPath, load } from '@example/sqlite-slug';

const { values } = parseArgs({ strict: false, options: { out: { type: 'string' } } });
const { DatabaseSync } = await import('node:sqlite').catch(() => ({}));
const result = { libraries: [libraryPath()] };
if (DatabaseSync?.prototype.loadExtension) {
  const database = new DatabaseSync(':memory:', { allowExtension: true });
  load(database);
  const { made } = database.prepare("SELECT slug('Hello, World!') AS made").get();
  if (made === 'hello-world') result.passed = ['slug'];
  else result.failed = [{ name: 'slug', message: `computed ${made}` }];
} else {
  result.no_host = `Node.js ${process.versions.node} has no node:sqlite that loads extensions; 22.13 has`;
}
fs.writeFileSync(values.out, JSON.stringify(result));
process.exitCode = Number(Boolean(result.failed));
