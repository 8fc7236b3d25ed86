// The page: the key, the address after #, and the switch of the theme.

import { ask, dropKey, findKey } from "./api.js";
import { closeToast, h, keepFocus, toast } from "./dom.js";
import { showHome } from "./home.js";
import { showModel } from "./model.js";
import { showSignIn } from "./signin.js";

const THEMES = { system: "system", light: "light", dark: "dark" };
const main = document.getElementById("main");
const crumb = document.getElementById("crumb");
const signOut = document.getElementById("sign-out");

let leave = new AbortController(); // ends what the view that is shown has started

async function show() {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const name = location.hash.startsWith("#/m/") ? decodeURIComponent(location.hash.slice(4)) : null;
  crumb.replaceChildren();
  closeToast();
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  try {
    if (!findKey()) return signIn("");
    const { models } = await ask("GET", "/v1/models", { signal });
    signOut.hidden = false;
    const model = models.find((one) => one.name === name);
    if (name !== null && !model) toast(["There is no model ", h("bdi", {}, name), "."], true);
    document.title = model ? `${model.name} – Kenyon` : "Kenyon";
    if (!model) {
      showHome(main, models);
      keepFocus(main);
      return undefined;
    }
    crumb.replaceChildren(h("span", { "aria-hidden": true }, "/"), switcher(models, model));
    return await showModel(main, model, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error.status === 401) return signIn("This key is not known, or was revoked.");
    showFailure(error);
    return undefined;
  }
}

function showFailure(error) {
  const again = h("button", { class: "primary", onclick: show }, "Try again");
  main.replaceChildren(
    h("div", { class: "center" }, h("h1", {}, "This did not work"), h("p", { role: "alert" }, error.message), again),
  );
  again.focus();
}

function signIn(problem) {
  dropKey();
  signOut.hidden = true;
  document.title = "Sign in – Kenyon";
  showSignIn(main, problem, show);
}

function switcher(models, model) {
  const select = h("select", { class: "switcher", "aria-label": "Model" });
  for (const one of models) {
    select.append(h("option", { value: one.name, selected: one === model }, one.name));
  }
  select.addEventListener("change", () => {
    location.hash = `#/m/${encodeURIComponent(select.value)}`;
  });
  return select;
}

function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  if (theme === "system") localStorage.removeItem("kenyon-theme");
  else localStorage.setItem("kenyon-theme", theme);
  showTheme();
  window.dispatchEvent(new Event("theme"));
}

function showTheme() {
  const theme = document.documentElement.dataset.theme ?? "system";
  const button = document.getElementById("theme");
  button.textContent = `Theme: ${THEMES[theme]}`;
}

document.getElementById("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES);
  const now = document.documentElement.dataset.theme ?? "system";
  setTheme(names[(names.indexOf(now) + 1) % names.length]);
});
signOut.addEventListener("click", () => signIn(""));
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", show);
showTheme();
show();
