// A drawing: with a mouse, a pen or a finger, or with the arrow keys.

import { announce, h } from "./dom.js";
import { drawStrokes, SIZE, toGrey } from "./ink.js";

const PAUSE = 120;
const STEP = 1 / SIZE;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function makeDrawing(session, signal) {
  return new Drawing(signal);
}

class Drawing {
  constructor(signal) {
    this.strokes = [];
    this.isTaught = false; // the next stroke begins a new drawing
    this.pen = [0.5, 0.5]; // of the arrow keys
    this.isDown = false;
    this.timer = 0;
    this.frame = 0; // that will show the last moves
    this.onedit = () => {};
    this.onchange = () => {};
    this.ondone = () => {};
    this.build();
    // A canvas has no colours of its own.
    const repaint = () => this.paint();
    window.addEventListener("theme", repaint, { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint, { signal });
    this.paint();
  }

  build() {
    this.canvas = h("canvas", {
      width: 560,
      height: 560,
      tabindex: 0,
      role: "application",
      "aria-label": "Drawing area",
      "aria-describedby": "drawing-note",
    });
    this.preview = h("canvas", { width: SIZE, height: SIZE, class: "preview", "aria-hidden": true });
    const undo = h(
      "button",
      { type: "button", "aria-label": "Undo stroke", onclick: () => this.undoStroke() },
      "Undo",
    );
    const clear = h("button", { type: "button", onclick: () => this.clear() }, "Clear");
    const seen = h("figure", { "aria-hidden": true }, h("figcaption", {}, "as it is seen"), this.preview);
    const note = h(
      "p",
      { class: "note", id: "drawing-note" },
      "Or with keys: arrows move the pen, Space lowers and lifts it, Enter goes to the answers.",
    );
    this.element = h(
      "div",
      { class: "canvas" },
      this.canvas,
      h("div", { class: "row" }, undo, clear, seen),
      note,
    );
    this.canvas.addEventListener("pointerdown", (event) => this.start(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(name, () => this.finish());
    }
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("focus", () => this.paint());
    this.canvas.addEventListener("blur", () => this.paint());
  }

  sample() {
    return this.strokes.length ? { image: toGrey(this.strokes) } : null;
  }

  focus() {
    this.canvas.focus({ preventScroll: true, focusVisible: false });
  }

  taught(isTaught) {
    this.isTaught = isTaught;
    this.paint();
    this.focus();
  }

  settle() {
    this.finish();
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.onchange();
  }

  // The drawing has changed; it is asked for when the pen rests.
  changed() {
    this.onedit();
    this.paint();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.onchange();
    }, PAUSE);
  }

  begin(point) {
    if (this.isTaught) this.strokes = [];
    this.isTaught = false;
    this.strokes.push([point]);
    this.onedit();
  }

  start(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.focus();
    this.canvas.setPointerCapture(event.pointerId);
    this.isDrawing = true;
    this.begin(this.place(event));
    this.paint();
  }

  move(event) {
    if (!this.isDrawing) return;
    const events = event.getCoalescedEvents?.() ?? [];
    for (const one of events.length ? events : [event]) this.strokes.at(-1).push(this.place(one));
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  finish() {
    if (!this.isDrawing) return;
    this.isDrawing = false;
    this.changed();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }

  press(event) {
    const { key } = event;
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isPlain) return;
    if (key in ARROWS) this.movePen(ARROWS[key], event.shiftKey ? 4 * STEP : STEP);
    else if (key === " ") this.switchPen();
    else if (key === "Enter") this.ondone();
    else if (key === "Backspace" || key === "Delete") this.clear();
    else return;
    event.preventDefault();
  }

  movePen([dx, dy], step) {
    const limit = (value) => Math.min(1 - STEP, Math.max(STEP, value));
    this.pen = [limit(this.pen[0] + dx * step), limit(this.pen[1] + dy * step)];
    if (!this.isDown) return this.paint();
    this.strokes.at(-1).push(this.pen);
    return this.changed();
  }

  switchPen() {
    this.isDown = !this.isDown;
    announce(this.isDown ? "Pen down" : "Pen up");
    if (this.isDown) this.begin(this.pen);
    this.changed();
  }

  undoStroke() {
    this.isDown = false;
    this.isTaught = false;
    this.strokes.pop();
    this.changed();
    this.focus();
  }

  clear() {
    this.isDown = false;
    this.isTaught = false;
    this.strokes = [];
    this.changed();
    this.focus();
  }

  paint() {
    const { canvas } = this;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const context = canvas.getContext("2d");
    const size = canvas.width;
    const colours = getComputedStyle(canvas);
    context.clearRect(0, 0, size, size);
    context.strokeStyle = this.isTaught ? colours.borderTopColor : colours.color;
    const strokes = this.strokes.map((stroke) => stroke.map(([x, y]) => [x * size, y * size]));
    drawStrokes(context, strokes, size / 16);
    // The pen of the keys, where somebody uses them.
    if (canvas.matches(":focus-visible")) {
      context.fillStyle = context.strokeStyle = colours.accentColor;
      context.beginPath();
      context.arc(this.pen[0] * size, this.pen[1] * size, size / 40, 0, 7);
      context.lineWidth = 4;
      if (this.isDown) context.fill();
      else context.stroke();
    }
    if (!this.isDrawing) this.paintPreview();
  }

  paintPreview() {
    const context = this.preview.getContext("2d");
    const pixels = context.createImageData(SIZE, SIZE);
    const grey = this.strokes.length ? toGrey(this.strokes).flat() : [];
    for (let i = 0; i < SIZE * SIZE; i += 1) {
      pixels.data.set([grey[i] ?? 0, grey[i] ?? 0, grey[i] ?? 0, 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
  }
}
