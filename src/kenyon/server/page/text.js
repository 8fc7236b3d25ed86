// A sentence, which is answered when the typing stops.

import { h, isTouch } from "./dom.js";

const PAUSE = 180;

export function makeText() {
  const box = h("textarea", {
    rows: 2,
    id: "sentence",
    maxlength: 20000,
    "aria-label": "Sentence",
    "aria-describedby": "sentence-note",
    placeholder: "For example: where is my card?",
  });
  const keys = h(
    "p",
    { class: "note", id: "sentence-note" },
    ...(isTouch
      ? ["Then tap the right class, or name another."]
      : ["Then ", h("kbd", {}, "Enter"), ", and a number or the name of a class."]),
  );
  const input = {
    element: h("div", {}, box, keys),
    onedit: () => {},
    onchange: () => {},
    ondone: () => {},
    sample: () => (box.value.trim() ? { text: box.value.trim() } : null),
    focus: () => box.focus({ preventScroll: true }),
    // The next sentence replaces this one as it is typed.
    taught: () => box.select(),
    suggest: (sentence) => {
      box.value = sentence;
      input.onedit();
      input.onchange();
      box.focus();
    },
    // The sample is asked for now, if the pause is not over.
    settle: () => {
      if (!timer) return;
      clearTimeout(timer);
      timer = 0;
      input.onchange();
    },
  };
  let timer = 0;
  box.addEventListener("input", () => {
    input.onedit();
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      input.onchange();
    }, PAUSE);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (box.value.trim()) input.ondone();
  });
  return input;
}
