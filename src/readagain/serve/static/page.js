// The page: asks for headlines while a person types, and shows where their words come from.
// What people and models write is only ever inserted as text, never parsed as HTML.

const DEBOUNCE_MS = 250;
const PATIENCE_MS = 30_000; // the server gives up earlier; this is for a network that swallows answers
const LONGEST_PAUSE_S = 10; // between attempts to reach a server that is gone
const FEEDBACK_MS = 2_000;
const HEADLINES = 5;
const MOST_ATTENDED = 3;
const FAINT = 0.005; // attention below half a percent is shown as a dot
const UNREAD_CHARACTERS = 600; // of the rest of a long text: this is about what was read
const COLUMN_CHARACTERS = 24;
const HINT = "Point at a word, or use the arrow keys, to see where it comes from.";
const ORIGINS = { copied: "copied from the text", generated: "generated", digits: "a number with digits of the text" };
const IMPORTANCE = {
  weight: "Shaded by importance, the mean weight α of the second reading:",
  movement: "Shaded by importance, how far the second reading moves at the word:",
};
const READ_ONCE = "This model reads once, so no word is shaded.";
const ATTENTION = "Shaded by the attention of the word of the headline:";

const at = (id) => document.getElementById(id);
const text = at("text");
const result = at("result");
const headline = at("headline");
const reading = at("reading");
const length = at("length");

/** Make an element. Attributes are set by name, children are elements or plain text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

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

/** Say something to people who listen to the page. */
function say(message) {
  at("news").textContent = message;
}

const characters = (string) => Array.from(string); // as the server counts: code points, not halves of them
const number = (count) => count.toLocaleString("en");
const percent = (share) => `${Math.round(100 * share)} %`;
const plural = (count, unit) => `${number(count)} ${count === 1 ? unit : `${unit}s`}`;
/** Keep a word that runs from right to left from turning its neighbours around. */
const isolated = (word) => `\u2068${word}\u2069`;

// --- Asking the server: one request at a time, the newest one.

/** Something went wrong that a person should read about; `pauseS` says when to try again, null never. */
class Trouble extends Error {
  constructor(message, { pauseS = null, needsKey = false } = {}) {
    super(message);
    Object.assign(this, { pauseS, needsKey });
  }
}

let server = null; // what GET v1/models answered
let flight = null; // the request under way
let timer = 0; // the next one
let failures = 0; // in a row

