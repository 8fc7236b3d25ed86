// The server: requests with the key, changes that are done once, and streams of counts.

const KEY = "kenyon-key";
const TRIES = 8;

let key = "";

export class Problem extends Error {
  constructor(status, detail, retryAfter) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

// A link with #key=... saves typing it: browsers do not send that part to the server.
export function findKey() {
  const given = location.hash.match(/^#key=([^&]+)(.*)$/);
  if (given) {
    keepKey(decodeURIComponent(given[1]), false);
    history.replaceState(null, "", location.pathname + (given[2] ? `#${given[2].slice(1)}` : ""));
  } else {
    key = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? "";
  }
  return key;
}

export function keepKey(given, forever) {
  key = given;
  sessionStorage.setItem(KEY, given);
  if (forever) localStorage.setItem(KEY, given);
}

export function dropKey() {
  key = "";
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}

export const modelPath = (name, rest = "") => `/v1/models/${encodeURIComponent(name)}${rest}`;

async function send(method, path, { body, file, signal, headers = {} } = {}) {
  const all = { Authorization: `Bearer ${key}`, ...headers };
  if (body !== undefined) all["Content-Type"] = "application/json";
  if (file !== undefined) all["Content-Type"] = "application/octet-stream";
  let answer;
  try {
    const content = body === undefined ? file : JSON.stringify(body);
    answer = await fetch(path, { method, headers: all, body: content, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer.");
  }
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  const detail = problem.detail ?? `the server answered with ${answer.status}`;
  const sentence = detail[0].toUpperCase() + detail.slice(1);
  throw new Problem(answer.status, sentence, Number(answer.headers.get("retry-after")));
}

export async function ask(method, path, options) {
  const answer = await send(method, path, options);
  return answer.status === 204 ? null : answer.json();
}

export async function download(path) {
  return (await send("GET", path)).blob();
}

// A key of a change. crypto.randomUUID exists on https and localhost alone.
export const newKey = () => [...crypto.getRandomValues(new Uint32Array(4))].join("-");

// A change that is done once, however often it has to be sent with the same key.
export async function change(method, path, body, key = newKey()) {
  const headers = { "Idempotency-Key": key };
  for (let i = 1; ; i += 1) {
    try {
      return await ask(method, path, { body, headers });
    } catch (error) {
      const isBusy = error.status === 429 || error.status === 503;
      if (!isBusy || i === TRIES) throw error;
      await wait(1000 * (error.retryAfter || 1));
    }
  }
}

const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Calls onCounts with the counts of the classes whenever they change. EventSource cannot send a key.
export async function watch(name, signal, onCounts, onConnected) {
  while (!signal.aborted) {
    try {
      const answer = await send("GET", modelPath(name, "/live"), { signal });
      onConnected(true);
      await readStream(answer.body, onCounts);
    } catch (error) {
      if (signal.aborted || [401, 403, 404].includes(error.status)) return;
    }
    onConnected(false);
    await wait(1500);
  }
}

async function readStream(body, onCounts) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const messages = (text + value).split("\n\n");
    text = messages.pop();
    for (const message of messages) {
      const data = message.split("\n").find((line) => line.startsWith("data: "));
      if (data) onCounts(JSON.parse(data.slice(6)));
    }
  }
}
