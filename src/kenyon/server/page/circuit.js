// Why this answer: the words, and the picture of the circuit.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { kindOf } from "./kinds.js";
import { drawCircuit } from "./picture.js";

const OPEN = "kenyon-circuit-open";
const LABELS = 8;

export function makeCircuit(session, teaching) {
  const content = h("div", { class: "stack" });
  const details = h(
    "details",
    { class: "panel circuit", open: localStorage.getItem(OPEN) !== "no" },
    h("summary", {}, h("h2", {}, "Why this answer")),
    content,
  );
  let asking = new AbortController();
  let latest = null;

  const update = async () => {
    asking.abort();
    if (!details.open) return;
    asking = new AbortController();
    const { signal } = asking;
    const sample = teaching.input.sample();
    if (!sample || !teaching.answer) {
      latest = null;
      content.replaceChildren(
        h("p", { class: "empty" }, "With an answer comes the picture of the cells that spoke for it."),
      );
      return;
    }
    try {
      const [circuit, words] = await Promise.all([
        ask("POST", session.path("/circuit"), { body: { ...sample, top: LABELS, after: teaching.after }, signal }),
        explainWords(session, sample, teaching.after, signal),
      ]);
      latest = { circuit, words, sample };
      show();
    } catch (error) {
      if (error.name !== "AbortError") {
        content.replaceChildren(h("p", { class: "empty" }, error.message));
      }
    }
  };

  const show = () => {
    if (!latest) return;
    const { circuit, words, sample } = latest;
    const width = Math.max(280, Math.min(760, content.clientWidth));
    content.replaceChildren(
      ...(words?.length ? [showWords(words, circuit.labels[0])] : []),
      drawCircuit(circuit, kindOf(session.model) === "drawing" ? sample.image : null, width),
      h("p", { class: "note" }, caption(circuit, kindOf(session.model) === "drawing")),
    );
  };

  details.addEventListener("toggle", () => {
    localStorage.setItem(OPEN, details.open ? "yes" : "no");
    update();
  });
  teaching.addEventListener("answered", update);
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(content.clientWidth - width) > 8) show();
    width = content.clientWidth;
  }).observe(content);
  update();
  return details;
}

async function explainWords(session, sample, after, signal) {
  if (session.kind !== "text" || session.classes.length < 2) return null;
  const body = { samples: [sample], explain: true, after };
  const { answers } = await ask("POST", session.path("/predict"), { body, signal });
  return answers[0].words;
}

function showWords(words, label) {
  const largest = Math.max(...words.map(({ effect }) => Math.abs(effect)), 0.5);
  const shown = words.flatMap(({ word, effect }) => {
    const mark = h("span", { class: effect >= 0 ? "for" : "against" }, word);
    mark.style.setProperty("--share", Math.abs(effect) / largest);
    const sign = `${effect >= 0 ? "for" : "against"} ${label}: ${Math.abs(effect).toFixed(1)}`;
    mark.append(h("span", { class: "unseen" }, ` (${sign})`));
    mark.title = sign;
    return [mark, " "];
  });
  return h("p", { class: "words" }, shown);
}

function caption({ n_cells, n_active, cells, features, inputs }, isDrawing) {
  const number = (n) => n.toLocaleString("en");
  return [
    isDrawing ? `The drawing becomes ${number(features)} features` : `${number(inputs.length)} of ${number(features)} features`,
    `; they excite ${number(n_active)} of ${number(n_cells)} Kenyon cells. `,
    `In colour: the ${cells.length} that spoke most for the answer, and the inputs of five of them.`,
  ].join("");
}
