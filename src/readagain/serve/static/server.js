// The server, as this page speaks with it: the JSON routes that any other client uses too.

const PATIENCE_MS = 30_000; // the server gives up earlier; this is for networks that swallow answers

/** What a person should read about; `pauseS` says when to try again: null never, 0 as usual. */
export class Trouble extends Error {
  constructor(message, { pauseS = null, needsKey = false } = {}) {
    super(message);
    Object.assign(this, { pauseS, needsKey });
  }
}

/** Cut a text into characters as the server counts them: code points, not halves of them. */
export const characters = (text) => Array.from(text);

/** Ask for the models and limits. */
export const listModels = (options) => call("v1/models", options);

/** Ask for the headlines of one text. */
export async function summarize(text, wanted, options) {
  const whole = text.toWellFormed(); // half an emoji that was cut becomes a replacement character
  const body = JSON.stringify({ texts: [whole], ...wanted });
  const { results } = await call("v1/summarize", { ...options, method: "POST", body });
  return results[0];
}

/** Send a request; throw a Trouble unless it is answered well, anything else once it is called off. */
async function call(path, { signal, key, ...request }) {
  const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
  let response, answer;
  try {
    const either = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    response = await fetch(path, { ...request, headers, signal: either });
    answer = await response.text();
  } catch {
    throw new Trouble("The server does not answer. Your text is kept here.", { pauseS: 0 });
  }
  signal.throwIfAborted();
  if (response.ok) return JSON.parse(answer);
  throw refusal(response, answer);
}

/** Put into words why the server did not do what it was asked. */
function refusal({ status, headers }, answer) {
  if (status === 401) return new Trouble("", { needsKey: true });
  const pauseS = status >= 500 || status === 429 ? Number(headers.get("Retry-After")) || 0 : null;
  return new Trouble(message(answer) ?? `The server answered with status ${status}.`, { pauseS });
}

function message(answer) {
  try {
    return JSON.parse(answer).error.message;
  } catch {
    return null; // a proxy answered, perhaps
  }
}
