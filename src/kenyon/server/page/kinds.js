// What a model learns from, by its encoder.

export const KINDS = {
  text: { name: "Texts", one: "text", about: "Type sentences: intents, tickets, mails." },
  drawing: { name: "Drawings", one: "drawing", about: "Draw symbols with a mouse, a pen or a finger." },
  vector: { name: "Vectors", one: "vector", about: "Embeddings or measurements from your program." },
};

export function kindOf(model) {
  if (model.encoder === null) return "vector";
  return model.encoder === "pixels" || model.encoder === "mobilenetv2" ? "drawing" : "text";
}

export function describe(model) {
  const kind = kindOf(model);
  if (kind === "text") return `Texts, ${model.encoder}`;
  return kind === "drawing" ? "Drawings" : `Vectors of ${model.features}`;
}
