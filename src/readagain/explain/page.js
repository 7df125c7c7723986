// A word of the headline that is pointed at, focused or tapped shows what it looked at in the text.
const words = document.querySelectorAll("h1 button");
const source = document.querySelectorAll(".text .word");
const said = document.getElementById("said");
const silence = said.textContent;
let chosen = null;

function show(button) {
  document.body.classList.toggle("looking", button !== null);
  words.forEach((word) => word.classList.toggle("chosen", word === button));
  const weights = button === null ? [] : JSON.parse(button.dataset.attention);
  const most = Math.max(...weights, 0.01);
  source.forEach((word, place) => {
    word.style.setProperty("--a", (weights[place] ?? 0) / most);
    word.classList.toggle("taken", button !== null && button.dataset.source === String(place));
  });
  said.textContent = button === null ? silence : button.dataset.said;
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
