// What can be done with a whole model: import, export, delete.

import { ask, download } from "./api.js";
import { attempt, h, openDialog } from "./dom.js";
import { openImport } from "./importer.js";

export function makeActions(session) {
  return h(
    "div",
    { class: "row actions" },
    h("button", { type: "button", onclick: () => openImport(session) }, "Import CSV"),
    h("button", { type: "button", onclick: () => attempt(() => save(session)) }, "Export"),
    h("button", { type: "button", class: "danger", onclick: () => openDelete(session) }, "Delete"),
  );
}

async function save(session) {
  const address = URL.createObjectURL(await download(session.path("/export")));
  const link = h("a", { href: address, download: `${session.model.name}.kenyon` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function openDelete(session) {
  const { name } = session.model;
  const text = `Delete ${name}, with all that it has learned? This cannot be undone.`;
  const remove = async () => {
    await ask("DELETE", session.path());
    session.corrections.forget();
    location.hash = "#/";
  };
  openDialog("Delete the model", "Delete", [h("p", {}, text)], remove, "primary danger");
}
