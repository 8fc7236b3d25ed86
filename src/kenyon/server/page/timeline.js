// The events of the model, the latest first; each can be undone.

import { ask } from "./api.js";
import { attempt, card, h, plural, update } from "./dom.js";

const SHOWN = 30;
const MANY = 1000; // events that one request may list

const VERBS = {
  learn: "Learned",
  unlearn: "Unlearned",
  drop: "Dropped",
  rename: "Renamed",
  merge: "Merged a file",
  settings: "Changed settings",
  undo: "Undid",
};

export function makeTimeline(session, signal) {
  const list = h("ol", { class: "timeline long" });
  const note = h("p", { class: "empty" });
  const more = h("button", { type: "button", class: "quiet wide" }, "Show earlier events");
  let shown = SHOWN;
  let asked = 0;

  const load = async () => {
    const mine = (asked += 1);
    const last = session.event;
    try {
      const after = Math.max(0, last - shown);
      const limit = Math.min(shown + 10, MANY);
      const path = session.path(`/events?after=${after}&limit=${limit}`);
      const { events } = await ask("GET", path, { signal });
      if (mine !== asked) return;
      session.corrections.update(events, Math.max(last, events.at(-1)?.event ?? 0));
      update(list, ...events.reverse().map((event) => row(session, event)));
      more.hidden = after === 0 || shown === MANY;
      list.hidden = !events.length;
      note.textContent = "";
      if (!events.length) note.textContent = "Nothing has happened yet.";
      else if (after && shown === MANY) note.textContent = `These are the last ${MANY.toLocaleString("en")} events.`;
      session.dispatchEvent(new Event("events"));
    } catch (error) {
      if (error.name === "AbortError") return;
      note.textContent = error.message;
    }
    note.hidden = !note.textContent;
  };

  more.addEventListener("click", () => {
    shown = Math.min(shown + 3 * SHOWN, MANY);
    load();
  });
  session.addEventListener("counts", load);
  session.addEventListener("changed", load);
  load();
  return card("Timeline", { class: "panel" }, list, note, more);
}

function row(session, event) {
  // Who takes back that something was undone does it again.
  const word = event.what === "undo" ? "Redo" : "Undo";
  const undo = h(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-label": `${word} event ${event.detail?.event ?? event.event}`,
      onclick: () => attempt(() => session.undo(event.event)),
    },
    word,
  );
  const time = new Date(1000 * event.time);
  const hasUndo = !event.undone && event.what !== "unlearn";
  return h(
    "li",
    { class: event.undone ? "undone" : "" },
    h("span", { class: "number" }, event.event),
    h(
      "span",
      { class: "what" },
      sentence(event),
      h("time", { datetime: time.toISOString(), title: `${time.toLocaleString()}, ${event.who}` }, ago(time)),
    ),
    hasUndo ? undo : h("span", { class: "note" }, event.undone ? "undone" : ""),
  );
}

function sentence({ what, samples, labels = [], detail = {} }) {
  const verb = VERBS[what] ?? what;
  const quoted = (label) => h("b", {}, h("bdi", {}, String(label)));
  if (what === "learn") {
    const classes = [...new Set(labels.filter((label) => label !== null))];
    const named = classes.slice(0, 2).flatMap((label, i) => (i ? [", ", quoted(label)] : [quoted(label)]));
    const rest = classes.length > 2 ? ` and ${classes.length - 2} more` : "";
    const number = samples === 1 ? " a sample of " : ` ${plural(samples, "sample")} of `;
    return h("span", {}, verb, classes.length ? number : " (erased)", named, rest);
  }
  if (what === "unlearn") return h("span", {}, `${verb} ${plural(samples, "sample")}`);
  if (what === "drop") return h("span", {}, `${verb} `, quoted(detail.label));
  if (what === "rename") return h("span", {}, `${verb} `, quoted(detail.old), " to ", quoted(detail.new));
  if (what === "undo") return h("span", {}, `${verb} event ${detail.event}`);
  return h("span", {}, verb);
}

function ago(time) {
  const seconds = (Date.now() - time) / 1000;
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return time.toLocaleDateString();
}
