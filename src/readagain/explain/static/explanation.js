// Explanation of a headline: the origin and the attention of its words.

import { at, make } from "./elements.js";

const NUM_ATTENDED = 3; // source words in the description of a word
const MIN_SHOWN_ATTENTION = 0.005; // smaller weights, which round to 0 percent, are shown as a dot
const MAX_UNREAD_CHARACTERS = 600; // shown of a piece of the text that the model did not read
const MAX_LABEL_CHARACTERS = 24; // of a word in the table
const HAS_WORD = /[\p{L}\p{N}]/u;
const HINT = "Point at a word, tap it, or use the arrow keys to see its origin and attention.";
const ORIGINS = { copied: "copied from the text", generated: "generated", digits: "digits of the text", given: "given" };
const SHADES = {
  headline: "Shaded by the attention of the whole headline:",
  word: "Shaded by the attention of the selected word:",
};
// Only 1 is shown as 100%, and nothing as 0%.
const percent = (share) => `${share === 1 ? 100 : Math.min(99, Math.max(1, Math.round(100 * share)))}%`;

const headline = at("headline");
const reading = at("reading");
let view = null;
let pressed = null; // index of the pressed word of the headline

/** Show an explanation, an object with the fields of `readagain explain --json`; null clears the page. */
export function showExplanation(explanation) {
  const hadFocus = headline.contains(document.activeElement);
  view = explanation;
  pressed = null;
  at("why").hidden = view === null;
  headline.replaceChildren(...(view ? makeHeadline() : []));
  reading.replaceChildren(...(view ? makeReading() : []));
  showWarnings();
  if (at("attention").open) showAttention();
  select(null);
  const first = headline.querySelector("button");
  first?.setAttribute("tabindex", 0);
  if (hadFocus) first?.focus();
}

/** Show the confidence, the warnings and how much of the text was read. */
function showWarnings() {
  const { confidence = null, warnings = [], read_share: share = 1, truncated } = view ?? {};
  at("confidence").hidden = confidence === null;
  at("confidence").textContent = confidence === null ? "" : `Confidence ${percent(confidence)}`;
  at("warnings").hidden = warnings.length === 0;
  at("warnings").replaceChildren(...warnings.map(({ message }) => make("li", {}, toSentence(message))));
  const part = truncated ? `${percent(share)} of the text` : "the whole text";
  at("read").textContent = `The model read ${part}${reading.querySelector(".unread") ? ", without the grey words" : ""}.`;
}

const toSentence = (message) => `${message[0].toUpperCase()}${message.slice(1)}.`;

/**
 * Split a text at its words into pairs [piece of text, index of the word].
 *
 * The index is null for the text between words. The last pair is the text after the last word.
 */
function splitAtWords(text, words) {
  const codePoints = Array.from(text); // `start` and `end` count code points, as Python does
  const slice = (start, end) => codePoints.slice(start, end).join("");
  const pairs = [];
  let end = 0;
  words.forEach((word, index) => {
    pairs.push([slice(end, word.start), null], [slice(word.start, word.end), index]);
    end = word.end;
  });
  pairs.push([slice(end), null]);
  return pairs.filter(([piece, index]) => piece || index === null);
}

/** Create the content of the headline: a button for each word, and the text between words. */
function makeHeadline() {
  return splitAtWords(view.summary, view.words).map(([piece, index]) => {
    if (index === null) return piece;
    const { origin } = view.words[index];
    return make("button", { type: "button", class: origin, "data-index": index, tabindex: -1 }, piece);
  });
}

/** Create the content of the shaded text: an element for each source word, and the text between words. */
function makeReading() {
  const headlineIndex = new Map(view.words.map((word, index) => [word.source, index])); // by position
  return splitAtWords(view.text.trimEnd(), view.source).map(([piece, position]) => {
    if (position === null && !HAS_WORD.test(piece)) return piece;
    if (position === null) return make("span", { class: "unread" }, shorten(piece, MAX_UNREAD_CHARACTERS));
    const { importance, shade } = view.source[position];
    const part = make("span", { class: "word" }, piece);
    if (importance !== null) part.title = `importance ${importance.toFixed(2)}`;
    part.dataset.position = position;
    part.style.setProperty("--shade-share", shade);
    if (headlineIndex.has(position)) {
      part.classList.add("used");
      part.dataset.index = headlineIndex.get(position);
    }
    return part;
  });
}

