// The list of models, and what to do where there is none.

import { openCreate } from "./create.js";
import { h, keepFocus, plural } from "./dom.js";
import { isGuideDone, skipGuide, startGuide } from "./guide.js";
import { describe } from "./kinds.js";

export function showHome(main, models) {
  const create = h("button", { class: "primary", onclick: () => openCreate(models) }, "New model");
  main.replaceChildren(
    h(
      "div",
      { class: "narrow" },
      h("div", { class: "row title" }, h("h1", {}, "Models"), create),
      isGuideDone() ? null : invitation(main, models),
      models.length ? list(models) : empty(),
    ),
  );
}

function list(models) {
  return h(
    "ul",
    { class: "models panel" },
    models.map((model) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: `#/m/${encodeURIComponent(model.name)}` },
          h("strong", {}, model.name),
          h("span", { class: "kind" }, describe(model)),
          h("span", { class: "count" }, plural(model.classes, "class", "classes")),
          h("span", { class: "count" }, plural(model.samples, "sample")),
        ),
      ),
    ),
  );
}

function empty() {
  return h(
    "p",
    { class: "empty panel" },
    "There is no model yet. A model learns classes from your examples, one at a time. ",
    "Take the guided minute, or create a model.",
  );
}

function invitation(main, models) {
  const panel = h(
    "section",
    { class: "invitation", "aria-labelledby": "invitation" },
    h("h2", { id: "invitation" }, "Teach a model in a minute"),
    h("p", {}, "Four steps with sentences: two classes, an answer, a correction."),
    h(
      "div",
      { class: "row" },
      h("button", { class: "primary", onclick: () => startGuide(models) }, "Start the guided minute"),
      h(
        "button",
        {
          class: "quiet",
          onclick: () => {
            skipGuide();
            panel.remove();
            keepFocus(main);
          },
        },
        "Not now",
      ),
    ),
  );
  return panel;
}
