// Explanation of a headline: the origin and the attention of its words.

import { at, make } from "./elements.js";

const MOST_ATTENDED = 3;
const FAINT = 0.005; // attention below half a percent is shown as a dot
const UNREAD_CHARACTERS = 600; // shown of the end of a long text, which the model did not read
const COLUMN_CHARACTERS = 24;
const HINT = "Point at a word, tap it, or use the arrow keys to see its origin and attention.";
const ORIGINS = { copied: "copied from the text", generated: "generated", digits: "digits of the text", given: "given" };
const SHADES = {
  headline: "Shaded by the attention of the whole headline:",
  word: "Shaded by the attention of the selected word:",
};
const percent = (share) => `${share === 1 ? 100 : Math.min(99, Math.max(1, Math.round(100 * share)))}%`;

const headline = at("headline");
const reading = at("reading");
let view = null;
let pressed = null; // index of the pressed word of the headline

/** Show an explanation with all fields of the result, and `text`; null clears it. */
export function showExplanation(explanation) {
  const hadFocus = headline.contains(document.activeElement);
  view = explanation;
  pressed = null;
  at("why").hidden = view === null;
  headline.replaceChildren(...(view ? headlineWords() : []));
  reading.replaceChildren(...(view ? readingWords() : []));
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
  at("warnings").replaceChildren(...warnings.map(({ message }) => make("li", {}, sentence(message))));
  at("read").textContent = truncated
    ? `The model read ${percent(share)} of the text; what follows the last shaded word was not read.`
    : "The model read the whole text.";
}

const sentence = (message) => `${message[0].toUpperCase()}${message.slice(1)}.`;

/** Split a text into [piece, index of its word]; the index is null between words. */
function pieces(text, words) {
  const points = Array.from(text); // code points, which offsets count
  const cut = (start, end) => points.slice(start, end).join("");
  const found = [];
  let end = 0;
  words.forEach((word, index) => {
    found.push([cut(end, word.start), null], [cut(word.start, word.end), index]);
    end = word.end;
  });
  found.push([cut(end), null]);
  return found.filter(([piece, index]) => piece || index === null);
}

function headlineWords() {
  return pieces(view.summary, view.words).map(([piece, index]) => {
    if (index === null) return piece;
    const { origin } = view.words[index];
    return make("button", { type: "button", class: origin, "data-index": index, tabindex: -1 }, piece);
  });
}

function readingWords() {
  const madeOf = new Map(view.words.map((word, index) => [word.source, index]));
  const parts = pieces(view.text, view.source).map(([piece, position]) => {
    if (position === null) return piece;
    const { importance, shade } = view.source[position];
    const part = make("span", { class: "word" }, piece);
    if (importance !== null) part.title = `importance ${importance.toFixed(2)}`;
    part.dataset.position = position;
    part.style.setProperty("--shade-share", shade);
    if (madeOf.has(position)) {
      part.classList.add("used");
      part.dataset.index = madeOf.get(position);
    }
    return part;
  });
  const rest = parts.pop();
  if (!view.truncated) return [...parts, rest.trimEnd()];
  const cut = rest.length > UNREAD_CHARACTERS ? `${rest.slice(0, UNREAD_CHARACTERS)}…` : rest;
  return [...parts, make("span", { class: "unread" }, cut)];
}

/** Show the attention and the source of a word of the headline; null shows those of all words. */
function select(index) {
  const word = view?.words[index] ?? null;
  document.body.classList.toggle("has-selection", word !== null);
  for (const button of headline.querySelectorAll("button")) {
    button.classList.toggle("chosen", button.dataset.index === String(index));
    button.setAttribute("aria-pressed", button.dataset.index === String(pressed));
  }
  const most = Math.max(...(word?.attention ?? []), FAINT);
  reading.querySelectorAll(".word").forEach((part) => {
    const position = Number(part.dataset.position);
    part.style.setProperty("--attention-share", (word?.attention[position] ?? 0) / most);
    part.classList.toggle("taken", word?.source === position);
  });
  at("description").textContent = word ? describe(word) : HINT;
  at("shaded-by").textContent = SHADES[word ? "word" : "headline"];
}

function describe(word) {
  const attended = word.attention
    .map((share, position) => [share, view.source[position].surface])
    .sort(([one], [other]) => other - one)
    .slice(0, MOST_ATTENDED)
    .map(([share, surface]) => `${isolated(surface)} ${Math.round(100 * share)} %`);
  return `“${isolated(word.surface)}”: ${ORIGINS[word.origin]}; most attention to ${attended.join(", ")}; probability ${Math.round(100 * word.probability)} %.`;
}

/** Isolate a word from its neighbours, for right-to-left scripts. */
const isolated = (word) => `\u2068${word}\u2069`;

/** Fill the table: a row per word of the text, a column per word of the headline. */
function showAttention() {
  const head = make("tr", {}, make("th", { scope: "col" }, "text"));
  const isWeighed = view !== null && view.importance_kind !== null;
  if (isWeighed) head.append(make("th", { scope: "col" }, "importance"));
  for (const { surface, form, origin } of view?.words ?? []) {
    const spelled = surface ? make("bdi", {}, shortened(surface)) : make("s", {}, form);
    head.append(make("th", { scope: "col" }, spelled, make("small", {}, origin)));
  }
  const rows = (view?.source ?? []).map(({ surface, importance }, position) => {
    const label = surface ? shortened(surface) : "¶"; // the end of a line
    const row = make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, label)));
    if (isWeighed) row.append(make("td", {}, importance.toFixed(2)));
    for (const { attention, source } of view.words) {
      const share = attention[position];
      const shown = share < FAINT ? "·" : Math.round(100 * share);
      const isTaken = source === position;
      row.append(cell(isTaken ? `× ${shown}` : shown, isTaken ? "taken" : "", "--attention-share", share ** 0.5));
    }
    return row;
  });
  at("attention").querySelector("table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

function cell(shown, kind, property, share) {
  const made = make("td", { class: kind }, String(shown));
  made.style.setProperty(property, share);
  return made;
}

const shortened = (word) => (word.length > COLUMN_CHARACTERS ? `${word.slice(0, COLUMN_CHARACTERS - 1)}…` : word);

/** Handle hover, focus and press of the words in `area`. */
function addWordListeners(area) {
  const indexed = (handle) => (event) => {
    const index = event.target.closest("[data-index]")?.dataset.index;
    if (index !== undefined) handle(Number(index));
  };
  for (const name of ["mouseover", "focusin"]) area.addEventListener(name, indexed(select));
  for (const name of ["mouseout", "focusout"]) area.addEventListener(name, indexed(() => select(pressed)));
  area.addEventListener("click", indexed((index) => {
    pressed = pressed === index ? null : index;
    select(pressed);
  }));
}

/** Move through the words of the headline with the arrow keys, in the order on the screen. */
function moveFocus(event) {
  const buttons = [...headline.querySelectorAll("button")];
  const here = buttons.indexOf(document.activeElement);
  const onward = getComputedStyle(headline).direction === "rtl" ? -1 : 1;
  const goal = { ArrowRight: here + onward, ArrowLeft: here - onward, Home: 0, End: buttons.length - 1 };
  const next = buttons[goal[event.key]];
  if (next === undefined) return;
  event.preventDefault();
  buttons[here].tabIndex = -1;
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
