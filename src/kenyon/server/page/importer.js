// Import of a CSV file: choose the columns, learn in batches, see the progress, stop at any time.

import { change, newKey } from "./api.js";
import { parseTable } from "./csv.js";
import { announce, field, h, plural, showDialog, toast } from "./dom.js";
import { KINDS } from "./kinds.js";

const BATCH = 100;
const LABELS = /^(label|class|category|intent|target|y)$/i;
const TEXTS = /^(text|sentence|question|utterance|message|query)$/i;

export function openImport(session) {
  new Importer(session).open();
}

class Importer {
  constructor(session) {
    this.session = session;
    this.isClosed = false;
  }

  open() {
    const { kind } = this.session;
    this.file = h("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", required: true });
    this.text = h("select", { required: true });
    this.label = h("select", { required: true });
    this.columns = h("div", { class: "stack", hidden: true });
    this.columns.append(
      kind === "text" ? field("Column of the text", this.text) : "",
      field("Column of the class", this.label),
    );
    this.note = h("p", { class: "note", "aria-live": "polite" }, expected(this.session));
    this.progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.submit = h("button", { class: "primary", disabled: true }, "Import");
    this.cancel = h("button", { type: "button", onclick: () => this.dialog.close() }, "Cancel");
    const form = h(
      "form",
      {},
      h("h2", { id: "import-title" }, "Import a CSV file"),
      ...[field("File", this.file), this.columns, this.note, this.progress, this.problem],
      h("div", { class: "row end" }, this.cancel, this.submit),
    );
    this.dialog = h("dialog", { "aria-labelledby": "import-title" }, form);
    this.file.addEventListener("change", () => this.guard(() => this.read()));
    this.label.addEventListener("change", () => this.guard(() => this.preview()));
    this.text.addEventListener("change", () => this.guard(() => this.preview()));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.guard(() => this.run());
    });
    this.dialog.addEventListener("close", () => {
      this.isClosed = true;
    });
    showDialog(this.dialog);
  }

  async guard(action) {
    this.problem.textContent = "";
    try {
      await action();
    } catch (error) {
      // A batch may fail after the dialog was closed.
      if (this.isClosed) toast(error.message, true);
      this.problem.textContent = error.message;
      this.submit.disabled = this.samples === undefined;
    }
  }

  async read() {
    this.samples = undefined;
    this.key = null;
    this.submit.disabled = true;
    this.columns.hidden = true;
    this.text.disabled = this.label.disabled = false;
    const [head, ...rows] = parseTable(await this.file.files[0].text());
    if (!rows.length) throw new Error("This file has no rows below its first line.");
    this.head = head;
    this.rows = rows;
    for (const select of [this.text, this.label]) {
      select.replaceChildren(...head.map((name, i) => h("option", { value: i }, name || `(column ${i + 1})`)));
    }
    const find = (pattern) => head.findIndex((name) => pattern.test(name.trim()));
    const label = find(LABELS) >= 0 ? find(LABELS) : head.length - 1;
    this.label.value = label;
    this.text.value = find(TEXTS) >= 0 ? find(TEXTS) : label === 0 ? 1 : 0;
    this.columns.hidden = false;
    this.preview();
  }

  preview() {
    this.samples = undefined;
    this.key = null;
    this.submit.disabled = true;
    this.samples = this.makeSamples();
    const classes = new Set(this.samples.map(({ label }) => label)).size;
    const rows = plural(this.samples.length, "row");
    this.note.textContent = `${rows}, ${plural(classes, "class", "classes")}.`;
    this.submit.disabled = false;
  }

  makeSamples() {
    const { session } = this;
    const label = Number(this.label.value);
    const text = Number(this.text.value);
    if (session.kind === "text" && text === label) {
      throw new Error("The text and the class must be two columns.");
    }
    return this.rows.map((row, i) => {
      const place = `Line ${i + 2}`; // of a file without line ends in quotes
      if (row.length !== this.head.length) {
        throw new Error(`${place} has ${row.length} cells, but the first line has ${this.head.length}.`);
      }
      const name = row[label].trim();
      if (!name) throw new Error(`${place} has no class.`);
      const sample = { label: session.toLabel(name) };
      if (session.kind === "text") return { ...sample, text: row[text] };
      const numbers = row.filter((_, column) => column !== label).map(Number);
      if (!numbers.every(Number.isFinite)) throw new Error(`${place} has a cell that is no number.`);
      return { ...sample, ...shape(session, numbers, place) };
    });
  }

  async run() {
    const { samples, session } = this;
    this.submit.disabled = true;
    this.file.disabled = this.text.disabled = this.label.disabled = true;
    this.progress.hidden = false;
    this.cancel.textContent = "Stop";
    const all = plural(samples.length, "row");
    let done = 0;
    let event;
    try {
      while (done < samples.length && !this.isClosed) {
        const body = { samples: samples.slice(done, done + BATCH) };
        // A batch whose answer was lost has the same key when it is sent again, and is learned once.
        this.key ??= newKey();
        ({ event } = await change("POST", session.path("/learn"), body, this.key));
        this.key = null;
        done += body.samples.length;
        this.progress.value = done / samples.length;
        this.note.textContent = `${done.toLocaleString("en")} of ${all} learned.`;
      }
    } finally {
      if (event !== undefined) session.tell("imported", { event, after: event });
      // What was learned stays: the rest can be imported once the problem is gone.
      this.samples = samples.slice(done);
      this.file.disabled = false;
      // Other columns would teach the same rows again.
      this.text.disabled = this.label.disabled = done > 0;
      this.cancel.textContent = "Cancel";
    }
    const isWhole = done === samples.length;
    const text = isWhole ? `Imported ${all}.` : `Stopped. ${done.toLocaleString("en")} of ${all} were learned.`;
    this.dialog.close();
    toast(text);
    announce(text);
  }
}

function expected({ kind, model }) {
  if (kind === "text") return "One column holds the texts, another the classes. The first line names them.";
  const size = kind === "drawing" ? "of grey pixels, 0 to 255, of square images" : `: ${model.features} of them`;
  return `One column holds the classes, all others numbers ${size}. The first line names them.`;
}

function shape({ kind, model }, numbers, place) {
  if (kind === "vector") {
    if (numbers.length === model.features) return { vector: numbers };
    throw new Error(`${place} has ${numbers.length} numbers, but the model takes ${model.features}.`);
  }
  const size = Math.sqrt(numbers.length);
  if (!Number.isInteger(size) || size === 0) {
    throw new Error(`${place} has ${numbers.length} pixels, which is no square ${KINDS.drawing.one}.`);
  }
  return { image: Array.from({ length: size }, (_, i) => numbers.slice(i * size, (i + 1) * size)) };
}
