// Put into a page before anything else: uses it as a reader would, and notes what came of it.
"use strict";

const noted = { errors: [], tables: [] };
const note = (event) => noted.errors.push(String(event.message ?? event.reason ?? event.blockedURI));
for (const kind of ["error", "unhandledrejection", "securitypolicyviolation"]) {
  window.addEventListener(kind, note, true);
}

function overflow() {
  return document.documentElement.scrollWidth - document.documentElement.clientWidth;
}

function column(table, index) {
  return Array.from(table.tBodies[0].rows, (row) => [
    row.cells[0].textContent.trim(),
    row.cells[index].dataset.number ?? null,
    row.cells[index].textContent.trim(),
  ]);
}

function sorted(table, head) {
  const button = head.querySelector("button");
  button.focus();
  const reached = document.activeElement === button;
  const orders = ["ascending", "descending"].map(() => {
    button.click();
    return [head.getAttribute("aria-sort"), column(table, head.cellIndex)];
  });
  const heads = Array.from(head.parentElement.cells);
  const others = heads.filter((other) => other !== head && other.ariaSort !== "none").length;
  return { title: button.textContent, reached, orders, others };
}

window.addEventListener("load", () => {
  noted.width = window.innerWidth;
  noted.overflow = [overflow()];
  noted.images = Array.from(document.images, (image) => image.naturalWidth);
  for (const table of document.querySelectorAll("table")) {
    const heads = table.querySelectorAll("thead tr:last-child th");
    noted.tables.push(Array.from(heads, (head) => sorted(table, head)));
  }
  for (const button of document.querySelectorAll(".enlarge")) button.click();
  noted.overflow.push(overflow());
  noted.enlarged = Array.from(document.images, (image) => image.clientWidth);
  noted.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
  window.parent.postMessage(JSON.stringify(noted), "*");
});
