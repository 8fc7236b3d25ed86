// Elements. What users wrote only ever becomes text: nothing here takes HTML.

const SVG = "http://www.w3.org/2000/svg";

// h("button", { class: "quiet", onclick: f, disabled: true }, "Undo", icon)
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Replaces what an element holds. The focus stays on the control of the same name or place.
export function update(element, ...children) {
  const controls = () => [...element.querySelectorAll("button, a, [tabindex]")];
  const active = element.contains(document.activeElement) ? document.activeElement : null;
  const place = controls().indexOf(active);
  element.replaceChildren(...children);
  if (place < 0) return;
  const now = controls();
  const name = active.getAttribute("aria-label");
  const same = name && now.find((one) => one.getAttribute("aria-label") === name);
  (same || now[Math.min(place, now.length - 1)])?.focus({ preventScroll: true });
}

let lastId = 0;

// A label above its field, with a note below.
export function field(label, control, note) {
  control.id ||= `field-${++lastId}`;
  const noteId = `${control.id}-note`;
  if (note) control.setAttribute("aria-describedby", noteId);
  return h(
    "div",
    { class: "field" },
    h("label", { for: control.id }, label),
    control,
    note ? h("p", { id: noteId, class: "note" }, note) : null,
  );
}

export function card(title, attributes = {}, ...children) {
  const id = `card-${++lastId}`;
  const heading = h("h2", { id }, title);
  return h("section", { "aria-labelledby": id, ...attributes }, heading, ...children);
}

export const percent = (share) => `${Math.round(100 * share)} %`;

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

// For screen readers: what changed, without a change of the focus.
export function announce(text) {
  document.getElementById("live").textContent = text;
}

// For everyone: a message above the page, which goes by itself unless it is an error.
export function toast(text, isError = false) {
  const shown = document.getElementById("toasts");
  const close = h("button", { class: "quiet", "aria-label": "Close the message" }, "×");
  const made = h("div", { class: isError ? "toast error" : "toast" }, h("span", {}, text), close);
  close.addEventListener("click", () => made.remove());
  shown.replaceChildren(made);
  if (!isError) setTimeout(() => made.remove(), 6000);
}

// An action of a user: what fails is told, not lost.
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    if (error.name !== "AbortError") toast(error.message, true);
    return undefined;
  }
}

// A dialog with a form. `send` runs when it is sent; the dialog closes unless it fails.
export function openDialog(title, action, content, send) {
  const id = `dialog-${++lastId}`;
  const problem = h("p", { class: "problem", role: "alert" });
  const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  const submit = h("button", { class: "primary" }, action);
  const form = h(
    "form",
    {},
    h("h2", { id }, title),
    ...content,
    problem,
    h("div", { class: "row end" }, cancel, submit),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    problem.textContent = "";
    try {
      await send(dialog);
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      submit.disabled = false;
    }
  });
  const dialog = h("dialog", { "aria-labelledby": id }, form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
