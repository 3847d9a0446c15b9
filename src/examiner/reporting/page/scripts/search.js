// Find an agent or a task by part of its name; arrows and Enter choose.
const field = document.getElementById("find");
const results = document.getElementById("found");
const MOST_FOUND = 12;
const SHOWN_LETTERS = 60;

const matches = (text) => {
  const wanted = text.trim().toLocaleLowerCase();
  if (!wanted) return [];
  const all = kinds.flatMap((kind) => subjects[kind].map((name) => ({ kind, name, at: name.toLocaleLowerCase().indexOf(wanted) })));
  return all.filter((each) => each.at >= 0).sort((a, b) => a.at - b.at || a.name.length - b.name.length).slice(0, MOST_FOUND);
};

let offered = [];
let pointed = -1;

const point = (place) => {
  pointed = place;
  [...results.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === place)));
  field.setAttribute("aria-activedescendant", place >= 0 ? `found-${place}` : "");
};

const offer = () => {
  offered = matches(field.value);
  results.replaceChildren(...offered.map((each, at) => {
    const item = make("li", { id: `found-${at}` }, nameElement(each.name.slice(0, SHOWN_LETTERS)), " ", make("small", { textContent: each.kind.slice(0, -1) }));
    item.setAttribute("role", "option");
    item.addEventListener("pointerdown", (event) => { event.preventDefault(); take(at); });
    return item;
  }));
  results.hidden = !offered.length;
  field.setAttribute("aria-expanded", String(!results.hidden));
  point(offered.length ? 0 : -1);
};

const take = (place) => {
  const found = offered[place];
  if (!found) return;
  field.value = "";
  offer();
  choose(found.kind, found.name);
};

field.addEventListener("input", offer);
field.addEventListener("blur", () => { results.hidden = true; });
field.addEventListener("keydown", (event) => {
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key === "Enter") take(pointed);
  else if (event.key in steps && offered.length) point((pointed + steps[event.key] + offered.length) % offered.length);
  else return;
  event.preventDefault();
});
