// Put into a page before anything else: notes its errors and its sizes, and sorts its tables.
"use strict";

const noted = { errors: [], tables: [] };
const note = (event) => noted.errors.push(String(event.message ?? event.reason ?? event.blockedURI));
for (const kind of ["error", "unhandledrejection", "securitypolicyviolation"]) {
  window.addEventListener(kind, note, true);
}

function overflow() {
  return document.documentElement.scrollWidth - document.documentElement.clientWidth;
}

// Parts of a picture that stick out of it, or of the box in which it scrolls.
function outside(svg) {
  const frame = svg.getBoundingClientRect();
  const sticksOut = (part) => {
    const box = part.getBoundingClientRect();
    return (
      box.left < frame.left - 1 || box.right > frame.right + 1 ||
      box.top < frame.top - 1 || box.bottom > frame.bottom + 1
    );
  };
  const parts = svg.querySelectorAll("text, rect, line, circle, path");
  return Array.from(parts).filter(sticksOut).map((part) => part.outerHTML.slice(0, 120));
}

// Pairs of texts of a picture that cover each other.
function collisions(svg) {
  const texts = Array.from(svg.querySelectorAll("text"), (text) => [text, text.getBoundingClientRect()]);
  const pairs = [];
  texts.forEach(([first, a], i) => {
    for (const [second, b] of texts.slice(i + 1)) {
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (width > 1 && height > 3) pairs.push([first.textContent, second.textContent]);
    }
  });
  return pairs;
}

function sorted(head) {
  const button = head.querySelector("button");
  return ["ascending", "descending"].map((order) => {
    button.click();
    const rows = head.closest("table").tBodies[0].rows;
    const keys = Array.from(rows, (row) => row.cells[head.cellIndex].dataset.number ?? null);
    return [head.getAttribute("aria-sort") === order, keys];
  });
}

window.addEventListener("load", () => {
  noted.width = window.innerWidth;
  for (const part of document.querySelectorAll("details")) part.open = true;
  noted.overflow = overflow();
  noted.title = document.title;
  noted.marks = document.querySelectorAll("mark").length;
  noted.scripts = document.scripts.length;
  noted.background = getComputedStyle(document.body).backgroundColor;
  noted.figures = Array.from(document.querySelectorAll("svg"), (svg) => ({
    title: svg.querySelector("title").textContent,
    size: [svg.clientWidth, svg.clientHeight],
    outside: outside(svg),
    collisions: collisions(svg),
  }));
  for (const head of document.querySelectorAll("th[data-sorts]")) {
    noted.tables.push([head.textContent, sorted(head)]);
  }
  noted.fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
  window.parent.postMessage(JSON.stringify(noted), "*");
});
