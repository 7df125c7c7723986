// Page that requests headlines while the user types, and shows them with their lengths and errors.

import { at, make } from "./explain/elements.js";
import { characters, listModels, summarize, ServerError } from "./server.js";
import { showExplanation } from "./explain/explanation.js";

const DEBOUNCE_MS = 250;
const MAX_PAUSE_S = 10; // between retries
const FEEDBACK_MS = 2_000; // how long a copy button shows "Copied"
const NUM_HEADLINES = 5;
const MIN_WORDS = 2; // smallest limit that can be chosen
const IDLE = "Your headline appears here while you type.";
const NO_WORDS = "This text has no words.";
const INVALID_RESPONSE = "The response of the server is invalid; reload the page.";

const text = at("text");
const length = at("length");
const number = (count) => count.toLocaleString("en");
const plural = (count, unit) => `${number(count)} ${count === 1 ? unit : `${unit}s`}`;

/** Announce a message to screen readers. */
const announce = (message) => (at("status").textContent = message);

/** Read a value from the browser's storage; return "" if it is missing or storage is disabled. */
function readStored(storage, name) {
  try {
    return window[storage].getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** Write a value to the browser's storage, unless storage is disabled; "" removes the value. */
function store(storage, name, value) {
  try {
    if (value) window[storage].setItem(name, value);
    else window[storage].removeItem(name);
  } catch {
    // The page works without storage.
  }
}

// --- Requests: one at a time, for the latest text.

let server = null; // models and limits of the server, once loaded
let controller = null; // AbortController of the current request
let requestTimer = 0; // timer of the next request
let numFailures = 0; // failed requests since the last response

function scheduleRequest(delayMs = DEBOUNCE_MS) {
  cancelRequest();
  showBusy(true);
  requestTimer = setTimeout(sendRequest, delayMs);
}

function cancelRequest() {
  clearTimeout(requestTimer);
  controller?.abort();
  controller = null;
}

async function sendRequest() {
  cancelRequest();
  const ownController = (controller = new AbortController());
  const connection = { signal: ownController.signal, key: readStored("sessionStorage", "key") };
  showBusy(true);
  try {
    if (server === null) showModels(await listModels(connection));
    const sentText = text.value;
    showRoom();
    store("sessionStorage", "text", sentText);
    const hasText = sentText.trim() !== "";
    const startMs = performance.now();
    const result = hasText ? await summarize(sentText, decodingOptions(), connection) : null;
    clearError();
    if (result?.summary) showResult(sentText, result, performance.now() - startMs);
    else showNothing(hasText ? NO_WORDS : IDLE);
  } catch (error) {
    if (ownController === controller) showError(error); // otherwise a newer request replaced this one
  } finally {
    if (ownController === controller) showBusy(false);
  }
}

function decodingOptions() {
  const { name, beam } = selectedModel();
  const limit = selectedUnit() === "words" ? "max_words" : "max_bytes"; // a character has at least one byte
  return { model: name, n_best: Math.min(NUM_HEADLINES, beam), explain: true, [limit]: length.valueAsNumber };
}

// --- Settings: text, length, model.

const lengths = {
  words: { min: MIN_WORDS, max: 24, value: 24 },
  characters: { min: 20, max: 160, value: 80 },
};
const selectedUnit = () => document.querySelector("input[name=unit]:checked").value;
const selectedModel = () => server.models.find(({ name }) => name === at("model").value);
const singular = (unit) => unit.slice(0, -1); // "words" to "word"

function showLength() {
  const { min, max, value } = lengths[selectedUnit()];
  Object.assign(length, { min, max, value });
  const limit = plural(value, singular(selectedUnit()));
  at("length-value").textContent = limit;
  length.setAttribute("aria-valuetext", `at most ${limit}`);
}

function showModels(response) {
  server = response;
  at("model").replaceChildren(...server.models.map(({ name }) => make("option", { value: name }, name)));
  at("model").value = server.models.find(({ is_default }) => is_default).name;
  showModel();
}

/** Show the description of the selected model, and use its limits for the length in words. */
function showModel() {
  const model = selectedModel();
  const description = model.title.replace(`${model.name}: `, "");
  const isLanguageKnown = model.language !== "und";
  at("model-title").textContent = description + (isLanguageKnown ? `; for ${model.language_name} text` : "");
  const { words } = lengths;
  const isAtMax = words.value === words.max; // then it stays at the maximum
  words.min = Math.max(MIN_WORDS, model.min_words);
  words.max = Math.min(model.max_words, server.limits.max_words);
  words.value = isAtMax ? words.max : Math.max(words.min, Math.min(words.value, words.max));
  showLength();
}

/** Show how many characters are left. */
function showRoom() {
  at("clear").hidden = text.value === "";
  if (server === null) return;
  const maxChars = server.limits.max_chars;
  const left = maxChars - characters(text.value).length;
  at("room").textContent = left < 0 ? `Only the first ${number(maxChars)} characters are sent.` : `${plural(left, "character")} left`;
}

/** Use the sample text of a button, and the model for which it was written. */
function useSample({ value, dataset }) {
  text.value = value;
  if (server?.models.some(({ name }) => name === dataset.model)) {
    at("model").value = dataset.model;
    showModel();
  }
  showRoom();
  scheduleRequest(0);
}

// --- Result.

let shownHeadline = "";

function showBusy(isBusy) {
  at("result").setAttribute("aria-busy", isBusy);
  at("progress").hidden = !isBusy;
}

function showNothing(reason) {
  shownHeadline = "";
  showExplanation(null);
  at("latency").textContent = "";
  at("placeholder").textContent = reason;
  at("nothing").hidden = false;
  at("found").hidden = true;
  if (reason !== IDLE) announce(reason);
}

function showResult(sentText, { explanation, ...result }, latencyMs) {
  const { summary, alternatives, warnings = [] } = result;
  shownHeadline = summary;
  showExplanation({ ...explanation, ...result, text: sentText });
  at("latency").textContent = `answered in ${number(Math.ceil(latencyMs))} ms`;
  at("nothing").hidden = true;
  at("found").hidden = false;
  at("count").textContent = describeLength(summary);
  at("alternatives").replaceChildren(...alternatives.map(makeAlternative));
  at("others").hidden = alternatives.length === 0;
  const numWarnings = warnings.length ? ` · ${plural(warnings.length, "warning")}` : "";
  announce(`Headline: ${summary}. ${at("count").textContent}${numWarnings}`);
}

/** Describe the length of a headline, such as "5 of 8 words · 31 characters". */
function describeLength(summary) {
  const counts = { words: summary.split(/\s+/).length, characters: characters(summary).length };
  const descriptions = Object.entries(counts).map(([unit, count]) =>
    unit === selectedUnit()
      ? `${count} of ${plural(length.valueAsNumber, singular(unit))}`
      : plural(count, singular(unit)),
  );
  return descriptions.join(" · ");
}

function makeAlternative({ summary }) {
  const button = make("button", { type: "button", class: "plain", "aria-label": `Copy: ${summary}` }, "Copy");
  button.addEventListener("click", () => copy(summary, button));
  return make("li", {}, make("span", { dir: "auto" }, summary), button);
}

// --- Errors.

let countdownTimer = 0;

function showError(error) {
  const isServerError = error instanceof ServerError;
  if (!isServerError) console.error(error);
  const { message, pauseS, needsKey } = isServerError ? error : new ServerError(INVALID_RESPONSE);
  at("result").classList.toggle("stale", shownHeadline !== "");
  at("error").hidden = needsKey;
  at("key-form").hidden = !needsKey;
  if (needsKey) requestKey();
  if (at("error-message").textContent !== message) at("error-message").textContent = message;
  at("retry").hidden = pauseS === null;
  clearInterval(countdownTimer);
  at("error-retry").textContent = "";
  if (pauseS !== null) scheduleRetry(pauseS || Math.min(2 ** numFailures, MAX_PAUSE_S));
}

function scheduleRetry(pauseS) {
  numFailures += 1;
  requestTimer = setTimeout(sendRequest, 1_000 * pauseS);
  let leftS = Math.ceil(pauseS);
  const countDown = () => {
    at("error-retry").textContent = leftS > 0 ? `Retrying in ${leftS} s.` : "Retrying …";
    leftS -= 1;
  };
  countDown();
  countdownTimer = setInterval(countDown, 1_000);
}

function requestKey() {
  const isInvalid = readStored("sessionStorage", "key") !== "";
  at("key-label").textContent = isInvalid ? "The API key is invalid." : "This server requires an API key.";
  at("key").focus();
}

function clearError() {
  if (numFailures > 0) announce("The server is available again.");
  numFailures = 0;
  clearInterval(countdownTimer);
  at("error").hidden = at("key-form").hidden = true;
  at("error-message").textContent = "";
  at("result").classList.remove("stale");
}

// --- Clipboard.

async function copy(headline, button) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(headline);
  } catch {
    copyWithoutApi(headline); // browsers have no clipboard API on a remote page without TLS
  }
  button.textContent = "Copied";
  announce(`Copied: ${headline}`);
  setTimeout(() => (button.textContent = label), FEEDBACK_MS);
}

