"use strict";
// Filters test cases, also by the page's address, and opens one. Text from the report is never parsed as HTML.
const find = (query, from = document) => [...from.querySelectorAll(query)];
const by = (id) => document.getElementById(id);
const rows = JSON.parse(by("rows").textContent);
const states = find(".tools button"), words = by("words"), tip = by("tip"), dialog = by("case");
const fields = [by("target"), by("runtime"), words].filter(Boolean);
const nameOf = Object.fromEntries(states.map((button) => [button.dataset.style, button.dataset.state]));
let haystack, details;

const made = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
const isOneOf = (name, chosen) => !chosen || name === chosen || name.startsWith(`${chosen} `);
const valueOf = (id) => by(id)?.value || "";

function filter() {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length) haystack ??= rows.map((row) => `${row.id} ${row.words}`.toLowerCase());
  const on = new Set(states.filter(isPressed).map((button) => button.dataset.style));
  const [target, runtime] = [valueOf("target"), valueOf("runtime")];
  const fits = rows.map((row, i) => on.has(row.style) && (!target || row.target === target)
    && isOneOf(row.runtime, runtime) && wanted.every((word) => haystack[i].includes(word)));
  const shown = fits.filter(Boolean).length;
  if (shown < rows.length || find(".off, main [hidden]").length) {
    for (const mark of find(".m")) mark.classList.toggle("off", !fits[mark.dataset.i]);
    for (const item of find(".failures button")) item.parentElement.hidden = !fits[item.dataset.i];
    for (const box of find("tr[data-row], .group")) box.hidden = !box.querySelector(".m:not(.off)");
    for (const box of find(".failed, .failed details")) box.hidden = !box.querySelector("li:not([hidden])");
  }
  by("shown").textContent = shown === rows.length ? `All ${shown} test cases are shown. Open one for its details and its log.`
    : `${shown} of ${rows.length} test cases are shown.`;
  for (const table of find(".group table")) rove(table);
}

// Tab stops once in each table; arrow keys go on from there.
function rove(table, next = table.querySelector('.m[tabindex="0"]:not(.off)') || table.querySelector(".m:not(.off)")) {
  for (const mark of find('.m[tabindex="0"]', table)) mark.tabIndex = -1;
  if (next) next.tabIndex = 0;
}

function neighbour(mark, key) {
  const table = mark.closest("table"), visible = find(".m:not(.off)", table), at = visible.indexOf(mark);
  if (key === "Home") return visible[0];
  if (key === "End") return visible[visible.length - 1];
  if (key === "ArrowLeft" || key === "ArrowRight") return visible[at + (key === "ArrowRight" ? 1 : -1)];
  const column = visible.filter((other) => other.closest("td").cellIndex === mark.closest("td").cellIndex);
  return column[column.indexOf(mark) + (key === "ArrowDown" ? 1 : -1)];
}

function show(mark) {
  const row = rows[mark.dataset.i];
  tip.replaceChildren(made("strong", `${nameOf[row.style]}: ${row.id}`),
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
  details ??= by("details").textContent.split("\n");
  const row = { ...rows[index], ...JSON.parse(details[index]) };
  tip.hidden = true;
  by("case-id").textContent = row.id;
  by("case-mark").className = `s ${row.style}`;
  by("case-words").textContent = `${nameOf[row.style]}${row.words ? `: ${row.words.replace(/^not run: /, "")}` : ""}`;
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
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = by("case-log").scrollTop = 0;
  by("close").focus();
  write(row.id);
}

// The address has what is shown: #outcome=failed,not-run&target=win-x64&runtime=…&words=…&case=…
function write(id) {
  const pressed = states.filter(isPressed).map((button) => button.dataset.name);
  const entries = fields.map((field) => [field.id, field.value]);
  if (pressed.length < states.length) entries.unshift(["outcome", pressed.join()]);
  if (id) entries.push(["case", id]);
  const given = entries.filter(([name, value]) => value || name === "outcome");
  history.replaceState(null, "", given.length ? `#${new URLSearchParams(given)}` : location.pathname + location.search);
}

function read() {
  const given = new URLSearchParams(location.hash.slice(1)), outcome = given.get("outcome");
  for (const button of states) {
    button.setAttribute("aria-pressed", outcome === null || outcome.split(",").includes(button.dataset.name));
  }
  for (const field of fields) field.value = given.get(field.id) || "";
  for (const field of find("select")) if (field.selectedIndex < 0) field.value = "";
  filter();
  const index = rows.findIndex((row) => row.id === given.get("case"));
  if (index >= 0) open(index);
  else dialog.close();
}

function change() {
  filter();
  write();
}

document.addEventListener("click", (event) => {
  const item = event.target.closest("[data-i]");
  if (item) open(item.dataset.i);
  else if (event.target === dialog) dialog.close();
});
by("close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => write());
for (const button of states) button.addEventListener("click", () => {
  button.setAttribute("aria-pressed", !isPressed(button));
  change();
});
for (const field of fields) field.addEventListener("input", change);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (!tip.hidden) tip.hidden = true;
    else if (event.target === words) { words.value = ""; change(); }
  }
  if (event.key === "/" && !dialog.open && event.target !== words) { event.preventDefault(); words.focus(); }
  const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
  if (!keys.includes(event.key) || !event.target.matches(".m")) return;
  event.preventDefault();
  const next = neighbour(event.target, event.key);
  if (!next) return;
  rove(next.closest("table"), next);
  next.focus();
});
for (const type of ["mouseover", "focusin"]) document.addEventListener(type, (event) => {
  const mark = event.target.closest(".m");
  if (mark && (type === "mouseover" || mark.matches(":focus-visible"))) show(mark);
});
for (const type of ["mouseout", "focusout"]) document.addEventListener(type, () => { tip.hidden = true; });
addEventListener("hashchange", read);
by("shown").parentElement.hidden = false;
read();
