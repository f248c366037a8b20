// Sorts and filters the tables of a page, shows more of their rows and the values of its pictures, copies full ids, and opens the
// section of a link. Without it, everything can be read.
// It makes elements, and sets texts and attributes: no text of the page ever becomes markup or code.
"use strict";

const MISSING = "–";
const MIN_FILTER_ROWS = 6;
const READABLE_ROWS = 15;

function make(name, attributes, text) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

// -- sort -----------------------------------------------------------------------------------------------------------------

function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell ? (cell.getAttribute("title") || cell.textContent).trim() : "";
  if (text === "" || text === MISSING) return null;
  const plain = text.replace(/[,%\s]/g, "").replace("−", "-").replace(/^[<>≥≤]/, "");
  return plain !== "" && !Number.isNaN(Number(plain)) ? Number(plain) : text;
}

function compare(left, right) {
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left).localeCompare(String(right), "en", { numeric: true });
}

function sorted(rows, column, direction) {
  const pairs = rows.map((row) => [valueOf(row, column), row]);
  const known = pairs.filter(([value]) => value !== null).sort((a, b) => direction * compare(a[0], b[0]));
  const missing = pairs.filter(([value]) => value === null); // last in both directions
  return [...known, ...missing].map(([, row]) => row);
}

function addSort(table, rows) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.classList.contains("days")) return; // pictures have no order
    const button = make("button", { type: "button", class: "sort" }, "");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const old = head.getAttribute("aria-sort");
      const order = old === null ? first : old === first ? second : null; // a third click restores the order of the page
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (order) head.setAttribute("aria-sort", order);
      table.tBodies[0].append(...(order ? sorted(rows, column, order === "ascending" ? 1 : -1) : rows));
      table.dispatchEvent(new Event("change"));
    });
  });
}

// -- filter, and more rows -------------------------------------------------------------------------------------------------

// Without the script, a style sheet hides the rows after the first ones until the reader opens them.
function firstRows(table, rows) {
  const count = rows.filter((row) => !row.classList.contains("more")).length;
  for (const row of rows) row.classList.remove("more");
  table.parentElement.querySelector(".rest")?.remove();
  return Math.min(count, READABLE_ROWS);
}

// The number of rows of the whole table, of which a page has the first of a long one.
function totalOf(box) {
  const count = box.querySelector(".note .rows");
  return count ? count.textContent.match(/[\d,]+(?= rows?$)/)[0] : "";
}

// "15 of 168 rows" below a table is true of the rows that are visible, on the screen and in print.
function makeCount(box, total) {
  const [count, ofAll] = box.querySelectorAll(".note .rows");
  if (!count) return () => {};
  ofAll?.remove();
  count.classList.remove("few");
  const name = total === "1" ? "row" : "rows";
  return (visible) => {
    const number = visible.toLocaleString("en");
    count.textContent = number === total ? `${total} ${name}` : `${number} of ${total} ${name}`;
  };
}

function addFilter(box, table, rows, first, total, tellCount) {
  const caption = table.caption ? table.caption.textContent : "this table";
  const bar = make("div", { class: "tools" }, "");
  const isCut = total !== "" && total !== rows.length.toLocaleString("en");
  const placeholder = isCut ? `Filter the first ${rows.length}` : "Filter"; // the other rows are not on the page
  const input = make("input", { type: "search", placeholder, "aria-label": `${placeholder} rows of: ${caption}` }, "");
  const count = make("span", { role: "status" }, "");
  const rest = rows.length - first;
  const more = isCut ? `First ${rows.length} rows` : `${rest} more row${rest === 1 ? "" : "s"}`;
  const all = make("button", { type: "button", "aria-expanded": "false" }, more);
  const texts = new Map(rows.map((row) => [row, `${row.textContent} ${titles(row)}`.toLowerCase()]));
  let isWhole = rows.length <= first;
  function show() {
    const words = input.value.trim().toLowerCase();
    const order = [...table.tBodies[0].rows];
    const fitting = order.filter((row) => texts.get(row).includes(words));
    const visible = new Set(isWhole || words ? fitting : fitting.slice(0, first));
    for (const row of order) row.hidden = !visible.has(row);
    tellCount(visible.size);
    count.textContent = words ? `${fitting.length} of ${rows.length} rows` : "";
    all.setAttribute("aria-expanded", String(isWhole));
    all.textContent = isWhole ? `First ${first} rows` : more;
  }
  input.addEventListener("input", show);
  table.addEventListener("change", show);
  all.addEventListener("click", () => { isWhole = !isWhole; show(); });
  bar.append(input, count);
  if (rows.length > first) bar.append(all);
  box.before(bar);
  show();
}

