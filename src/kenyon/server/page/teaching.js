// The sample, the answers, and what it is taught as.

import { ask } from "./api.js";
import { announce, attempt, card, h, isTouch, percent, quote, update } from "./dom.js";
import { KINDS } from "./kinds.js";

const SHOWN = 9; // as many as there are keys
const FALSE_ALARMS = 0.05;
const HOW = isTouch ? "Tap" : "Press the number of";

export function makeTeaching(session, input, signal) {
  return new Teaching(session, input, signal);
}

class Teaching extends EventTarget {
  constructor(session, input, signal) {
    super();
    this.session = session;
    this.input = input;
    this.answer = null; // of the sample that is shown
    this.hasFailed = false; // the last request for an answer
    this.taught = null; // the id, the label and the event of the sample that is shown
    this.version = 0; // of the sample: its edits
    this.asking = null; // the request that is on its way
    this.asked = Promise.resolve();
    this.after = session.event; // the event that the answer knows of
    this.spoken = "";
    this.feedback = null; // what was just done with the sample, instead of a headline
    this.element = this.build();
    input.onedit = () => this.edit();
    input.onchange = () => this.ask();
    input.ondone = () => this.enter();
    session.addEventListener("changed", ({ detail }) => this.follow(detail));
    session.addEventListener("counts", () => this.refresh());
    document.addEventListener("keydown", (event) => this.press(event), { signal });
    this.listClasses();
    this.show();
  }

