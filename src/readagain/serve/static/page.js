// Page that requests headlines while the user types, and shows them with their lengths and errors.

import { at, make } from "./explain/elements.js";
import { characters, listModels, summarize, ServerError } from "./server.js";
import { showExplanation } from "./explain/explanation.js";

const DEBOUNCE_MS = 250;
const MAX_PAUSE_S = 10; // between retries
const FEEDBACK_MS = 2_000;
const HEADLINES = 5;
const MIN_WORDS = 2;
const IDLE = "Your headline appears here while you type.";
const NO_WORDS = "This text has no words.";
const INVALID_RESPONSE = "The response of the server is invalid; reload the page.";

const text = at("text");
const length = at("length");
const number = (count) => count.toLocaleString("en");
const plural = (count, unit) => `${number(count)} ${count === 1 ? unit : `${unit}s`}`;

/** Announce a message to screen readers. */
const announce = (message) => (at("status").textContent = message);

/** Read or write a value in the browser's storage; return "" if storage is disabled. */
function stored(storage, name, value) {
  try {
    if (value) window[storage].setItem(name, value);
    else if (value === "") window[storage].removeItem(name);
    return window[storage].getItem(name) ?? "";
  } catch {
    return "";
  }
}

// --- Requests: one at a time, for the latest text.

let server = null; // models and limits of the server, once loaded
let controller = null; // AbortController of the current request
let timer = 0; // timer of the next request
let failures = 0; // in a row

function scheduleRequest(delayMs = DEBOUNCE_MS) {
  cancelRequest();
  showBusy(true);
  timer = setTimeout(sendRequest, delayMs);
}

function cancelRequest() {
  clearTimeout(timer);
  controller?.abort();
  controller = null;
}

async function sendRequest() {
  cancelRequest();
  const own = (controller = new AbortController());
  const options = { signal: own.signal, key: stored("sessionStorage", "key") };
  showBusy(true);
  try {
    if (server === null) showModels(await listModels(options));
    const sent = text.value;
    showRoom();
    stored("sessionStorage", "text", sent);
    const hasText = sent.trim() !== "";
    const startedAt = performance.now();
    const response = hasText ? await summarize(sent, requestOptions(), options) : null;
    clearError();
    if (response?.summary) showResponse(sent, response, performance.now() - startedAt);
    else showNothing(hasText ? NO_WORDS : IDLE);
  } catch (error) {
    if (own === controller) showError(error); // otherwise a newer request replaced this one
  } finally {
    if (own === controller) showBusy(false);
  }
}

function requestOptions() {
  const { name, beam } = model();
  const limit = unit() === "words" ? "max_words" : "max_bytes"; // a character has at least one byte
  return { model: name, n_best: Math.min(HEADLINES, beam), explain: true, [limit]: length.valueAsNumber };
}

// --- Settings: text, length, model.

const lengths = {
  words: { min: MIN_WORDS, max: 24, value: 24 },
  characters: { min: 20, max: 160, value: 80 },
};
const unit = () => document.querySelector("input[name=unit]:checked").value;
const model = () => server.models.find(({ name }) => name === at("model").value);

function showLength() {
  const { min, max, value } = lengths[unit()];
  Object.assign(length, { min, max, value });
  const most = plural(value, unit().slice(0, -1));
  at("length-value").textContent = most;
  length.setAttribute("aria-valuetext", `at most ${most}`);
}

function showModels(found) {
  server = found;
  at("model").replaceChildren(...server.models.map(({ name }) => make("option", { value: name }, name)));
  at("model").value = server.models.find(({ is_default }) => is_default).name;
  showModel();
}

function showModel() {
  const { name, title, language, language_name: spoken, min_words: fewest, max_words: usual } = model();
  const isKnown = language !== "und";
  at("model-title").textContent = title.replace(`${name}: `, "") + (isKnown ? `; for ${spoken} text` : "");
  const { words } = lengths;
  const most = Math.min(usual, server.limits.max_words);
  words.min = Math.max(MIN_WORDS, fewest);
  words.value = words.value === words.max ? most : Math.max(words.min, Math.min(words.value, most));
  words.max = most;
  showLength();
}

/** Show how many characters are left. */
function showRoom() {
  at("clear").hidden = text.value === "";
  if (server === null) return;
  const most = server.limits.max_chars;
  const left = most - characters(text.value).length;
  at("room").textContent = left < 0 ? `Only the first ${number(most)} characters are read.` : `${plural(left, "character")} left`;
}

function useSample({ value, dataset }) {
  text.value = value;
  if (server?.models.some(({ name }) => name === dataset.model)) {
    at("model").value = dataset.model;
    showModel();
  }
  showRoom();
  scheduleRequest(0);
}

// --- Response.

let shown = ""; // the headline

