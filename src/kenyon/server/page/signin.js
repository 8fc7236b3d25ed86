// The key, which the server prints when it first starts.

import { keepKey } from "./api.js";
import { field, h } from "./dom.js";

export function showSignIn(main, problem, done) {
  const key = h("input", {
    type: "password",
    autocomplete: "current-password",
    spellcheck: "false",
    placeholder: "kenyon_…",
    required: true,
    "aria-describedby": "key-problem",
    "aria-invalid": problem ? "true" : null,
  });
  const remember = h("input", { type: "checkbox", id: "remember" });
  const form = h(
    "form",
    { class: "panel" },
    // Managers of passwords ask for a name.
    h("input", { autocomplete: "username", value: "kenyon", hidden: true }),
    field("Key", key),
    h("div", { class: "check" }, remember, h("label", { for: "remember" }, "Remember it in this browser")),
    h("p", { id: "key-problem", class: "problem", role: "alert" }, problem),
    h("button", { class: "primary wide" }, "Sign in"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keepKey(key.value.trim(), remember.checked);
    done();
  });
  main.replaceChildren(
    h(
      "div",
      { class: "center" },
      h("h1", {}, "Sign in"),
      h(
        "p",
        { class: "lead" },
        "The server printed a key when it first started. ",
        h("code", {}, "kenyon keys create"),
        " makes another.",
      ),
      form,
    ),
  );
  key.focus();
}