async function call(path, signal, body) {
  const headers = { "Content-Type": "application/json" };
  const key = kept("sessionStorage", "key");
  if (key) headers.Authorization = `Bearer ${key}`;
  let response, answer;
  try {
    response = await fetch(path, {
      method: body ? "POST" : "GET",
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    answer = await response.text();
  } catch {
    const pauseS = Math.min(2 ** failures, LONGEST_PAUSE_S);
    throw new Trouble("The server does not answer. Your text is kept here.", { pauseS });
  }
  signal.throwIfAborted();
  if (response.ok) return JSON.parse(answer);
  throw refusal(response, answer);
}

/** Put into words why the server did not do what it was asked. */
function refusal(response, answer) {
  if (response.status === 401) return new Trouble("", { needsKey: true });
  let said;
  try {
    said = JSON.parse(answer).error.message;
  } catch {
    said = `The server answered with status ${response.status}.`;
  }
  if (response.status < 500 && response.status !== 429) return new Trouble(said);
  const asked = Number(response.headers.get("Retry-After"));
  return new Trouble(said, { pauseS: asked || Math.min(2 ** failures, LONGEST_PAUSE_S) });
}

function askSoon(delayMs = DEBOUNCE_MS) {
  clearTimeout(timer);
  flight?.abort();
  flight = null;
  showBusy(true);
  timer = setTimeout(ask, delayMs);
}

async function ask() {
  clearTimeout(timer);
  flight?.abort();
  const mine = (flight = new AbortController());
  showBusy(true);
  try {
    server ??= await meet(mine.signal);
    const problem = showRoom();
    if (!problem) kept("sessionStorage", "text", text.value);
    if (!text.value.trim() || problem) showNothing(problem);
    else {
      const sent = text.value;
      const began = performance.now();
      const answer = await call("v1/summarize", mine.signal, { texts: [sent], ...wanted() });
      showAnswer(sent, answer.results[0], performance.now() - began);
    }
    showNoTrouble();
  } catch (error) {
    if (mine.signal.aborted) return; // a newer one is on its way
    showTrouble(error);
  } finally {
    if (mine === flight) showBusy(false);
  }
}

/** Learn which models the server has and what it accepts. */
async function meet(signal) {
  const found = await call("v1/models", signal);
  at("model").replaceChildren(...found.models.map(({ name }) => make("option", { value: name }, name)));
  at("model").value = found.models.find((each) => each.is_default).name;
  server = found;
  showModel();
  return found;
}

const model = () => server.models.find(({ name }) => name === at("model").value);

function wanted() {
  const limit = unit() === "words" ? "max_words" : "max_bytes"; // no character has less than a byte
  const n_best = Math.min(HEADLINES, model().beam);
  return { model: model().name, n_best, explain: true, [limit]: length.valueAsNumber };
}

// --- Trouble, in words.

let countdown = 0;

function showTrouble(error) {
  if (!(error instanceof Trouble)) {
    console.error(error);
    error = new Trouble("This page and the server do not understand each other; load the page again.");
  }
  result.classList.toggle("stale", story !== null);
  clearInterval(countdown);
  at("key-form").hidden = !error.needsKey;
  at("trouble").hidden = error.needsKey;
  if (error.needsKey) return at("key").focus();
  if (at("trouble-what").textContent !== error.message) at("trouble-what").textContent = error.message;
  at("trouble-next").textContent = "";
  at("retry").hidden = error.pauseS === null;
  if (error.pauseS === null) return undefined;
  failures += 1;
  let seconds = Math.ceil(error.pauseS);
  const count = () => (at("trouble-next").textContent = seconds > 0 ? `Trying again in ${seconds--} s.` : "Trying again …");
  count();
  countdown = setInterval(count, 1_000);
  timer = setTimeout(ask, 1_000 * error.pauseS);
  return undefined;
}

function showNoTrouble() {
  if (failures > 0) say("The server answers again.");
  failures = 0;
  clearInterval(countdown);
  at("trouble").hidden = at("key-form").hidden = true;
  at("trouble-what").textContent = "";
  result.classList.remove("stale");
}

// --- What is asked for: text, length, model.

const unit = () => document.querySelector("input[name=unit]:checked").value;
const lengths = {
  words: { min: 2, max: 24, value: 24 },
  characters: { min: 20, max: 160, value: 80 },
};

function showLength() {
  const { min, max, value } = lengths[unit()];
  Object.assign(length, { min, max, value });
  const count = plural(value, unit().slice(0, -1));
  at("length-value").textContent = count;
  length.setAttribute("aria-valuetext", `at most ${count}`);
}

function showModel() {
  const { name, title, max_words: most } = model();
  at("model-title").textContent = title.replace(`${name}: `, "");
  const { words } = lengths;
  words.value = words.value === words.max ? most : Math.min(words.value, most);
  words.max = most;
  showLength();
}

/** Say how many characters there is room for; answer with the problem if there is none. */
function showRoom() {
  at("clear").hidden = text.value === "";
  if (server === null) return "";
  const most = server.limits.max_chars;
  const left = most - characters(text.value).length;
  const problem = left < 0 ? `${plural(-left, "character")} too many: this server reads at most ${number(most)}.` : "";
  at("room").textContent = problem || `${plural(left, "character")} left`;
  at("room").classList.toggle("over", left < 0);
  text.setAttribute("aria-invalid", left < 0);
  return problem;
}

// --- The answer.

let story = null; // the explanation on show
let pressed = null; // which word of the headline is kept on show

function showBusy(isBusy) {
  result.setAttribute("aria-busy", isBusy);
  result.querySelector(".progress").hidden = !isBusy;
}

function showNothing(why = "") {
  story = null;
  look(null);
  headline.replaceChildren();
  at("latency").textContent = "";
  at("silence").textContent = why || "Your headline appears here while you type.";
  at("silence").hidden = false;
  at("found").hidden = at("why").hidden = true;
  if (why) say(why);
}

function showAnswer(sent, answer, latencyMs) {
  if (!answer.summary) return showNothing("There is no word in this text to make a headline of.");
  const hadFocus = headline.contains(document.activeElement);
  story = { ...answer.explanation, text: sent, summary: answer.summary };
  pressed = null;
  at("silence").hidden = true;
  at("found").hidden = at("why").hidden = false;
  at("latency").textContent = `answered in ${number(Math.max(1, Math.round(latencyMs)))} ms`;
  showHeadline();
  showCount();
  showAlternatives(answer.alternatives ?? []);
  showReading(answer.truncated);
  if (at("attention").open) showAttention();
  look(null);
  if (hadFocus) headline.querySelector("button").focus();
  return say(`Headline: ${answer.summary}. ${at("count").textContent}`);
}

/** Cut a text into [piece, word] pairs, word null for what stands between words. */
function* pieces(whole, words) {
  const points = characters(whole);
  const cut = (start, end) => points.slice(start, end).join("");
  let end = 0;
  for (const word of words) {
    if (word.start > end) yield [cut(end, word.start), null];
    if (word.end > word.start) yield [cut(word.start, word.end), word];
    end = word.end;
  }
  yield [cut(end), null];
}

function showHeadline() {
  const parts = Array.from(pieces(story.summary, story.words), ([piece, word]) => {
    if (word === null) return piece;
    const index = story.words.indexOf(word);
    return make("button", { type: "button", class: word.origin, "data-index": index, "aria-pressed": false, tabindex: -1 }, piece);
  });
  headline.replaceChildren(...parts);
  headline.querySelector("button")?.setAttribute("tabindex", 0);
}

function showCount() {
  const { summary } = story;
  const counts = { words: summary.split(/\s+/).length, characters: characters(summary).length };
  at("count").textContent = Object.entries(counts)
    .map(([name, count]) => (name === unit() ? `${count} of ${plural(length.valueAsNumber, name.slice(0, -1))}` : plural(count, name.slice(0, -1))))
    .join(" · ");
}

function showAlternatives(alternatives) {
  at("others").hidden = alternatives.length === 0;
  const items = alternatives.map(({ summary }) => {
    const button = make("button", { type: "button", class: "plain", "aria-label": `Copy: ${summary}` }, "Copy");
    button.addEventListener("click", () => copy(summary, button));
    return make("li", {}, make("span", { dir: "auto" }, summary), button);
  });
  at("alternatives").replaceChildren(...items);
}

function showReading(isTruncated) {
  const taken = new Map(story.words.map((word, index) => [word.source, index]));
  const parts = Array.from(pieces(story.text, story.source), ([piece, word]) => {
    if (word === null) return piece;
    const index = taken.get(story.source.indexOf(word));
    const part = make("span", { class: index === undefined ? "word" : "word used" }, piece);
    if (index !== undefined) part.dataset.index = index;
    if (word.importance !== null) part.title = `importance ${word.importance.toFixed(2)}`;
    part.style.setProperty("--i", word.shade);
    return part;
  });
  const rest = parts.pop();
  const shown = rest.slice(0, UNREAD_CHARACTERS);
  parts.push(isTruncated ? make("span", { class: "unread" }, shown, rest.length > shown.length ? "…" : "") : rest.trimEnd());
  reading.replaceChildren(...parts);
  at("unread").hidden = !isTruncated;
}

/** Show what a word of the headline looked at and where it was taken from; null lets go. */
function look(index) {
  const word = story === null || index === null ? null : story.words[index];
  document.body.classList.toggle("looking", word !== null);
  for (const button of headline.querySelectorAll("button")) {
    button.classList.toggle("chosen", button.dataset.index === String(index));
    button.setAttribute("aria-pressed", button.dataset.index === String(pressed));
  }
  const most = Math.max(...(word?.attention ?? []), FAINT);
  reading.querySelectorAll(".word").forEach((part, place) => {
    part.style.setProperty("--a", (word?.attention[place] ?? 0) / most);
    part.classList.toggle("taken", word !== null && word.source === place);
  });
  at("said").textContent = word === null ? HINT : describe(word);
  at("weighed-by").textContent = word === null ? (IMPORTANCE[story?.importance_kind] ?? READ_ONCE) : ATTENTION;
  at("scale").hidden = word === null && !story?.importance_kind;
}

function describe(word) {
  const looks = word.attention
    .map((share, place) => [share, place])
    .sort(([one], [other]) => other - one)
    .slice(0, MOST_ATTENDED)
    .map(([share, place]) => `${isolated(story.source[place].surface)} ${percent(share)}`);
  return `“${isolated(word.surface)}”: ${ORIGINS[word.origin]}; looked most at ${looks.join(", ")}.`;
}

function showAttention() {
  const short = (word) => (word.length > COLUMN_CHARACTERS ? `${word.slice(0, COLUMN_CHARACTERS - 1)}…` : word);
  const { source, words } = story;
  const weighs = story.importance_kind !== null;
  const heads = words.map((word) => {
    const spelled = word.surface ? make("bdi", {}, short(word.surface)) : make("s", {}, word.form);
    return make("th", { scope: "col" }, spelled, make("small", {}, word.origin));
  });
  const head = make("tr", {}, make("th", { scope: "col" }, "text"));
  if (weighs) head.append(make("th", { scope: "col" }, "importance"));
  head.append(...heads);
  const rows = source.map(({ surface, importance, shade }, place) => {
    const row = make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, short(surface))));
    if (weighs) {
      const cell = make("td", { class: "weight" }, importance.toFixed(2));
      cell.style.setProperty("--i", shade);
      row.append(cell);
    }
    for (const { attention, source: from } of words) {
      const share = attention[place];
      const shown = share >= FAINT ? String(Math.round(100 * share)) : "·";
      const cell = from === place ? make("td", { class: "taken" }, `× ${shown}`) : make("td", {}, shown);
      cell.style.setProperty("--a", Math.sqrt(share));
      row.append(cell);
    }
    return row;
  });
  at("attention").querySelector("table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

// --- Copying to the clipboard.

async function copy(words, button) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    copyOldWay(words); // pages that came without TLS from another machine have no clipboard of their own
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
  activeElement?.focus();
}