function titles(row) {
  return [...row.querySelectorAll("td[title]")].map((cell) => cell.title).join(" ");
}

// -- copy -----------------------------------------------------------------------------------------------------------------

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = text; // a page from a file may not write to the clipboard
    getSelection().selectAllChildren(button);
  }
  setTimeout(() => { button.textContent = "Copy"; }, button.textContent === "Copied" ? 1500 : 30000);
}

function addCopy(cell) {
  const text = cell.getAttribute("title");
  const button = make("button", { type: "button", class: "copy", "aria-label": `Copy ${text}` }, "Copy");
  button.addEventListener("click", () => copy(button, text));
  cell.append(button);
}

// -- values of pictures -----------------------------------------------------------------------------------------------------

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
const tooltip = make("div", { class: "tooltip", role: "status" }, "");
let marked = null;

function hideValue() {
  marked?.classList.remove("marked");
  marked = null;
  tooltip.textContent = "";
}

function showValue(mark, text, x, y) {
  hideValue();
  marked = mark;
  mark.classList.add("marked");
  tooltip.textContent = text;
  tooltip.style.left = "0"; // the text has all the width while it is measured
  const left = Math.max(8, Math.min(x + 12, document.documentElement.clientWidth - tooltip.offsetWidth - 8));
  const isAbove = y + 20 + tooltip.offsetHeight > innerHeight;
  tooltip.style.left = `${scrollX + left}px`;
  tooltip.style.top = `${scrollY + (isAbove ? y - 12 - tooltip.offsetHeight : y + 20)}px`;
}

// A pointer, a tap or the arrow keys choose a mark.
function addValues(drawing) {
  const texts = new Map([...drawing.querySelectorAll("title")].map((title) => [title.parentNode, title.textContent]));
  const marks = [...texts.keys()];
  for (const mark of marks) mark.querySelector("title").remove(); // the browser would show it a second time
  const caption = drawing.closest("figure")?.querySelector("figcaption strong")?.textContent ?? "the picture";
  if (!drawing.hasAttribute("aria-label")) drawing.setAttribute("aria-label", `Values of ${caption}`);
  drawing.removeAttribute("aria-hidden");
  drawing.setAttribute("role", "application"); // so that the arrow keys are those of the picture
  drawing.setAttribute("tabindex", "0");
  function point(event) {
    if (texts.has(event.target)) showValue(event.target, texts.get(event.target), event.clientX, event.clientY);
  }
  function step(count) {
    const mark = marks[Math.max(0, Math.min(marks.indexOf(marked) + count, marks.length - 1))];
    mark.scrollIntoView({ block: "nearest" });
    const box = mark.getBoundingClientRect();
    showValue(mark, texts.get(mark), box.left + box.width / 2, box.top + box.height / 2);
  }
  drawing.addEventListener("pointermove", point);
  drawing.addEventListener("pointerdown", point);
  drawing.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hideValue(); });
  drawing.addEventListener("focus", () => { if (drawing.matches(":focus-visible")) step(0); });
  drawing.addEventListener("blur", hideValue);
  drawing.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideValue();
    if (!(event.key in STEPS) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault(); // the page would scroll
    step(STEPS[event.key]);
  });
}

// -- links ----------------------------------------------------------------------------------------------------------------

// A link to a folded section opens it.
function openTarget() {
  const section = document.getElementById(location.hash.slice(1))?.closest("details");
  if (section) section.open = true;
}

// -- the page -------------------------------------------------------------------------------------------------------------

for (const table of document.querySelectorAll(".table table")) {
  if (!table.tHead || !table.tBodies.length) continue;
  const rows = [...table.tBodies[0].rows];
  const first = firstRows(table, rows);
  const box = table.closest(".table");
  const total = totalOf(box);
  const tellCount = makeCount(box, total);
  tellCount(rows.length);
  addSort(table, rows);
  if (rows.length >= MIN_FILTER_ROWS) addFilter(box, table, rows, first, total, tellCount);
}
for (const cell of document.querySelectorAll(".table td.text[title], .id[title]")) addCopy(cell);
for (const drawing of document.querySelectorAll(".marks, .spark")) addValues(drawing);
document.body.append(tooltip);
addEventListener("pointerdown", (event) => { if (!event.target.closest(".marks, .spark")) hideValue(); });
addEventListener("hashchange", openTarget);
openTarget();
