// The corrections that were made on this page: what the model answered, and then what it was taught.
//
// The accuracy is prequential: each answer was given before the model learned this sample. The page
// counts it, keeps it in this browser, and leaves out what was undone.

const KEPT = 200;
export const COUNTED = 50;
export const UNKNOWN = null;

export class Corrections {
  constructor(model) {
    this.key = `kenyon-corrections-${model}`;
    this.all = JSON.parse(localStorage.getItem(this.key) ?? "[]");
  }

  // `answer`: the class that was answered, or UNKNOWN. `replaces`: the event that taught this sample
  // another class before.
  add(event, answer, label, isNew, replaces) {
    const first = this.all.find((one) => one.event === replaces);
    const kept = first ? { answer: first.answer, isNew: first.isNew } : { answer, isNew };
    this.all.push({ event, label, replaces, undone: false, ...kept });
    this.all = this.all.slice(-KEPT);
    this.keep();
  }

  // Takes what the log says of events; those of a model that was made anew are forgotten.
  update(events, last) {
    const before = JSON.stringify(this.all);
    this.all = this.all.filter((one) => one.event <= last);
    const byEvent = new Map(this.all.map((one) => [one.event, one]));
    for (const { event, undone } of events) {
      if (byEvent.has(event)) byEvent.get(event).undone = undone;
    }
    if (JSON.stringify(this.all) !== before) this.keep();
  }

  // Those that count, the latest last.
  counted() {
    const valid = this.all.filter((one) => !one.undone);
    const replaced = new Set(valid.map((one) => one.replaces));
    return valid.filter((one) => !replaced.has(one.event)).slice(-COUNTED);
  }

  forget() {
    localStorage.removeItem(this.key);
  }

  keep() {
    localStorage.setItem(this.key, JSON.stringify(this.all));
  }
}

// "Unknown" is right for a class that is new, and wrong for one that the model had learned.
export const isRight = ({ answer, label, isNew }) => (answer === UNKNOWN ? isNew : answer === label);