  build() {
    this.list = h("ol", { class: "answers", "aria-label": "Answers" });
    this.headline = h("div", { class: "headline" });
    this.label = h("input", {
      id: "label",
      list: "classes-known",
      autocomplete: "off",
      spellcheck: "false",
      maxlength: 1000,
      placeholder: "Name of a class",
    });
    this.known = h("datalist", { id: "classes-known" });
    const form = h(
      "form",
      { class: "name" },
      h("label", { for: "label" }, "Another class"),
      h("div", { class: "row" }, this.label, h("button", {}, "Teach")),
      this.known,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.label.value.trim();
      if (text) attempt(() => this.teach(this.session.toLabel(text)));
      else this.label.focus();
    });
    this.reply = h("div", { class: "reply" }, this.headline, this.list, form);
    const title = { text: "Type a sentence", drawing: "Draw something", vector: "Paste a vector" };
    return card(
      title[this.session.kind],
      { class: `panel teach ${this.session.kind}` },
      this.input.element,
      this.reply,
    );
  }

  // The sample is another one from now on; it is asked for when the hand rests.
  edit() {
    this.version += 1;
    this.taught = null;
    this.feedback = null;
    this.reply.classList.add("old");
  }

  // `after`: an event that the answer has to know of.
  ask(after = this.session.event) {
    this.asking?.abort();
    this.asking = new AbortController();
    this.asked = this.update(after, this.asking.signal);
    return this.asked;
  }

  async update(after, signal) {
    const sample = this.input.sample();
    const hasClasses = this.session.classes.length > 0;
    let answer = null;
    this.hasFailed = false;
    try {
      if (sample && hasClasses) answer = await this.predict(sample, after, signal);
    } catch (error) {
      if (signal.aborted) return;
      // The answer to another sample must not stay.
      this.hasFailed = true;
      this.feedback = [h("p", { class: "problem" }, error.message)];
      announce(error.message);
    }
    if (signal.aborted) return;
    this.answer = answer;
    this.after = after;
    this.reply.classList.remove("old");
    this.show();
    this.dispatchEvent(new Event("answered"));
  }

  async predict(sample, after, signal) {
    const body = { samples: [sample], top: SHOWN, unknown: FALSE_ALARMS, after };
    try {
      const { answers } = await ask("POST", this.session.path("/predict"), { body, signal });
      return answers[0];
    } catch (error) {
      if (error.status === 409) return null; // its last class was dropped
      throw error;
    }
  }

  show() {
    const { answer } = this;
    update(this.list, ...(answer?.top ?? []).map((chance, i) => this.row(chance, i)));
    this.list.classList.toggle("unsure", Boolean(answer?.unknown));
    this.list.hidden = !answer;
    this.headline.classList.toggle("unknown", Boolean(answer?.unknown && !this.feedback));
    this.headline.replaceChildren(...(this.feedback ?? [h("p", {}, this.sentence())]));
    this.element.querySelector("label[for=label]").textContent = answer ? "Another class" : "Its class";
    const words = answer ? spoken(answer) : "";
    if (words && words !== this.spoken) announce(words);
    this.spoken = words;
  }

  sentence() {
    const { answer, session } = this;
    const { one } = KINDS[session.kind];
    if (answer?.unknown) return "I have not seen anything like this. The nearest classes:";
    if (answer) {
      return session.classes.length === 1
        ? "It knows one class so far. Teach it a second."
        : `Is it right? ${HOW} the right class.`;
    }
    return session.classes.length === 0
      ? `This model has learned nothing yet. Give it a ${one}, then name its class.`
      : `It answers as soon as there is a ${one}.`;
  }

  row({ label, probability }, i) {
    const bar = h("span", { class: "bar", "aria-hidden": true }, h("span"));
    bar.firstChild.style.inlineSize = `${100 * probability}%`;
    const isTaught = this.taught?.label === label;
    const button = h(
      "button",
      {
        type: "button",
        class: isTaught ? "answer taught" : "answer",
        "aria-keyshortcuts": i + 1,
        onclick: () => attempt(() => this.teach(label)),
      },
      h("kbd", { "aria-hidden": true }, i + 1),
      h("span", { class: "class", title: label }, label === "" ? "(empty)" : String(label)),
      bar,
      h("span", { class: "share" }, percent(probability)),
    );
    return h("li", {}, button);
  }

  async teach(label) {
    if (this.isTeaching) return;
    this.isTeaching = true;
    let event;
    try {
      await this.input.settle?.();
      await this.asked;
      const sample = this.input.sample();
      if (!sample) throw new Error(`There is no ${KINDS[this.session.kind].one} to teach yet.`);
      event = await this.learn(sample, label);
    } finally {
      this.isTeaching = false;
    }
    if (event !== undefined) await this.ask(event);
  }

  // Returns the event, unless there is another sample by then.
  async learn(sample, label) {
    if (this.taught?.label === label) {
      this.tell(["It is learned as ", quote(label), " already."]);
      return undefined;
    }
    // The same sample again is no second sample: its new class replaces the other.
    const id = this.taught?.id ?? newId();
    const before = this.answer ?? { unknown: true };
    const { version } = this;
    this.label.value = "";
    // The next stroke begins a new drawing, even before the server has answered.
    this.input.taught(true);
    let event;
    try {
      event = await this.session.teach({ ...sample, id }, label, before, this.taught?.event);
    } catch (error) {
      if (version === this.version) this.input.taught(false);
      throw error;
    }
    if (version !== this.version) return undefined;
    this.taught = { id, label, event };
    this.tell(["Learned as ", quote(label), "."], event);
    return event;
  }

  tell(content, event) {
    const undo = () => attempt(() => this.session.undo(event));
    const button = h("button", { type: "button", class: "quiet", onclick: undo }, "Undo");
    this.feedback = [h("p", {}, content), event === undefined ? "" : button];
    this.show();
  }

  // What was changed elsewhere on the page changes the answer, too.
  async follow({ what, event, after }) {
    if (what === "taught") return;
    this.feedback = null;
    if (this.taught?.event === event && what === "undone") {
      this.taught = null;
      this.tell("Undone.");
    }
    await attempt(() => this.session.reload());
    this.ask(after);
  }

  // Others teach, too.
  refresh() {
    this.listClasses();
    const isOld = this.hasFailed || this.session.event > this.after;
    if (this.hasFailed) this.feedback = null;
    if (!this.isTeaching && this.input.sample() && isOld) this.ask();
  }

  listClasses() {
    const options = this.session.classes.map(({ label }) => h("option", { value: String(label) }));
    this.known.replaceChildren(...options);
    if (!this.answer) this.show();
  }

  suggest(label) {
    this.label.value = label;
  }

  // Enter after a sample: on to the answers, where a number or a name teaches.
  async enter() {
    await this.input.settle?.();
    await this.asked;
    (this.list.querySelector("button") ?? this.label).focus();
  }

  press(event) {
    const { key, target } = event;
    const isTyping = target.closest?.("input, textarea, select, dialog, [contenteditable]");
    if (event.defaultPrevented || event.altKey || isTyping) return;
    if ((event.ctrlKey || event.metaKey) && key === "z" && this.taught) {
      event.preventDefault();
      attempt(() => this.session.undo(this.taught.event));
    }
    if (event.ctrlKey || event.metaKey) return;
    const answers = this.list.querySelectorAll("button");
    if (/^[1-9]$/.test(key) && answers.length >= Number(key)) {
      event.preventDefault();
      answers[Number(key) - 1].click();
    } else if (this.list.contains(target) && /^[\p{L}<_]$/u.test(key)) {
      this.label.focus(); // and the letter is typed there
    }
  }
}

const newId = () => {
  const words = crypto.getRandomValues(new Uint32Array(3));
  return `page-${[...words].map((word) => word.toString(36)).join("")}`;
};

function spoken({ unknown, top }) {
  const best = top.slice(0, 3).map(({ label, probability }) => `${label}, ${percent(probability)}`);
  return `${unknown ? "Not seen before. " : ""}${best.join("; ")}`;
}
