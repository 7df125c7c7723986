// The story of a headline: its words, the text they were taken from, and what they looked at.

import { at, make } from "./elements.js";
import { characters } from "./server.js";

const MOST_ATTENDED = 3;
const FAINT = 0.005; // attention below half a percent is shown as a dot
const UNREAD_CHARACTERS = 600; // of the rest of a long text: this is about what was read
const COLUMN_CHARACTERS = 24;
const HINT = "Point at a word, tap it, or use the arrow keys to see where it comes from.";
const ORIGINS = { copied: "copied from the text", generated: "generated", digits: "digits of the text", given: "given" };
const SHADES = {
  weight: "Shaded by importance, the mean weight α of the second reading:",
  movement: "Shaded by importance, how far the second reading moves at the word:",
  attention: "Shaded by the attention of the word of the headline:",
  none: "This model reads once, so no word is shaded.",
};

const headline = at("headline");
const reading = at("reading");
let story = null;
let pressed = null; // the word of the headline that is kept on show, by its index

/** Show an explanation as the server gives it, with `text`, `summary` and `truncated`; null for none. */
export function showStory(told) {
  const hadFocus = headline.contains(document.activeElement);
  story = told;
  pressed = null;
  at("why").hidden = story === null;
  headline.replaceChildren(...(story ? headlineWords() : []));
  reading.replaceChildren(...(story ? readingWords() : []));
  at("unread").hidden = !story?.truncated;
  if (at("attention").open) showAttention();
  look(null);
  const first = headline.querySelector("button");
  first?.setAttribute("tabindex", 0);
  if (hadFocus) first?.focus();
}

/** Cut a text into [piece, index of its word], null for what stands between words. */
function pieces(text, words) {
  const points = characters(text);
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
  return pieces(story.summary, story.words).map(([piece, index]) => {
    if (index === null) return piece;
    const { origin } = story.words[index];
    return make("button", { type: "button", class: origin, "data-index": index, tabindex: -1 }, piece);
  });
}

function readingWords() {
  const madeOf = new Map(story.words.map((word, index) => [word.source, index]));
  const parts = pieces(story.text, story.source).map(([piece, place]) => {
    if (place === null) return piece;
    const { importance, shade } = story.source[place];
    const part = make("span", { class: "word" }, piece);
    if (importance !== null) part.title = `importance ${importance.toFixed(2)}`;
    part.style.setProperty("--shade-share", shade);
    if (madeOf.has(place)) {
      part.classList.add("used");
      part.dataset.index = madeOf.get(place);
    }
    return part;
  });
  const rest = parts.pop();
  if (!story.truncated) return [...parts, rest.trimEnd()];
  const cut = rest.length > UNREAD_CHARACTERS ? `${rest.slice(0, UNREAD_CHARACTERS)}…` : rest;
  return [...parts, make("span", { class: "unread" }, cut)];
}

/** Show what a word of the headline looked at and where it was taken from; null lets go. */
function look(index) {
  const word = story?.words[index] ?? null;
  document.body.classList.toggle("looking", word !== null);
  for (const button of headline.querySelectorAll("button")) {
    button.classList.toggle("chosen", button.dataset.index === String(index));
    button.setAttribute("aria-pressed", button.dataset.index === String(pressed));
  }
  const most = Math.max(...(word?.attention ?? []), FAINT);
  reading.querySelectorAll(".word").forEach((part, place) => {
    part.style.setProperty("--look-share", (word?.attention[place] ?? 0) / most);
    part.classList.toggle("taken", word?.source === place);
  });
  const shades = word ? "attention" : (story?.importance_kind ?? "none");
  at("said").textContent = word ? describe(word) : HINT;
  at("shaded-by").textContent = SHADES[shades];
  at("shades").hidden = shades === "none";
}

function describe(word) {
  const looks = word.attention
    .map((share, place) => [share, story.source[place].surface])
    .sort(([one], [other]) => other - one)
    .slice(0, MOST_ATTENDED)
    .map(([share, surface]) => `${isolated(surface)} ${Math.round(100 * share)} %`);
  return `“${isolated(word.surface)}”: ${ORIGINS[word.origin]}; looked most at ${looks.join(", ")}.`;
}

/** Keep a word that runs from right to left from turning its neighbours around. */
const isolated = (word) => `\u2068${word}\u2069`;

/** Write the table: a row for each word of the text, a column for each word of the headline. */
function showAttention() {
  const head = make("tr", {}, make("th", { scope: "col" }, "text"));
  const isWeighed = story !== null && story.importance_kind !== null;
  if (isWeighed) head.append(make("th", { scope: "col" }, "importance"));
  for (const { surface, form, origin } of story?.words ?? []) {
    const spelled = surface ? make("bdi", {}, shortened(surface)) : make("s", {}, form);
    head.append(make("th", { scope: "col" }, spelled, make("small", {}, origin)));
  }
  const rows = (story?.source ?? []).map(({ surface, importance, shade }, place) => {
    const row = make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, shortened(surface))));
    if (isWeighed) row.append(cell(importance.toFixed(2), "weight", "--shade-share", shade));
    for (const { attention, source } of story.words) {
      const share = attention[place];
      const shown = share < FAINT ? "·" : Math.round(100 * share);
      const isTaken = source === place;
      row.append(cell(isTaken ? `× ${shown}` : shown, isTaken ? "taken" : "", "--look-share", share ** 0.5));
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

/** Answer to the words inside `area` being pointed at, focused or pressed. */
function watch(area) {
  const indexed = (answer) => (event) => {
    const index = event.target.closest("[data-index]")?.dataset.index;
    if (index !== undefined) answer(Number(index));
  };
  for (const name of ["mouseover", "focusin"]) area.addEventListener(name, indexed(look));
  for (const name of ["mouseout", "focusout"]) area.addEventListener(name, indexed(() => look(pressed)));
  area.addEventListener("click", indexed((index) => {
    pressed = pressed === index ? null : index;
    look(pressed);
  }));
}

/** Move through the words of the headline with the arrow keys, as they run on the screen. */
function walk(event) {
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

watch(headline);
watch(reading);
headline.addEventListener("keydown", walk);
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  pressed = null;
  look(null);
});
at("attention").addEventListener("toggle", () => at("attention").open && showAttention());
