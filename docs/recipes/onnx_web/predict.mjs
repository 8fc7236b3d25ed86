// Runs the models that export.py wrote in WebAssembly, as a browser does, and compares the answers
// with those of Python: labels, scores of "fly" to the bit, all else within 1e-9.
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-web/wasm";

ort.env.wasm.numThreads = 1;
const { samples, models } = JSON.parse(readFileSync("expected.json"));
const tensor = (rows) =>
  new ort.Tensor("float64", Float64Array.from(rows.flat()), [rows.length, rows[0].length]);

function largestDifference(found, rows) {
  return rows.flat().reduce((most, value, i) => Math.max(most, Math.abs(value - found[i])), 0);
}

async function timeSingles(session) {
  let fastest = Infinity;
  for (const sample of samples.slice(0, 100)) {
    const start = performance.now();
    await session.run({ X: tensor([sample]) }, ["label"]);
    fastest = Math.min(fastest, performance.now() - start);
  }
  return fastest;
}

for (const [readout, expected] of Object.entries(models)) {
  const session = await ort.InferenceSession.create(readFileSync(`${readout}.onnx`));
  const { label, probabilities, scores, classes } = await session.run({ X: tensor(samples) });
  const differing = expected.label.filter((name, i) => name !== label.data[i]).length;
  const ofScores = largestDifference(scores.data, expected.scores);
  const ofProbabilities = largestDifference(probabilities.data, expected.probabilities);
  const largest = Math.max(...expected.scores.flat().map(Math.abs));
  console.log(
    `${readout}: ${samples.length} samples, ${classes.data.length} classes, ` +
      `${differing} other labels; scores differ by ${ofScores / largest}, ` +
      `probabilities by ${ofProbabilities}; ${(await timeSingles(session)).toFixed(1)} ms a sample`,
  );
  const allowed = readout === "fly" ? 0 : 1e-9 * largest;
  if (differing > 0 || !(ofScores <= allowed) || !(ofProbabilities <= 1e-9)) {
    throw new Error(`${readout} differs from Python`);
  }
}
