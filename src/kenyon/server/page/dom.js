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
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
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

// Only what is certain is 0 % or 100 %.
export function percent(share) {
  const rounded = Math.round(100 * share);
  if (rounded === 0 && share > 0) return "< 1 %";
  return rounded === 100 && share < 1 ? "> 99 %" : `${rounded} %`;
}

// A name within a sentence. Letters that are written from right to left do not turn the rest around.
export const quote = (name) => h("bdi", {}, `“${name}”`);

// Whether the page is used with fingers, without keys.
export const isTouch = matchMedia("(pointer: coarse)").matches;

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

// For screen readers: what changed, without a change of the focus.
export function announce(text) {
  document.getElementById("live").textContent = text;
}

// For everyone: a message above the page, which goes by itself unless it is an error.
export function toast(content, isError = false) {
  const shown = document.getElementById("toasts");
  const close = h("button", { class: "quiet", "aria-label": "Close the message" }, "×");
  const made = h("div", { class: isError ? "toast error" : "toast" }, h("span", {}, [content]), close);
  close.addEventListener("click", () => made.remove());
  shown.replaceChildren(made);
  if (!isError) setTimeout(() => made.remove(), 6000);
}

export const closeToast = () => document.getElementById("toasts").replaceChildren();

// Where the element with the focus is gone, the keys go on from here.
export function keepFocus(element) {
  if (document.activeElement === document.body) element.focus();
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
export function openDialog(title, action, content, send, kind = "primary") {
  const id = `dialog-${++lastId}`;
  const problem = h("p", { class: "problem", role: "alert" });
  const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  const submit = h("button", { class: kind }, action);
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
  return showDialog(dialog);
}

// When it closes, the focus goes back to the control that opened it, or to the one in its place.
export function showDialog(dialog) {
  const name = document.activeElement?.getAttribute("aria-label");
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (document.activeElement !== document.body) return;
    const same = name && [...document.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === name);
    keepFocus(same || document.getElementById("main"));
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
