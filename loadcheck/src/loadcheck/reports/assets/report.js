"use strict";
// Draws what loads what, and filters. Text from the report is never parsed as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const find = (query, from = document) => [...from.querySelectorAll(query)];
const by = (id) => document.getElementById(id);
const search = by("search"), tip = by("tip"), states = find(".tools button");
const CHARACTER = 7.25, SMALL = 6.35, LONGEST = 34, TITLE = 16, LEAST_SCALE = 0.9;

// Only the middle of a long name is left out: versions and hashes at its end matter.
const shorten = (text, most = LONGEST) => text.length <= most ? text
  : `${text.slice(0, Math.ceil(most * 0.6) - 1)}…${text.slice(-Math.floor(most * 0.4))}`;

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function arrange() {
  const graph = new dagre.graphlib.Graph({ compound: true, multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 14, edgesep: 12, ranksep: 50, marginx: 14, marginy: TITLE + 6 });
  data.owners.forEach((_, i) => graph.setNode(`f${i}`, {}));
  data.nodes.forEach((node, i) => {
    node.title = shorten(node.label);
    node.line = shorten(node.detail, LONGEST + 6);
    const width = Math.max(node.title.length * CHARACTER, node.line.length * SMALL, 40) + 18;
    graph.setNode(`n${i}`, { width, height: node.line ? 38 : 26 });
    if (node.owner >= 0) graph.setParent(`n${i}`, `f${node.owner}`);
  });
  data.edges.forEach(([user, source], i) => graph.setEdge(`n${user}`, `n${source}`, {}, `e${i}`));
  dagre.layout(graph);
  return graph;
}

// Leaves at the right of a node and arrives at the left of another; between these, the points are those that dagre gives.
function route(graph, user, source, points) {
  const from = graph.node(user), to = graph.node(source);
  const stops = [{ x: from.x + from.width / 2, y: from.y }, ...points.slice(1, -1), { x: to.x - to.width / 2, y: to.y }];
  const at = stops.map(({ x, y }) => [Math.round(x), Math.round(y)]);
  return at.slice(1).reduce((path, [x, y], i) => {
    const middle = Math.round((at[i][0] + x) / 2);
    return `${path}C${middle} ${at[i][1]} ${middle} ${y} ${x} ${y}`;
  }, `M${at[0]}`);
}

function drawHeads() {
  return svg("defs", {}, ...["", "bad", "tocopy"].map((name) =>
    svg("marker", { id: `head${name}`, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto",
      markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0 0L8 4L0 8z", class: `head ${name}` }))));
}

function drawFrame(graph, name, i) {
  const { x, y, width, height } = graph.node(`f${i}`);
  const left = x - width / 2, top = y - height / 2 - TITLE / 2;
  const text = svg("text", { x: left + 8, y: top + 13 });
  text.textContent = shorten(name, Math.max(12, Math.floor((width - 12) / CHARACTER)));
  const title = svg("title", {});
  title.textContent = name;
  return svg("g", { class: "frame" }, title, svg("rect", { x: left, y: top, width, height: height + TITLE / 2, rx: 7 }), text);
}

function drawNode(graph, node, i) {
  const { x, y, width, height } = graph.node(`n${i}`);
  const label = svg("text", { x: x - width / 2 + 9, y: node.line ? y - 3 : y + 4 });
  label.textContent = node.title;
  const detail = svg("text", { x: x - width / 2 + 9, y: y + 12, class: "detail" });
  detail.textContent = node.line;
  const classes = ["node", node.kind, node.copy && "copy", node.severity && `s-${node.severity}`].filter(Boolean).join(" ");
  return svg("g", { class: classes, "data-n": i },
    svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 5 }), label, detail);
}

function drawEdge(graph, [user, source, isMissing], i) {
  const target = data.nodes[source];
  const look = isMissing ? "bad" : target.copy ? "tocopy" : "";
  const { points } = graph.edge(`n${user}`, `n${source}`, `e${i}`);
  const d = route(graph, `n${user}`, `n${source}`, points);
  return svg("path", { class: `edge ${look} ${target.kind}`, d, "data-e": i, "marker-end": `url(#head${look})` });
}

let picture, size;
function draw() {
  const graph = arrange(), { width, height } = graph.graph();
  size = { width, height: height + TITLE };  // a frame reaches out of what dagre measures, for its title
  picture = svg("svg", { viewBox: `0 ${-TITLE} ${size.width} ${size.height}`, "aria-hidden": "true" }, drawHeads(),
    ...data.owners.map((name, i) => drawFrame(graph, name, i)),
    ...data.edges.map((edge, i) => drawEdge(graph, edge, i)),
    ...data.nodes.map((node, i) => drawNode(graph, node, i)));
  by("graph").append(picture);
  by("drawing").hidden = false;
  scale(Math.max(LEAST_SCALE, Math.min(1, (by("graph").clientWidth - 2) / size.width)));
  showLegend();
  addZoom();
}

// Only what is drawn.
function showLegend() {
  const keys = new Set(["file", "asks", ...data.nodes.map((node) => node.kind)]);
  if (data.edges.some(([, , isMissing]) => isMissing)) keys.add("missing");
  if (data.nodes.some((node) => node.copy)) keys.add("copy");
  for (const entry of find(".entry")) entry.hidden = !keys.has(entry.dataset.key);
}

function scale(factor) {
  size.factor = factor;
  picture.setAttribute("width", size.width * factor);
  picture.setAttribute("height", size.height * factor);
}

function addZoom() {
  const box = Object.assign(document.createElement("div"), { className: "zoom" });
  const fit = () => Math.min(1, (by("graph").clientWidth - 2) / size.width);
  for (const [text, label, factor] of [["−", "Smaller", () => size.factor / 1.25], ["+", "Larger", () => size.factor * 1.25],
    ["Fit", "Fit the drawing to the page", fit]]) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => scale(Math.min(3, Math.max(0.1, factor()))));
    box.append(button);
  }
  by("graph").before(box);
}

