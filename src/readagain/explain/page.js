// A word of the headline that is hovered, focused or tapped shows its attention in the text.
const words = document.querySelectorAll("h1 button");
const source = document.querySelectorAll(".text .word");
const description = document.getElementById("description");
const placeholder = description.textContent;
let chosen = null;

function show(button) {
  document.body.classList.toggle("has-selection", button !== null);
  words.forEach((word) => word.classList.toggle("chosen", word === button));
  const weights = button === null ? [] : JSON.parse(button.dataset.attention);
  const most = Math.max(...weights, 0.01);
  source.forEach((word, position) => {
    word.style.setProperty("--a", (weights[position] ?? 0) / most);
    word.classList.toggle("taken", button !== null && button.dataset.source === String(position));
  });
  description.textContent = button === null ? placeholder : button.dataset.description;
}

words.forEach((button) => {
  button.addEventListener("mouseenter", () => show(button));
  button.addEventListener("mouseleave", () => show(chosen));
  button.addEventListener("focus", () => show(button));
  button.addEventListener("blur", () => show(chosen));
  button.addEventListener("click", () => {
    chosen = chosen === button ? null : button;
    words.forEach((word) => word.setAttribute("aria-pressed", String(word === chosen)));
    show(chosen);
  });
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    chosen = null;
    words.forEach((word) => word.setAttribute("aria-pressed", "false"));
    show(null);
  }
});
