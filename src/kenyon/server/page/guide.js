// The guided minute: four steps on a model of its own, which ends taught.

import { ask, modelPath } from "./api.js";
import { announce, attempt, h, isTouch, keepFocus } from "./dom.js";

const DONE = "kenyon-guide-done";
const MODEL = "kenyon-guide-model";

const STEPS = [
  {
    text: "Type a sentence, or take ours. Name its class, “bank”, and press Teach.",
    sentence: "please pay my electricity bill",
    label: "bank",
    isDone: (what, label) => what === "taught" && label === "bank",
  },
  {
    text: "A choice needs a second class. Teach this sentence as “music”.",
    sentence: "play a quiet love song",
    label: "music",
    isDone: (what, label) => what === "taught" && label === "music",
  },
  {
    text: `Now ask. It has never seen this sentence, and answers. ${isTouch ? "Tap the right answer" : "Press Enter, then the number of the right answer"}.`,
    sentence: "another song please",
    label: "music",
    isDone: (what) => what === "taught",
  },
  {
    text: "Make a mistake: teach this sentence as “music”. Then press Undo.",
    sentence: "pay the rent for my flat",
    label: "",
    isDone: (what) => what === "undone",
  },
];

export const isGuideDone = () => localStorage.getItem(DONE) !== null;
export const skipGuide = () => localStorage.setItem(DONE, "1");

export async function startGuide(models) {
  await attempt(async () => {
    const names = new Set(models.map((one) => one.name));
    let name = "first-minute";
    for (let i = 2; names.has(name); i += 1) name = `first-minute-${i}`;
    await ask("PUT", modelPath(name), {
      body: { encoder: "hashing", settings: { readout: "bayes" } },
    });
    sessionStorage.setItem(MODEL, name);
    location.hash = `#/m/${encodeURIComponent(name)}`;
  });
}

// The panel of the guide above its model, or null elsewhere.
export function makeGuide(name, events, suggest) {
  if (sessionStorage.getItem(MODEL) !== name) return null;
  let step = 0;
  const panel = h("section", { class: "guide", "aria-label": "The guided minute" });
  const show = () => {
    panel.replaceChildren(...(step < STEPS.length ? showStep(step, suggest, end) : showEnd(end)));
    announce(panel.querySelector("p").textContent);
  };
  const end = () => {
    sessionStorage.removeItem(MODEL);
    skipGuide();
    panel.remove();
    keepFocus(document.getElementById("main"));
  };
  events.addEventListener("changed", ({ detail }) => {
    if (step < STEPS.length && STEPS[step].isDone(detail.what, detail.label)) {
      step += 1;
      show();
    }
  });
  show();
  return panel;
}

function showStep(step, suggest, end) {
  const { text, sentence, label } = STEPS[step];
  return [
    progress(step),
    h("p", {}, h("strong", {}, `Step ${step + 1} of ${STEPS.length}. `), text),
    h(
      "div",
      { class: "row" },
      h("button", { onclick: () => suggest(sentence, step < 2 ? label : "") }, `Type “${sentence}”`),
      h("button", { class: "quiet", onclick: end }, "End the guide"),
    ),
  ];
}

function showEnd(end) {
  return [
    progress(STEPS.length),
    h(
      "p",
      {},
      h("strong", {}, "You have taught a model. "),
      "Every correction counts at once, and every event can be undone. ",
      "Go on here, import a CSV file, or create a model of your own.",
    ),
    h("div", { class: "row" }, h("button", { class: "primary", onclick: end }, "Done")),
  ];
}

function progress(done) {
  const dots = STEPS.map((_, i) => h("span", { class: i < done ? "dot on" : "dot" }));
  return h("div", { class: "dots", "aria-hidden": true }, dots);
}
