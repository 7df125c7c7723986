// The page: asks for headlines while a person types, and shows them, their lengths and all trouble.

import { at, make } from "./elements.js";
import { characters, listModels, summarize, Trouble } from "./server.js";
import { showStory } from "./story.js";

const DEBOUNCE_MS = 250;
const LONGEST_PAUSE_S = 10; // between attempts to reach a server that is gone
const FEEDBACK_MS = 2_000;
const HEADLINES = 5;
const FEWEST_WORDS = 2;
const IDLE = "Your headline appears here while you type.";
const NO_WORD = "There is no word in this text to make a headline of.";
const CONFUSED = "This page and the server do not understand each other; load the page again.";

const text = at("text");
const length = at("length");
const number = (count) => count.toLocaleString("en");
const plural = (count, unit) => `${number(count)} ${count === 1 ? unit : `${unit}s`}`;

/** Say something to people who listen to the page. */
const say = (message) => (at("news").textContent = message);

/** Read or write what the browser keeps for the page; one that keeps nothing is no trouble. */
function kept(storage, name, value) {
  try {
    if (value) window[storage].setItem(name, value);
    else if (value === "") window[storage].removeItem(name);
    return window[storage].getItem(name) ?? "";
  } catch {
    return "";
  }
}

// --- Asking: one request at a time, for the newest text.

let server = null; // its models and limits, once they are known
let flight = null; // the request under way
let timer = 0; // of the next one
let failures = 0; // in a row

function askSoon(delayMs = DEBOUNCE_MS) {
  callOff();
  showBusy(true);
  timer = setTimeout(ask, delayMs);
}

function callOff() {
  clearTimeout(timer);
  flight?.abort();
  flight = null;
}

async function ask() {
  callOff();
  const mine = (flight = new AbortController());
  const options = { signal: mine.signal, key: kept("sessionStorage", "key") };
  showBusy(true);
  try {
    if (server === null) showModels(await listModels(options));
    const sent = text.value;
    const tooLong = showRoom();
    if (!tooLong) kept("sessionStorage", "text", sent);
    const isAsked = !tooLong && sent.trim() !== "";
    const began = performance.now();
    const answer = isAsked ? await summarize(sent, wanted(), options) : null;
    showNoTrouble();
    if (answer?.summary) showAnswer(sent, answer, performance.now() - began);
    else showNothing(tooLong || (isAsked ? NO_WORD : IDLE));
  } catch (error) {
    if (mine === flight) showTrouble(error); // else a newer one is on its way
  } finally {
    if (mine === flight) showBusy(false);
  }
}

function wanted() {
  const { name, beam } = model();
  const limit = unit() === "words" ? "max_words" : "max_bytes"; // no character has less than a byte
  return { model: name, n_best: Math.min(HEADLINES, beam), explain: true, [limit]: length.valueAsNumber };
}

// --- What is asked for: text, length, model.

const lengths = {
  words: { min: FEWEST_WORDS, max: 24, value: 24 },
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
  const { name, title, min_words: fewest, max_words: usual } = model();
  at("model-title").textContent = title.replace(`${name}: `, "");
  const { words } = lengths;
  const most = Math.min(usual, server.limits.max_words);
  words.min = Math.max(FEWEST_WORDS, fewest);
  words.value = words.value === words.max ? most : Math.max(words.min, Math.min(words.value, most));
  words.max = most;
  showLength();
}

/** Say how many characters there is room for; answer with what is wrong if there is none. */
function showRoom() {
  at("clear").hidden = text.value === "";
  if (server === null) return "";
  const most = server.limits.max_chars;
  const left = most - characters(text.value).length;
  const tooLong = left < 0 ? `${plural(-left, "character")} too many: this server reads at most ${number(most)}.` : "";
  at("room").textContent = tooLong || `${plural(left, "character")} left`;
  at("room").classList.toggle("over", left < 0);
  text.setAttribute("aria-invalid", left < 0);
  return tooLong;
}

function takeSample({ value, dataset }) {
  text.value = value;
  if (server?.models.some(({ name }) => name === dataset.model)) {
    at("model").value = dataset.model;
    showModel();
  }
  showRoom();
  askSoon(0);
}

// --- The answer.

let shown = ""; // the headline

function showBusy(isBusy) {
  at("result").setAttribute("aria-busy", isBusy);
  at("progress").hidden = !isBusy;
}

