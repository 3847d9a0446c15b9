// The drawer: all that the page knows of the agent or task that is chosen.
const drawer = document.getElementById("drawer");
const MOST_BARS = 40;
const MOST_NEIGHBOURS = 5;

const plotOf = (id) => plots.get(document.getElementById(id));

// Every row of a table in which it is named, under the title of its section.
const rowsAbout = (chosen) => {
  const found = new Map();
  for (const bdi of document.querySelectorAll(`main td bdi[data-kind="${chosen.kind}"]`)) {
    if (fullName(bdi) !== chosen.name) continue;
    const row = bdi.closest("tr");
    const section = row.closest("section");
    const titles = titlesOf(row.closest("table"));
    const own = bdi.closest("td").cellIndex;
    const pairs = [...row.cells].flatMap((cell, column) =>
      column === own || !cell.textContent.trim() ? [] : [[titles[column], cell.textContent.trim()]]);
    if (!found.has(section)) found.set(section, []);
    found.get(section).push(pairs);
  }
  return found;
};

const factsList = (pairs) =>
  make("dl", {}, ...pairs.map(([what, value]) =>
    make("div", {}, make("dt", { textContent: what }), make("dd", { textContent: value }))));

// Scores from the heat map: bars as long as a score's place among those of the same row or column.
const scoresAbout = (chosen) => {
  const plot = plotOf("figure-heatmap");
  if (!plot) return [];
  const side = chosen.kind === "agents" ? "rows" : "columns";
  const other = plot.sides[side === "rows" ? "columns" : "rows"];
  const place = plot.sides[side].at.indexOf(places[chosen.kind].get(chosen.name));
  if (place < 0) return [];
  const trace = plot.figure.data[0];
  const cells = other.at.map((subject, at) => {
    const [row, column] = side === "rows" ? [place, at] : [at, place];
    return { name: subjects[other.of][subject], ...cellOf(plot, row, column), colour: trace.z[row][column] };
  });
  return cells.filter((cell) => cell.score !== null).sort((a, b) => b.score - a.score);
};

const strip = (cells) => {
  const lowest = Math.min(...cells.map((cell) => cell.colour));
  const highest = Math.max(...cells.map((cell) => cell.colour));
  const share = (cell) => (highest > lowest ? (cell.colour - lowest) / (highest - lowest) : 1);
  const parts = cells.slice(0, MOST_BARS).flatMap((cell) => {
    const bar = make("div", { className: "bar", title: `raw ${brief(cell.raw)}, rank ${cell.rank}` });
    bar.style.width = `${Math.round(100 * share(cell))}%`;
    return [nameElement(cell.name), make("div", {}, bar), make("div", { className: "value", textContent: brief(cell.score) })];
  });
  return make("div", { className: "strip" }, ...parts);
};

// Of zeros and ones: who solves a task, or what an agent solves; these come first in the list below.
const scoresTitle = (chosen, scores) => {
  const cut = scores.length > MOST_BARS ? `, the best ${MOST_BARS} of ${scores.length}` : "";
  if (scores.some((cell) => cell.score !== 0 && cell.score !== 1)) return `Scores${cut}`;
  const solved = scores.filter((cell) => cell.score === 1).length;
  return chosen.kind === "tasks" ? `Every trial solved by ${solved} of ${scores.length} agents` : `Solves every trial of ${solved} of ${scores.length} tasks drawn`;
};

// The tasks that rank agents in the most similar order, from the map of correlations.
const neighboursOf = (task) => {
  const plot = plotOf("figure-task-clusters");
  const at = plot?.sides.rows.at ?? [];
  const row = at.indexOf(places.tasks.get(task));
  if (row < 0) return [];
  const correlations = plot.figure.data[0].z[row];
  return at.map((subject, column) => ({ name: subjects.tasks[subject], r: correlations[column] }))
    .filter((each) => each.name !== task && each.r !== null)
    .sort((a, b) => b.r - a.r).slice(0, MOST_NEIGHBOURS);
};

// Where figures draw a line of its own: its curves.
const curvesOf = (chosen) =>
  [...plots.values()].filter((plot) => plot.figure.data.some((trace) => trace.meta?.[chosen.kind] === chosen.name));

const heading = (text) => make("h3", { textContent: text });

const sectionLink = (section) => {
  const link = make("a", { href: "#" + section.id, textContent: section.querySelector(".eyebrow")?.textContent ?? "In short" });
  return make("h3", {}, link);
};

const fill = (chosen) => {
  const close = make("button", { type: "button", className: "drawer-close", textContent: "Close" });
  close.addEventListener("click", () => choose(null));
  const kind = make("p", { className: "eyebrow", textContent: chosen.kind.slice(0, -1) });
  const parts = [close, kind, make("h2", { textContent: chosen.name.slice(0, 300) })];
  const text = chosen.kind === "tasks" && subjects.texts[chosen.name];
  if (text) parts.push(make("p", { textContent: text }));
  const [first, ...others] = [...rowsAbout(chosen)].map(([section, rows]) => [sectionLink(section), ...rows.map(factsList)]);
  if (first) parts.push(...first);
  const scores = scoresAbout(chosen);
  if (scores.length) parts.push(heading(scoresTitle(chosen, scores)), strip(scores));
  const alike = chosen.kind === "tasks" ? neighboursOf(chosen.name) : [];
  if (alike.length) {
    const items = alike.map((each) => make("li", {}, nameElement(each.name), ` (r = ${each.r.toFixed(2)})`));
    parts.push(heading("Most similar order of agents"), make("ul", {}, ...items));
  }
  parts.push(...others.flat());
  const drawn = curvesOf(chosen);
  if (drawn.length) {
    const links = drawn.map((plot) => make("li", {}, sectionLink(plot.element.closest("section")).firstChild));
    parts.push(heading("Its curves"), make("ul", {}, ...links));
  }
  drawer.replaceChildren(...parts);
};

let opener = null;
const showDrawer = () => {
  if (state.chosen) {
    if (drawer.hidden) opener = document.activeElement;
    fill(state.chosen);
    drawer.hidden = false;
    drawer.scrollTop = 0;
  } else if (!drawer.hidden) {
    drawer.hidden = true;
    opener?.focus?.({ preventScroll: true });
  }
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.chosen) choose(null);
});
