// A vector, pasted as numbers.

import { h } from "./dom.js";

export function makeVector(session) {
  const { features } = session.model;
  const box = h("textarea", {
    rows: 3,
    spellcheck: "false",
    "aria-label": "Vector",
    "aria-describedby": "vector-note",
    placeholder: "0.12, -0.5, 3 …",
  });
  const note = h("p", { class: "note", id: "vector-note", "aria-live": "polite" });
  const expected = `${features} numbers, with commas or spaces between them.`;
  const read = () => {
    const words = box.value.replace(/[[\]]/g, " ").split(/[\s,;]+/).filter(Boolean);
    const numbers = words.map(Number);
    if (!words.length) return { note: expected };
    const wrong = numbers.findIndex((one) => !Number.isFinite(one));
    if (wrong >= 0) return { note: `“${words[wrong].slice(0, 20)}” is not a number.` };
    if (numbers.length !== features) return { note: `${numbers.length} of ${features} numbers.` };
    return { vector: numbers, note: "Then Enter, and a number or the name of a class." };
  };
  const input = {
    element: h("div", {}, box, note),
    onedit: () => {},
    onchange: () => {},
    ondone: () => {},
    sample: () => (read().vector ? { vector: read().vector } : null),
    focus: () => box.focus({ preventScroll: true }),
    taught: () => box.select(),
  };
  note.textContent = expected;
  box.addEventListener("input", () => {
    note.textContent = read().note;
    input.onedit();
    input.onchange();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || !read().vector) return;
    event.preventDefault();
    input.ondone();
  });
  return input;
}
