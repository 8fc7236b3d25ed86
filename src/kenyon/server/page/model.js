// A model: what is typed or drawn on the left, what it has learned on the right.

import { ask, change, modelPath, watch } from "./api.js";
import { Corrections, UNKNOWN } from "./corrections.js";
import { announce, attempt, h, plural } from "./dom.js";
import { makeActions } from "./actions.js";
import { makeAccuracy } from "./accuracy.js";
import { makeCircuit } from "./circuit.js";
import { makeClasses } from "./classes.js";
import { makeDrawing } from "./drawing.js";
import { makeGuide } from "./guide.js";
import { describe, kindOf } from "./kinds.js";
import { makeTeaching } from "./teaching.js";
import { makeText } from "./text.js";
import { makeTimeline } from "./timeline.js";
import { makeVector } from "./vector.js";

const INPUTS = { text: makeText, drawing: makeDrawing, vector: makeVector };

// What the parts of the view share. It sends "counts" when the server tells of other counts, and
// "changed" when this page has taught, undone or edited something.
class Session extends EventTarget {
  constructor(model) {
    super();
    this.model = model;
    this.kind = kindOf(model);
    this.event = model.event;
    this.classes = [];
    this.corrections = new Corrections(model.name);
  }

  path(rest) {
    return modelPath(this.model.name, rest);
  }

  take({ event, classes }) {
    this.event = event;
    this.classes = classes;
    this.dispatchEvent(new Event("counts"));
  }

  async reload() {
    this.take(await ask("GET", this.path("/classes")));
  }

  // A label as the model has it: classes may be numbers.
  toLabel(text) {
    const known = this.classes.find(({ label }) => String(label) === text);
    if (known) return known.label;
    const hasNumbers = this.classes.some(({ label }) => typeof label === "number");
    return hasNumbers && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  }

  async teach(sample, label, before, replaces) {
    const isNew = !this.classes.some((one) => one.label === label);
    const body = { samples: [{ ...sample, label }], replace: replaces !== undefined };
    const { event } = await change("POST", this.path("/learn"), body);
    const answer = before.unknown ? UNKNOWN : before.label;
    this.corrections.add(event, answer, label, isNew, replaces);
    // Until the server tells of all counts, a moment later.
    if (isNew) this.take({ event, classes: [...this.classes, { label, count: 1 }] });
    this.tell("taught", { event, label, after: event });
    announce(`Learned as ${label}.`);
    return event;
  }

  async undo(event) {
    const undo = await change("POST", this.path("/undo"), { event });
    this.tell("undone", { event, after: undo.event });
    announce(`Event ${event} is undone.`);
  }

  // `after`: the event that the server has made of the change.
  tell(what, detail) {
    this.dispatchEvent(new CustomEvent("changed", { detail: { what, ...detail } }));
  }
}

export async function showModel(main, model, signal) {
  const session = new Session(model);
  await session.reload();
  if (signal.aborted) return;
  const input = INPUTS[session.kind](session, signal);
  const teaching = makeTeaching(session, input, signal);
  const guide = makeGuide(model.name, session, (sentence, label) => {
    input.suggest?.(sentence);
    teaching.suggest(label);
  });
  const numbers = h("p", { class: "numbers" });
  main.replaceChildren(
    h(
      "div",
      { class: "row title wide" },
      h("div", {}, h("h1", {}, model.name), numbers),
      makeActions(session),
    ),
    h(
      "div",
      { class: "columns" },
      h("div", { class: "stack" }, guide, teaching.element, makeCircuit(session, teaching)),
      h(
        "div",
        { class: "stack" },
        makeClasses(session),
        makeAccuracy(session),
        makeTimeline(session, signal),
      ),
    ),
  );
  const live = h("span", { class: "live" });
  session.addEventListener("counts", () => {
    const total = session.classes.reduce((sum, { count }) => sum + count, 0);
    numbers.replaceChildren(
      `${describe(model)} · ${plural(session.classes.length, "class", "classes")} · `,
      `${plural(total, "sample")} · `,
      live,
    );
  });
  session.dispatchEvent(new Event("counts"));
  input.focus();
  // Without "attempt" an error here would end the view.
  attempt(() =>
    watch(
      model.name,
      signal,
      (counts) => session.take(counts),
      (isConnected) => {
        live.textContent = isConnected ? "live" : "not connected";
        live.classList.toggle("on", isConnected);
      },
    ),
  );
}
