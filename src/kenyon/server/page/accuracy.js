// How often the answer was right before it was corrected, and what was taken for what.

import { COUNTED, isRight, UNKNOWN } from "./corrections.js";
import { card, h, percent } from "./dom.js";

const MAX_CLASSES = 12;
const OTHER = Symbol("other");

export function makeAccuracy(session) {
  const content = h("div", { class: "stack" });
  const show = () => content.replaceChildren(...describe(session.corrections.counted()));
  for (const name of ["changed", "events"]) session.addEventListener(name, show);
  show();
  return card("Accuracy", { class: "panel" }, content);
}

function describe(counted) {
  if (!counted.length) {
    return [h("p", { class: "empty" }, "Each time that you teach, the answer before counts here.")];
  }
  const right = counted.filter(isRight).length;
  const what = counted.length < COUNTED ? counted.length : `the last ${COUNTED}`;
  const marks = counted.map((one) => h("i", { class: isRight(one) ? "right" : "wrong" }));
  return [
    h(
      "p",
      { class: "accuracy" },
      h("strong", {}, percent(right / counted.length)),
      h("span", {}, `${right} of ${what} answers were right before you taught them.`),
    ),
    h("div", { class: "marks", "aria-hidden": true }, marks),
    h("p", { class: "note" }, "Rows: what you taught. Columns: what it had answered."),
    matrix(counted),
  ];
}

// Rows: what was taught. Columns: what was answered.
function matrix(counted) {
  const numbers = new Map();
  for (const { label, answer } of counted) {
    for (const one of [label, answer]) {
      if (one !== UNKNOWN) numbers.set(one, (numbers.get(one) ?? 0) + 1);
    }
  }
  const byNumber = [...numbers.keys()].sort((a, b) => numbers.get(b) - numbers.get(a));
  const named = byNumber.slice(0, MAX_CLASSES).sort((a, b) => String(a).localeCompare(String(b)));
  const place = (one) => (one === UNKNOWN || named.includes(one) ? one : OTHER);
  const cells = counted.map((one) => [place(one.label), place(one.answer), isRight(one)]);
  const rows = [...named, OTHER].filter((one) => cells.some(([label]) => label === one));
  const columns = [...named, OTHER, UNKNOWN].filter((one) => cells.some((cell) => cell.slice(0, 2).includes(one)));
  const body = rows.map((row) => {
    const mine = cells.filter(([label]) => label === row);
    return h(
      "tr",
      {},
      h("th", { scope: "row", title: name(row) }, h("bdi", {}, name(row))),
      columns.map((column) => cell(mine, column)),
    );
  });
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Confusion matrix" },
    h(
      "table",
      { class: "matrix" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td"),
          columns.map((one) => h("th", { scope: "col", title: name(one) }, h("span", {}, name(one)))),
        ),
      ),
      h("tbody", {}, body),
    ),
  );
}

function cell(mine, column) {
  const here = mine.filter(([, answer]) => answer === column);
  const n = here.length;
  const made = h("td", { class: here.every(([, , isHit]) => isHit) ? "hit" : "miss" }, n || "");
  if (n) made.style.setProperty("--share", n / mine.length);
  return made;
}

const name = (one) => (one === OTHER ? "other" : one === UNKNOWN ? "not seen" : String(one));
