// The circuit as a picture: inputs, active cells, classes, and the synapses between them.

import { percent, svg } from "./dom.js";

const WIRED = 5; // cells whose inputs are drawn
const MAX_DOTS = 3000;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

// `image`: the rows of a drawing, or null for features as bars.
export function drawCircuit(circuit, image, width) {
  const height = Math.round(Math.max(260, Math.min(360, width * 0.5)));
  const layout = arrange(circuit, image, width, height);
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "picture", role: "img", "aria-label": spoken(circuit) },
    drawCells(circuit, layout),
    drawInputs(circuit, image, layout),
    drawSynapses(circuit, layout),
    drawNamed(circuit, layout),
    drawClasses(circuit, layout),
  );
  return picture;
}

function spoken({ labels, cells, inputs }) {
  return `${inputs.length} inputs excite cells; ${cells.length} cells speak for ${labels[0]}.`;
}

function arrange({ n_cells, inputs, labels, features }, image, width, height) {
  // Where a picture is narrow, the names of the classes still have room.
  const names = Math.min(width * 0.83, width - 96);
  const radius = Math.min(height / 2 - 8, width * 0.23, (names - width * 0.2) / 2 - 4);
  const middle = [Math.min(width * 0.47, names - radius - 12), height / 2];
  // A sunflower: every cell has its place, whatever its number.
  const cell = (i, n = n_cells) => {
    const r = radius * Math.sqrt((i + 0.5) / n);
    return [middle[0] + r * Math.cos(i * GOLDEN), middle[1] + r * Math.sin(i * GOLDEN)];
  };
  const side = Math.min(width * 0.22, height * 0.6);
  const input = (one, i) => {
    if (!image) return [width * 0.17, 10 + ((height - 20) * (i + 0.5)) / inputs.length];
    const across = Math.sqrt(features / 3); // red, green and blue of each pixel
    const pixel = Math.floor(one.input / 3);
    const [row, column] = [Math.floor(pixel / across), pixel % across];
    return [
      4 + (side * (column + 0.5)) / across,
      middle[1] - side / 2 + (side * (row + 0.5)) / across,
    ];
  };
  const name = (i) => [names, height * ((i + 0.5) / labels.length)];
  return { width, height, radius, middle, side, cell, input, name };
}

const number = (value) => value.toFixed(1);

// Many dots in one path: a round cap on a line without length.
const dots = (places) => places.map(([x, y]) => `M${number(x)} ${number(y)}h0`).join("");

function curve([x1, y1], [x2, y2]) {
  const bend = (x1 + x2) / 2;
  return `M${number(x1)} ${number(y1)}C${number(bend)} ${number(y1)} ${number(bend)} ${number(y2)} ${number(x2)} ${number(y2)}`;
}

function drawCells({ n_cells, active }, { cell }) {
  const n = Math.min(n_cells, MAX_DOTS);
  const all = Array.from({ length: n }, (_, i) => cell(i, n));
  return svg(
    "g",
    {},
    svg("path", { class: "cells", d: dots(all) }),
    svg("path", { class: "cells active", d: dots(active.map((i) => cell(i))) }),
  );
}

function drawInputs({ inputs, cells }, image, { input, cell, middle, side, width }) {
  const wired = new Set(cells.slice(0, WIRED).map((one) => one.cell));
  const group = svg("g", {});
  if (image) {
    const size = side / image.length;
    const top = middle[1] - side / 2;
    group.append(svg("rect", { class: "ground", x: 4, y: top, width: side, height: side, rx: 4 }));
    image.forEach((row, y) => {
      row.forEach((grey, x) => {
        if (grey < 25) return;
        const place = { x: 4 + x * size, y: top + y * size, width: size, height: size };
        group.append(svg("rect", { class: "ink", ...place, opacity: grey / 255 }));
      });
    });
  }
  inputs.forEach((one, i) => {
    const [x, y] = input(one, i);
    const excited = one.cells.filter((mine) => wired.has(mine));
    const length = width * 0.15 * Math.abs(one.value);
    const kind = excited.length ? "bar on" : "bar";
    if (!image) group.append(svg("path", { class: kind, d: `M${number(x - length)} ${number(y)}H${number(x)}` }));
    for (const mine of excited) {
      group.append(svg("path", { class: "wire", d: curve([x, y], cell(mine)) }));
    }
  });
  return group;
}

function drawSynapses({ cells, labels }, { cell, name }) {
  const largest = Math.max(...cells.flatMap((one) => one.contributions.map(Math.abs)), 1e-12);
  const group = svg("g", {});
  // The answer last, so that it lies above the others.
  for (let i = labels.length - 1; i >= 0; i -= 1) {
    for (const one of cells) {
      const strength = one.contributions[i] / largest;
      if (strength < 0.05) continue;
      const line = svg("path", { class: i ? "synapse" : "synapse on", d: curve(cell(one.cell), name(i)) });
      line.setAttribute("stroke-opacity", number(0.1 + (i ? 0.4 : 0.7) * strength));
      group.append(line);
    }
  }
  return group;
}

function drawNamed({ cells }, { cell }) {
  return svg(
    "g",
    {},
    cells.map((one) => {
      const [x, y] = cell(one.cell);
      const dot = svg("circle", { class: "cell", cx: number(x), cy: number(y), r: number(2 + 2.5 * one.activity) });
      dot.append(svg("title", {}, `Cell ${one.cell}, activity ${percent(one.activity)}`));
      return dot;
    }),
  );
}

function drawClasses({ labels }, { name, width }) {
  const room = Math.floor((width - name(0)[0] - 16) / 6.5);
  return svg(
    "g",
    {},
    labels.map((label, i) => {
      const [x, y] = name(i);
      const text = String(label);
      const short = text.length > room ? `${text.slice(0, room - 1)}…` : text;
      return svg(
        "g",
        { class: i ? "name" : "name on" },
        svg("circle", { cx: number(x), cy: number(y), r: i ? 3.5 : 6 }),
        svg("text", { x: number(x + 11), y: number(y + 4) }, short, svg("title", {}, text)),
      );
    }),
  );
}
