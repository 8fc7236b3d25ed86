// The form of a new model.

import { ask, modelPath } from "./api.js";
import { field, h, openDialog } from "./dom.js";
import { KINDS } from "./kinds.js";

const NAME = "[A-Za-z0-9_\\-][A-Za-z0-9._\\-]{0,99}";

export function openCreate(models) {
  const name = h("input", {
    required: true,
    pattern: NAME,
    title: "Letters, digits, hyphens, underscores and points",
    maxlength: 100,
    autocomplete: "off",
    spellcheck: "false",
  });
  const encoder = h(
    "select",
    {},
    h("option", { value: "hashing" }, "Hashing (the words)"),
    h("option", { value: "minilm" }, "MiniLM (their meaning)"),
  );
  const readout = h(
    "select",
    {},
    h("option", { value: "bayes" }, "Bayes (answers at once)"),
    h("option", { value: "ridge" }, "Ridge (more accurate)"),
  );
  const features = h("input", { type: "number", min: 1, max: 100000, value: 384, required: true });
  const keep = h("input", { type: "checkbox", id: "keep-texts" });
  const parts = {
    text: [
      field("Encoder", encoder, "MiniLM knows synonyms and needs the extra “text” on the server."),
      h("div", { class: "check" }, keep, h("label", { for: "keep-texts" }, "Keep the texts in the store")),
    ],
    drawing: [],
    vector: [field("Numbers in a vector", features)],
  };
  const details = h("div", { class: "stack" });
  let kind = "text";
  const choose = (chosen) => {
    kind = chosen;
    details.replaceChildren(...parts[kind]);
  };
  choose(kind);
  const dialog = openDialog(
    "New model",
    "Create",
    [kindChoice(choose), field("Name", name), details, field("Readout", readout, "Ridge solves equations after each lesson.")],
    async () => {
      if (models.some((one) => one.name === name.value)) {
        throw new Error(`There is a model ${name.value} already.`);
      }
      const body = {
        text: { encoder: encoder.value, keep_texts: keep.checked },
        drawing: { encoder: "pixels" },
        vector: { features: features.valueAsNumber },
      }[kind];
      body.settings = { readout: readout.value };
      await ask("PUT", modelPath(name.value), { body });
      location.hash = `#/m/${encodeURIComponent(name.value)}`;
    },
  );
  dialog.querySelector("input").focus();
}

function kindChoice(choose) {
  return h(
    "fieldset",
    { class: "kinds" },
    h("legend", {}, "It learns from"),
    Object.entries(KINDS).map(([kind, { name, about }]) => {
      const radio = h("input", {
        type: "radio",
        name: "kind",
        value: kind,
        checked: kind === "text",
        onchange: () => choose(kind),
      });
      return h("label", {}, radio, h("span", {}, h("strong", {}, name), h("small", {}, about)));
    }),
  );
}