// --- Light and dark: as the system has it until a person says otherwise.

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  const chosen = kept("localStorage", "theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  at("theme").setAttribute("aria-pressed", chosen ? chosen === "dark" : prefersDark.matches);
}

function switchTheme() {
  const wasDark = at("theme").getAttribute("aria-pressed") === "true";
  const other = wasDark ? "light" : "dark";
  kept("localStorage", "theme", wasDark === prefersDark.matches ? other : ""); // "" is the system's
  showTheme();
}

// --- What happens when.

/** Move through the words of the headline with the arrow keys, as they run on the screen. */
function walk(event) {
  const buttons = [...headline.querySelectorAll("button")];
  const here = buttons.indexOf(document.activeElement);
  const isLeftward = getComputedStyle(headline).direction === "rtl";
  const steps = { ArrowRight: isLeftward ? -1 : 1, ArrowLeft: isLeftward ? 1 : -1, Home: -here, End: buttons.length - 1 - here };
  const next = buttons[here + steps[event.key]];
  if (here < 0 || next === undefined) return;
  event.preventDefault();
  buttons[here].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** Answer pointing at, or focusing, the words inside `area`. */
function watch(area, selector) {
  const index = (event) => event.target.closest(selector)?.dataset.index;
  const start = (event) => index(event) !== undefined && look(Number(index(event)));
  const stop = (event) => index(event) !== undefined && look(pressed);
  area.addEventListener("mouseover", start);
  area.addEventListener("mouseout", stop);
  area.addEventListener("focusin", start);
  area.addEventListener("focusout", stop);
  area.addEventListener("click", (event) => {
    if (index(event) === undefined) return;
    pressed = pressed === Number(index(event)) ? null : Number(index(event));
    look(pressed);
  });
}

watch(headline, "button");
watch(reading, ".used");
headline.addEventListener("keydown", walk);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  pressed = null;
  look(null);
});
text.addEventListener("input", () => {
  showRoom();
  askSoon();
});
length.addEventListener("input", () => {
  lengths[unit()].value = length.valueAsNumber;
  showLength();
  askSoon();
});
document.querySelectorAll("input[name=unit]").forEach((choice) =>
  choice.addEventListener("change", () => {
    showLength();
    askSoon(0);
  }),
);
at("model").addEventListener("change", () => {
  showModel();
  askSoon(0);
});
document.querySelectorAll(".chip").forEach((sample) =>
  sample.addEventListener("click", () => {
    text.value = sample.value;
    const suits = server?.models.some(({ name }) => name === sample.dataset.model);
    if (suits) at("model").value = sample.dataset.model;
    if (server) showModel();
    showRoom();
    askSoon(0);
  }),
);
at("clear").addEventListener("click", () => {
  text.value = "";
  text.focus();
  askSoon(0);
});
at("attention").addEventListener("toggle", () => at("attention").open && story && showAttention());
at("copy").addEventListener("click", () => copy(story.summary, at("copy")));
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
