// What the reader has chosen: an order of agents, an agent or a task, tasks to try. The address keeps it.
// Names are data: they only ever reach the page as text.
const subjects = JSON.parse(document.getElementById("subjects").textContent);
const kinds = ["agents", "tasks"];
const places = Object.fromEntries(
  kinds.map((kind) => [kind, new Map(subjects[kind].map((name, place) => [name, place]))]));
const state = { order: Object.keys(subjects.orders)[0], chosen: null, picked: null };
const listeners = [];
const changed = (what) => listeners.forEach((listener) => listener(what));

const hashOf = () => {
  const kept = new URLSearchParams();
  if (state.chosen) kept.set(state.chosen.kind.slice(0, -1), state.chosen.name);
  if (state.order !== Object.keys(subjects.orders)[0]) kept.set("order", state.order);
  if (state.picked) kept.set("try", state.picked.join(" "));
  return kept.toString();
};

const remember = () => {
  const hash = hashOf();
  history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
};

// A link to a section has no "=": it leaves what was chosen as it is.
const recall = () => {
  if (!location.hash.includes("=")) return;
  const kept = new URLSearchParams(location.hash.slice(1));
  const kind = kinds.find((each) => places[each].has(kept.get(each.slice(0, -1))));
  state.chosen = kind ? { kind, name: kept.get(kind.slice(0, -1)) } : null;
  if (subjects.orders[kept.get("order")]) state.order = kept.get("order");
  const tried = (kept.get("try") ?? "").split(" ").filter((text) => /^\d+$/.test(text)).map(Number);
  state.picked = tried.length ? tried.filter((place) => place < subjects.tasks.length) : null;
  changed("all");
};

const choose = (kind, name) => {
  state.chosen = kind && places[kind].has(name) ? { kind, name } : null;
  remember();
  changed("chosen");
};

const orderBy = (name) => {
  state.order = name;
  remember();
  changed("order");
};

// Where each agent stands in the chosen order.
const standing = () => {
  const at = new Array(subjects.agents.length).fill(0);
  (subjects.orders[state.order] ?? []).forEach((agent, place) => { at[agent] = place; });
  return at;
};

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const nameElement = (name) => make("bdi", { textContent: name });
