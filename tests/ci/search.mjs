// Asks a built site's own search worker, through the site's search.js: `node search.mjs SITE < QUERIES`, both of JSON.
// Prints the three best pages of each query, with the section that fits best.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const site = process.argv[2];
const workers = join(site, "assets/javascripts/workers");
let listen, answer;
globalThis.self = globalThis;
globalThis.addEventListener = (_, handler) => (listen = handler);
globalThis.postMessage = (message) => answer(message.data);
globalThis.Worker = class {
  postMessage(message) {
    listen({ data: message });
  }
};
for (const script of [join(workers, readdirSync(workers).find((name) => name.endsWith(".js"))), join(site, "search.js")])
  (0, eval)(readFileSync(script, "utf8"));

const worker = new Worker();
const ask = (type, data) => new Promise((resolve) => ((answer = resolve), worker.postMessage({ type, data })));
await ask(0, { ...JSON.parse(readFileSync(join(site, "search/search_index.json"))), options: {} });
const found = [];
for (const query of JSON.parse(readFileSync(0, "utf8"))) {
  const pages = (await ask(2, query)).items.slice(0, 3);
  found.push(pages.map((sections) => sections.reduce((best, each) => (each.score > best.score ? each : best)).location));
}
console.log(JSON.stringify(found));