/** Show the attention and the source of one word of the headline; null shows the total attention. */
function select(index) {
  const word = view?.words[index] ?? null;
  document.body.classList.toggle("has-selection", word !== null);
  for (const button of headline.querySelectorAll("button")) {
    button.classList.toggle("chosen", button.dataset.index === String(index));
    button.setAttribute("aria-pressed", button.dataset.index === String(pressed));
  }
  const maxAttention = Math.max(...(word?.attention ?? []), MIN_SHOWN_ATTENTION);
  reading.querySelectorAll(".word").forEach((part) => {
    const position = Number(part.dataset.position);
    part.style.setProperty("--attention-share", (word?.attention[position] ?? 0) / maxAttention);
    part.classList.toggle("taken", word?.source === position);
  });
  at("description").textContent = word ? describe(word) : HINT;
  at("shaded-by").textContent = SHADES[word ? "word" : "headline"];
}

/** Describe the origin, the attention and the probability of a word of the headline. */
function describe(word) {
  const attended = word.attention
    .map((share, position) => [share, view.source[position].surface])
    .sort(([first], [second]) => second - first)
    .slice(0, NUM_ATTENDED)
    .map(([share, surface]) => `${isolate(surface)} ${Math.round(100 * share)}%`);
  return `“${isolate(word.surface)}”: ${ORIGINS[word.origin]}; most attention to ${attended.join(", ")}; probability ${Math.round(100 * word.probability)}%.`;
}

/** Isolate a word from its neighbours, for right-to-left scripts. */
const isolate = (word) => `\u2068${word}\u2069`;

/** Fill the table: a row per word of the text, a column per word of the headline. */
function showAttention() {
  const head = make("tr", {}, make("th", { scope: "col" }, "text"));
  const hasImportance = view !== null && view.importance_kind !== null;
  if (hasImportance) head.append(make("th", { scope: "col" }, "importance"));
  for (const { surface, form, origin } of view?.words ?? []) {
    const label = surface ? make("bdi", {}, shorten(surface)) : make("s", {}, form);
    head.append(make("th", { scope: "col" }, label, make("small", {}, origin)));
  }
  const rows = (view?.source ?? []).map(({ surface, importance }, position) => {
    const label = surface ? shorten(surface) : "¶"; // the end of a line
    const row = make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, label)));
    if (hasImportance) row.append(make("td", {}, importance.toFixed(2)));
    for (const { attention, source } of view.words) {
      const share = attention[position];
      const shown = share < MIN_SHOWN_ATTENTION ? "·" : String(Math.round(100 * share));
      const isTaken = source === position;
      const cell = make("td", { class: isTaken ? "taken" : "" }, isTaken ? `× ${shown}` : shown);
      cell.style.setProperty("--attention-share", share ** 0.5); // the root makes small weights visible
      row.append(cell);
    }
    return row;
  });
  at("attention").querySelector("table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

const shorten = (text, maxCharacters = MAX_LABEL_CHARACTERS) =>
  text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text;

/** Select a word of the headline when the word, or its source, in `area` is hovered, focused or pressed. */
function addWordListeners(area) {
  const listen = (eventName, handle) => area.addEventListener(eventName, (event) => {
    const index = event.target.closest("[data-index]")?.dataset.index;
    if (index !== undefined) handle(Number(index));
  });
  for (const eventName of ["mouseover", "focusin"]) listen(eventName, select);
  for (const eventName of ["mouseout", "focusout"]) listen(eventName, () => select(pressed));
  listen("click", (index) => {
    pressed = pressed === index ? null : index;
    select(pressed);
  });
}

/** Move through the words of the headline with the arrow keys, in the order on the screen. */
function moveFocus(event) {
  const buttons = [...headline.querySelectorAll("button")];
  const current = buttons.indexOf(document.activeElement);
  const right = getComputedStyle(headline).direction === "rtl" ? -1 : 1; // index change of a step to the right
  const target = { ArrowRight: current + right, ArrowLeft: current - right, Home: 0, End: buttons.length - 1 };
  const next = buttons[target[event.key]];
  if (next === undefined) return;
  event.preventDefault();
  buttons[current].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

addWordListeners(headline);
addWordListeners(reading);
headline.addEventListener("keydown", moveFocus);
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  pressed = null;
  select(null);
});
at("attention").addEventListener("toggle", () => at("attention").open && showAttention());
