"use strict";
// Filters marks, shows what a mark stands for, and opens a test case. Text from the report is never parsed as HTML.
const rows = JSON.parse(document.getElementById("cases").textContent);
const find = (query, from = document) => [...from.querySelectorAll(query)];
const by = (id) => document.getElementById(id);
const marks = find(".m"), states = find(".tools button"), search = by("search"), tip = by("tip"), dialog = by("case");
const haystack = rows.map((row) => `${row.id} ${row.words}`.toLowerCase());

const made = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

function filter() {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const on = new Set(states.filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => b.dataset.style));
  const fits = rows.map((row, i) => on.has(row.style) && wanted.every((word) => haystack[i].includes(word)));
  for (const mark of marks) mark.classList.toggle("off", !fits[mark.dataset.i]);
  for (const item of find(".failures button")) item.parentElement.hidden = !fits[item.dataset.i];
  for (const box of find("tbody tr[data-row], .grid, .group")) box.hidden = !box.querySelector(".m:not(.off)");
  for (const list of find(".failures")) list.parentElement.hidden = !list.querySelector("li:not([hidden])");
  const shown = fits.filter(Boolean).length;
  by("shown").textContent = shown === rows.length ? `All ${shown} test cases are shown. Open one for its details and its log.`
    : `${shown} of ${rows.length} test cases are shown.`;
  rove();
}

// Tab stops once in each table; arrow keys go on from there.
function rove() {
  for (const table of find(".grid")) {
    const visible = find(".m:not(.off)", table);
    const stop = visible.find((mark) => mark.tabIndex === 0) || visible[0];
    for (const mark of find(".m", table)) mark.tabIndex = mark === stop ? 0 : -1;
  }
}

function neighbour(mark, key) {
  const table = mark.closest("table"), visible = find(".m:not(.off)", table), at = visible.indexOf(mark);
  if (key === "Home") return visible[0];
  if (key === "End") return visible[visible.length - 1];
  if (key === "ArrowLeft" || key === "ArrowRight") return visible[at + (key === "ArrowRight" ? 1 : -1)];
  const rows = find("tbody tr", table).filter((row) => row.querySelector(".m:not(.off)"));
  const row = rows[rows.indexOf(mark.closest("tr")) + (key === "ArrowDown" ? 1 : -1)];
  if (!row) return undefined;
  const x = mark.getBoundingClientRect().left;
  const distance = (other) => Math.abs(other.getBoundingClientRect().left - x);
  return find(".m:not(.off)", row).reduce((best, other) => (distance(other) < distance(best) ? other : best));
}

function show(mark) {
  const row = rows[mark.dataset.i];
  tip.replaceChildren(made("strong", `${row.state}: ${row.id}`),
    row.words.length > 400 ? `${row.words.slice(0, 400)} …` : row.words);
  tip.hidden = false;
  mark.setAttribute("aria-describedby", "tip");
  const at = mark.getBoundingClientRect(), box = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left + at.width / 2 - box.width / 2, innerWidth - box.width - 12));
  const above = at.top - box.height - 8;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(above > 4 ? above : at.bottom + 8) + scrollY}px`;
}

function open(index) {
  const row = rows[index];
  tip.hidden = true;
  by("case-id").textContent = row.id;
  by("case-mark").setAttribute("class", row.style);
  by("case-mark").firstElementChild.setAttribute("href", `#s-${row.style}`);
  by("case-words").textContent = `${row.state}${row.words ? `: ${row.words.replace(/^not run: /, "")}` : ""}`;
  const [short, long] = [row.facts.filter(([, text]) => !text.includes("\n")),
    row.facts.filter(([, text]) => text.includes("\n"))];
  by("case-facts").replaceChildren(...short.flatMap(([name, text]) => [made("dt", name), made("dd", text)]));
  by("case-lists").replaceChildren(...long.map(([name, text]) => {
    const box = document.createElement("details"), [head, ...lines] = text.split("\n");
    box.append(made("summary", `${name}: ${head.replace(":", "")}`), made("pre", lines.join("\n")));
    return box;
  }));
  by("case-log").textContent = row.log;
  by("case-log").hidden = !row.log;
  by("case-file").textContent = row.log ? `Log: ${row.file}` : "There is no log of this test case.";
  dialog.showModal();
  dialog.scrollTop = by("case-log").scrollTop = 0;
  by("close").focus();
}

document.addEventListener("click", (event) => {
  const item = event.target.closest("[data-i]");
  if (item) open(item.dataset.i);
  else if (event.target === dialog) dialog.close();
});
by("close").addEventListener("click", () => dialog.close());
for (const button of states) button.addEventListener("click", () => {
  button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
  filter();
});
search.addEventListener("input", filter);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (!tip.hidden) tip.hidden = true;
    else if (event.target === search) { search.value = ""; filter(); }
  }
  if (event.key === "/" && !dialog.open && event.target !== search) { event.preventDefault(); search.focus(); }
  const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
  if (!keys.includes(event.key) || !event.target.matches(".m")) return;
  event.preventDefault();
  const next = neighbour(event.target, event.key);
  if (!next) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});
for (const type of ["mouseover", "focusin"]) document.addEventListener(type, (event) => {
  const mark = event.target.closest(".m");
  if (mark && (type === "mouseover" || mark.matches(":focus-visible"))) show(mark);
});
for (const type of ["mouseout", "focusout"]) document.addEventListener(type, () => { tip.hidden = true; });
find(".tools, #shown").forEach((part) => { part.hidden = false; });
filter();
