// The classes with their counts; each can be renamed and dropped.

import { change } from "./api.js";
import { attempt, card, field, h, openDialog, quote, toast, update } from "./dom.js";

const SHOWN = 500;

export function makeClasses(session) {
  const list = h("ul", { class: "classes long" });
  const note = h("p", { class: "empty" });
  const show = () => {
    const { classes } = session;
    const largest = Math.max(1, ...classes.map(({ count }) => count));
    update(list, ...classes.slice(0, SHOWN).map((one) => row(session, one, largest)));
    note.textContent = classes.length
      ? classes.length > SHOWN
        ? `And ${(classes.length - SHOWN).toLocaleString("en")} more.`
        : ""
      : "No classes yet. The first sample that you teach makes one.";
    note.hidden = !note.textContent;
    list.hidden = !classes.length;
  };
  session.addEventListener("counts", show);
  show();
  return card("Classes", { class: "panel" }, list, note);
}

function row(session, { label, count }, largest) {
  const name = String(label);
  const bar = h("span", { class: "bar", "aria-hidden": true }, h("span"));
  bar.firstChild.style.inlineSize = `${(100 * count) / largest}%`;
  const action = (text, run) =>
    h("button", { type: "button", class: "quiet", "aria-label": `${text} ${name}`, onclick: run }, text);
  return h(
    "li",
    {},
    h("span", { class: "class", title: name }, name === "" ? "(empty)" : name),
    h("span", { class: "count" }, count.toLocaleString("en")),
    bar,
    h(
      "span",
      { class: "hover" },
      action("Rename", () => rename(session, label)),
      action("Drop", () => attempt(() => drop(session, label))),
    ),
  );
}

const classPath = (session, label) => session.path(`/classes/${encodeURIComponent(String(label))}`);

function rename(session, label) {
  const name = h("input", { value: String(label), required: true, autocomplete: "off" });
  const dialog = openDialog("Rename the class", "Rename", [field("Name", name)], async () => {
    const body = { label: session.toLabel(name.value.trim()) };
    const { event } = await change("PATCH", classPath(session, label), body);
    session.tell("renamed", { event, after: event });
  });
  dialog.querySelector("input").select();
}

async function drop(session, label) {
  const { event } = await change("DELETE", classPath(session, label));
  session.tell("dropped", { event, after: event });
  toast(["Dropped ", quote(label), ". The timeline can undo it."]);
}
