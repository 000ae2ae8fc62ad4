// Filters the list of calls; without scripts the whole list is there.
const field = document.getElementById("filter");
const entries = [...document.querySelectorAll("nav li")];

field.hidden = false;
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of entries) {
    entry.hidden = !words.every((word) => entry.dataset.words.includes(word));
  }
  for (const list of document.querySelectorAll("nav ul")) {
    const empty = [...list.children].every((entry) => entry.hidden);
    list.hidden = empty;
    list.previousElementSibling.hidden = empty;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
});
