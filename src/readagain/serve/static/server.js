// Client of the server's JSON API.

const TIMEOUT_MS = 30_000; // longer than the server's timeout, for networks that drop responses

/** Error to show to the user; `pauseS` is the time until a retry: null for no retry, 0 for the default. */
export class ServerError extends Error {
  constructor(message, { pauseS = null, needsKey = false } = {}) {
    super(message);
    Object.assign(this, { pauseS, needsKey });
  }
}

/** Split a text into code points, which the server counts as characters. */
export const characters = (text) => Array.from(text);

/** Request the models and limits. */
export const listModels = (connection) => call("v1/models", connection);

/** Request the headlines of one text; `connection` has the AbortSignal `signal` and the API `key`. */
export async function summarize(text, options, connection) {
  const validText = text.toWellFormed(); // replaces lone surrogates, such as half an emoji
  const body = JSON.stringify({ texts: [validText], ...options });
  const { results } = await call("v1/summarize", { ...connection, method: "POST", body });
  return results[0];
}

/** Send a request; throw a ServerError if it fails, and an AbortError if it was cancelled. */
async function call(path, { signal, key, ...request }) {
  const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
  let response, content;
  try {
    const anySignal = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    response = await fetch(path, { ...request, headers, signal: anySignal });
    content = await response.text();
  } catch {
    throw new ServerError("The server is not responding. Your text is not lost.", { pauseS: 0 });
  }
  signal.throwIfAborted();
  if (response.ok) return JSON.parse(content);
  throw responseError(response, content);
}

/** Return the error for a response with an error status. */
function responseError({ status, headers }, content) {
  if (status === 401) return new ServerError("", { needsKey: true });
  const pauseS = status >= 500 || status === 429 ? Number(headers.get("Retry-After")) || 0 : null;
  return new ServerError(errorMessage(content) ?? `The server returned status ${status}.`, { pauseS });
}

function errorMessage(content) {
  try {
    return JSON.parse(content).error.message;
  } catch {
    return null; // not JSON: perhaps the response of a proxy
  }
}
