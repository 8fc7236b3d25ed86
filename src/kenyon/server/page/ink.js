// Strokes as the model sees them: 28 x 28 grey pixels, light ink on a dark ground.

export const SIZE = 28;
const INK = 20; // the longer side of a drawing, as in MNIST
const MAX_SCALE = 2.5; // of a small drawing: a dot stays a dot
const WIDTH = 3;
const FINE = 4; // each pixel is the mean of 4 x 4

// `strokes`: lists of [x, y] from 0 to 1. The drawing is moved to the middle and scaled.
export function toGrey(strokes) {
  const points = strokes.flat();
  const [left, right] = range(points.map(([x]) => x));
  const [top, bottom] = range(points.map(([, y]) => y));
  const longest = Math.max(right - left, bottom - top, 1e-9);
  const scale = Math.min(INK / longest, MAX_SCALE * SIZE);
  const place = ([x, y]) => [
    SIZE / 2 + scale * (x - (left + right) / 2),
    SIZE / 2 + scale * (y - (top + bottom) / 2),
  ];
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE * FINE;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(FINE, FINE);
  context.strokeStyle = "white";
  drawStrokes(context, strokes.map((stroke) => stroke.map(place)), WIDTH);
  return shrink(context.getImageData(0, 0, canvas.width, canvas.height).data);
}

export function drawStrokes(context, strokes, width) {
  context.lineWidth = width;
  context.lineCap = context.lineJoin = "round";
  for (const stroke of strokes) {
    const [first, ...rest] = stroke;
    context.beginPath();
    context.moveTo(...first);
    for (const point of rest.length ? rest : [first]) context.lineTo(...point);
    context.stroke();
  }
}

function shrink(data) {
  const rows = Array.from({ length: SIZE }, () => new Array(SIZE).fill(0));
  for (let y = 0; y < SIZE * FINE; y += 1) {
    for (let x = 0; x < SIZE * FINE; x += 1) {
      const grey = data[4 * (y * SIZE * FINE + x)];
      rows[Math.floor(y / FINE)][Math.floor(x / FINE)] += grey / FINE ** 2;
    }
  }
  return rows.map((row) => row.map(Math.round));
}

const range = (values) => [Math.min(...values), Math.max(...values)];
