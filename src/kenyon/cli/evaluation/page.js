"use strict";

const collator = new Intl.Collator("en", { numeric: true });
// Missing values are null, of type "object", and sort last in either direction.
const KINDS = ["number", "string", "object"];

function key(cell) {
  if ("number" in cell.dataset) return Number(cell.dataset.number);
  const text = cell.textContent.trim();
  return text === "" || text === "-" ? null : text;
}

function compare(a, b, sign) {
  if (typeof a !== typeof b) return KINDS.indexOf(typeof a) - KINDS.indexOf(typeof b);
  if (a === null) return 0;
  return sign * (typeof a === "number" ? a - b : collator.compare(a, b));
}

function sort(head) {
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  const body = head.closest("table").tBodies[0];
  const keyed = Array.from(body.rows, (row) => [key(row.cells[head.cellIndex]), row]);
  keyed.sort(([a], [b]) => compare(a, b, sign));
  body.append(...keyed.map(([, row]) => row));
}

for (const head of document.querySelectorAll("th[data-sorts]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  button.addEventListener("click", () => sort(head));
  head.append(button);
  head.setAttribute("aria-sort", "none");
}