function copyWithoutApi(headline) {
  const field = make("textarea", { class: "unseen" }, headline);
  const { activeElement } = document;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  activeElement.focus();
}

// --- Theme: that of the system until the user changes it.

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemTheme = () => (prefersDark.matches ? "dark" : "light");
const isDark = () => (readStored("localStorage", "theme") || systemTheme()) === "dark";

function showTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = readStored("localStorage", "theme"); // if "", the style sheet uses the system's theme
  at("theme").setAttribute("aria-pressed", isDark());
}

function switchTheme() {
  const newTheme = isDark() ? "light" : "dark";
  store("localStorage", "theme", newTheme === systemTheme() ? "" : newTheme);
  showTheme();
}

// --- Event listeners.

text.addEventListener("input", () => {
  showRoom();
  scheduleRequest();
});
length.addEventListener("input", () => {
  lengths[selectedUnit()].value = length.valueAsNumber;
  showLength();
  scheduleRequest();
});
for (const choice of document.querySelectorAll("input[name=unit]")) {
  choice.addEventListener("change", () => {
    showLength();
    scheduleRequest(0);
  });
}
for (const sample of document.querySelectorAll(".chip")) {
  sample.addEventListener("click", () => useSample(sample));
}
at("model").addEventListener("change", () => {
  showModel();
  scheduleRequest(0);
});
at("clear").addEventListener("click", () => {
  text.value = "";
  text.focus();
  showRoom();
  scheduleRequest(0);
});
at("copy").addEventListener("click", () => copy(shownHeadline, at("copy")));
at("retry").addEventListener("click", sendRequest);
at("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  store("sessionStorage", "key", at("key").value);
  sendRequest();
});
at("theme").addEventListener("click", switchTheme);
prefersDark.addEventListener("change", showTheme);

text.value ||= readStored("sessionStorage", "text");
showTheme();
showLength();
sendRequest();