// Marks some nodes, what they need, and what needs them; dims the others.
function mark(chosen) {
  picture.classList.toggle("dim", chosen !== null);
  const on = new Set(chosen || []);
  const edges = data.edges.map(([user, source]) => on.has(user) || on.has(source));
  data.edges.forEach(([user, source], i) => { if (edges[i]) { on.add(user); on.add(source); } });
  for (const each of find(".edge", picture)) each.classList.toggle("on", edges[each.dataset.e]);
  for (const each of find(".node", picture)) each.classList.toggle("on", on.has(+each.dataset.n));
}

function describe(i) {
  const node = data.nodes[i], owner = node.owner >= 0 ? `${data.owners[node.owner]}\n` : "";
  const asks = data.edges.filter(([user]) => user === i).map(([, source, isMissing, names]) =>
    `${isMissing ? "does not find" : "asks for"} ${names.join(", ")}${data.nodes[source].kind === "system" ? " (system)" : ""}`);
  return `${owner}${node.names.join("\n")}${asks.length ? `\n\n${asks.join("\n")}` : ""}`;
}

function showTip(i, at) {
  tip.textContent = describe(i);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, innerWidth - box.width - 12));
  const below = at.bottom + 8;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(below + box.height < innerHeight ? below : Math.max(8, at.top - box.height - 8)) + scrollY}px`;
}

const texts = new Map();
const has = (element, words) => {
  if (!texts.has(element)) texts.set(element, element.textContent.toLowerCase());
  return words.every((word) => texts.get(element).includes(word));
};

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const on = new Set(states.filter((each) => each.getAttribute("aria-pressed") === "true").map((each) => each.dataset.severity));
  const all = find(".cause");
  let shown = 0;
  for (const cause of all) {
    cause.hidden = !on.has(cause.dataset.severity) || !words.every((word) => has(cause, [word]) || has(cause.parentElement.firstElementChild, [word]));
    shown += !cause.hidden;
  }
  for (const box of find(".check, .findings > details, .findings")) box.hidden = !box.querySelector(".cause:not([hidden])");
  for (const table of find(".loads > details")) filterTable(table, words);
  if (picture) {
    const fits = data.nodes.flatMap((node, i) => {
      const text = [node.label, data.owners[node.owner] || "", ...node.names].join(" ").toLowerCase();
      return words.every((word) => text.includes(word)) ? [i] : [];
    });
    base = words.length ? fits : null;
    mark(base);
  }
  by("shown").textContent = `Causes shown: ${shown} of ${all.length}.`;
}

// The words may be in the name of the package, or in a row.
function filterTable(table, words) {
  const rows = find("tbody tr", table), isNamed = has(table.querySelector("summary"), words);
  let shown = 0;
  for (const row of rows) {
    row.hidden = !isNamed && !has(row, words);
    shown += !row.hidden;
  }
  table.hidden = !shown;
}

let base = null;
if (data.nodes.length) {
  draw();
  picture.addEventListener("mouseover", (event) => {
    const node = event.target.closest(".node");
    if (!node) return;
    mark([+node.dataset.n]);
    showTip(+node.dataset.n, node.getBoundingClientRect());
  });
  picture.addEventListener("mouseout", () => { tip.hidden = true; mark(base); });
  picture.addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    if (!node) return;
    search.value = data.nodes[node.dataset.n].names[0].split("/").pop();
    filter();
  });
}
for (const button of states) button.addEventListener("click", () => {
  button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
  filter();
});
search.addEventListener("input", filter);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    tip.hidden = true;
    if (event.target === search) { search.value = ""; filter(); }
  }
  if (event.key === "/" && event.target !== search) { event.preventDefault(); search.focus(); }
});
find(".tools").forEach((part) => { part.hidden = false; });
filter();