function showNothing(why) {
  shown = "";
  showStory(null);
  at("latency").textContent = "";
  at("silence").textContent = why;
  at("nothing").hidden = false;
  at("found").hidden = true;
  if (why !== IDLE) say(why);
}

function showAnswer(sent, { summary, truncated, alternatives, explanation }, latencyMs) {
  shown = summary;
  showStory({ ...explanation, text: sent, summary, truncated });
  at("latency").textContent = `answered in ${number(Math.ceil(latencyMs))} ms`;
  at("nothing").hidden = true;
  at("found").hidden = false;
  at("count").textContent = counts(summary);
  at("alternatives").replaceChildren(...alternatives.map(alternative));
  at("others").hidden = alternatives.length === 0;
  say(`Headline: ${summary}. ${at("count").textContent}`);
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

// --- Trouble, in words.

let countdown = 0;

function showTrouble(error) {
  const isOurs = error instanceof Trouble;
  if (!isOurs) console.error(error);
  const { message, pauseS, needsKey } = isOurs ? error : new Trouble(CONFUSED);
  at("result").classList.toggle("stale", shown !== "");
  at("trouble").hidden = needsKey;
  at("key-form").hidden = !needsKey;
  if (needsKey) askForKey();
  if (at("trouble-what").textContent !== message) at("trouble-what").textContent = message;
  at("retry").hidden = pauseS === null;
  clearInterval(countdown);
  at("trouble-next").textContent = "";
  if (pauseS !== null) tryAgain(pauseS || Math.min(2 ** failures, LONGEST_PAUSE_S));
}

function tryAgain(pauseS) {
  failures += 1;
  timer = setTimeout(ask, 1_000 * pauseS);
  let left = Math.ceil(pauseS);
  const count = () => {
    at("trouble-next").textContent = left > 0 ? `Trying again in ${left} s.` : "Trying again …";
    left -= 1;
  };
  count();
  countdown = setInterval(count, 1_000);
}

function askForKey() {
  const isWrong = kept("sessionStorage", "key") !== "";
  at("key-said").textContent = isWrong ? "The server does not know this key." : "This server asks for a key.";
  at("key").focus();
}

function showNoTrouble() {
  if (failures > 0) say("The server answers again.");
  failures = 0;
  clearInterval(countdown);
  at("trouble").hidden = at("key-form").hidden = true;
  at("trouble-what").textContent = "";
  at("result").classList.remove("stale");
}

// --- Copying to the clipboard.

async function copy(words, button) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    copyOldWay(words); // a page that came from another machine without TLS has no clipboard
  }
  button.textContent = "Copied";
  say(`Copied: ${words}`);
  setTimeout(() => (button.textContent = label), FEEDBACK_MS);
}

function copyOldWay(words) {
  const field = make("textarea", { class: "unseen" }, words);
  const { activeElement } = document;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  activeElement.focus();
}

// --- Light and dark: as the system has it until a person says otherwise.

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (kept("localStorage", "theme") || (prefersDark.matches ? "dark" : "light")) === "dark";

function showTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = kept("localStorage", "theme"); // none: the style sheet asks the system
  at("theme").setAttribute("aria-pressed", isDark());
}

function switchTheme() {
  const wanted = isDark() ? "light" : "dark";
  const system = prefersDark.matches ? "dark" : "light";
  kept("localStorage", "theme", wanted === system ? "" : wanted);
  showTheme();
}

// --- What happens when.

text.addEventListener("input", () => {
  showRoom();
  askSoon();
});
length.addEventListener("input", () => {
  lengths[unit()].value = length.valueAsNumber;
  showLength();
  askSoon();
});
for (const choice of document.querySelectorAll("input[name=unit]")) {
  choice.addEventListener("change", () => {
    showLength();
    askSoon(0);
  });
}
for (const sample of document.querySelectorAll(".chip")) {
  sample.addEventListener("click", () => takeSample(sample));
}
at("model").addEventListener("change", () => {
  showModel();
  askSoon(0);
});
at("clear").addEventListener("click", () => {
  text.value = "";
  text.focus();
  showRoom();
  askSoon(0);
});
at("copy").addEventListener("click", () => copy(shown, at("copy")));
at("retry").addEventListener("click", ask);
at("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  kept("sessionStorage", "key", at("key").value);
  ask();
});
at("theme").addEventListener("click", switchTheme);
prefersDark.addEventListener("change", showTheme);

text.value ||= kept("sessionStorage", "text");
showTheme();
showLength();
ask();