function showBusy(isBusy) {
  at("result").setAttribute("aria-busy", isBusy);
  at("progress").hidden = !isBusy;
}

function showNothing(why) {
  shown = "";
  showExplanation(null);
  at("latency").textContent = "";
  at("placeholder").textContent = why;
  at("nothing").hidden = false;
  at("found").hidden = true;
  if (why !== IDLE) announce(why);
}

function showResponse(sent, { explanation, ...result }, latencyMs) {
  const { summary, alternatives, warnings = [] } = result;
  shown = summary;
  showExplanation({ ...explanation, ...result, text: sent });
  at("latency").textContent = `answered in ${number(Math.ceil(latencyMs))} ms`;
  at("nothing").hidden = true;
  at("found").hidden = false;
  at("count").textContent = counts(summary);
  at("alternatives").replaceChildren(...alternatives.map(alternative));
  at("others").hidden = alternatives.length === 0;
  const warned = warnings.length ? ` · ${plural(warnings.length, "warning")}` : "";
  announce(`Headline: ${summary}. ${at("count").textContent}${warned}`);
}

function counts(summary) {
  const found = { words: summary.split(/\s+/).length, characters: characters(summary).length };
  const said = Object.entries(found).map(([name, count]) => {
    const one = name.slice(0, -1);
    return name === unit() ? `${count} of ${plural(length.valueAsNumber, one)}` : plural(count, one);
  });
  return said.join(" · ");
}

function alternative({ summary }) {
  const button = make("button", { type: "button", class: "plain", "aria-label": `Copy: ${summary}` }, "Copy");
  button.addEventListener("click", () => copy(summary, button));
  return make("li", {}, make("span", { dir: "auto" }, summary), button);
}

// --- Errors.

let countdown = 0;

function showError(error) {
  const isServerError = error instanceof ServerError;
  if (!isServerError) console.error(error);
  const { message, pauseS, needsKey } = isServerError ? error : new ServerError(INVALID_RESPONSE);
  at("result").classList.toggle("stale", shown !== "");
  at("error").hidden = needsKey;
  at("key-form").hidden = !needsKey;
  if (needsKey) requestKey();
  if (at("error-message").textContent !== message) at("error-message").textContent = message;
  at("retry").hidden = pauseS === null;
  clearInterval(countdown);
  at("error-retry").textContent = "";
  if (pauseS !== null) scheduleRetry(pauseS || Math.min(2 ** failures, MAX_PAUSE_S));
}

function scheduleRetry(pauseS) {
  failures += 1;
  timer = setTimeout(sendRequest, 1_000 * pauseS);
  let left = Math.ceil(pauseS);
  const count = () => {
    at("error-retry").textContent = left > 0 ? `Retrying in ${left} s.` : "Retrying …";
    left -= 1;
  };
  count();
  countdown = setInterval(count, 1_000);
}

function requestKey() {
  const isWrong = stored("sessionStorage", "key") !== "";
  at("key-label").textContent = isWrong ? "The API key is invalid." : "This server requires an API key.";
  at("key").focus();
}

function clearError() {
  if (failures > 0) announce("The server is available again.");
  failures = 0;
  clearInterval(countdown);
  at("error").hidden = at("key-form").hidden = true;
  at("error-message").textContent = "";
  at("result").classList.remove("stale");
}

// --- Clipboard.

async function copy(words, button) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    copyWithoutApi(words); // browsers have no clipboard API on a remote page without TLS
  }
  button.textContent = "Copied";
  announce(`Copied: ${words}`);
  setTimeout(() => (button.textContent = label), FEEDBACK_MS);
}

function copyWithoutApi(words) {
  const field = make("textarea", { class: "unseen" }, words);
  const { activeElement } = document;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  activeElement.focus();
}

// --- Theme: that of the system until the user changes it.

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (stored("localStorage", "theme") || (prefersDark.matches ? "dark" : "light")) === "dark";

function showTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = stored("localStorage", "theme"); // empty: the style sheet uses the system's theme
  at("theme").setAttribute("aria-pressed", isDark());
}

function switchTheme() {
  const wanted = isDark() ? "light" : "dark";
  const system = prefersDark.matches ? "dark" : "light";
  stored("localStorage", "theme", wanted === system ? "" : wanted);
  showTheme();
}

// --- Event listeners.

text.addEventListener("input", () => {
  showRoom();
  scheduleRequest();
});
length.addEventListener("input", () => {
  lengths[unit()].value = length.valueAsNumber;
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
at("copy").addEventListener("click", () => copy(shown, at("copy")));
at("retry").addEventListener("click", sendRequest);
at("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  stored("sessionStorage", "key", at("key").value);
  sendRequest();
});
at("theme").addEventListener("click", switchTheme);
prefersDark.addEventListener("change", showTheme);

text.value ||= stored("sessionStorage", "text");
showTheme();
showLength();
sendRequest();
