// The table of agents: two that are ticked are compared. The table of tasks: filtered by flags and names.
const MOST_TICKED = 2;

const decided = (p) => (p < 0.05 ? "significant" : "not significant");
const pValue = (p) => (p < 0.001 ? "p < 0.001" : `p = ${threeDigits(Number(p.toPrecision(2)))}`);

const comparison = (found, agents) => {
  const [first, second, difference, low, high, p, adjusted] = found;
  const ends = low === null ? "" : ` (95 % interval ${threeDigits(low)} to ${threeDigits(high)})`;
  const level = difference === 0;
  const words = level ? ` and ` : " is ahead of ";
  const told = level ? ` are level on average${ends}.` : ` by ${threeDigits(difference)}${ends}.`;
  const tested = p === null ? " No test is possible." : ` ${pValue(p)}, ${decided(p)} for this pair alone; after Holm for all pairs ${pValue(adjusted)}, ${decided(adjusted)}.`;
  return make("p", {}, nameElement(agents[first]), words, nameElement(agents[second]), told, make("span", { className: "more", textContent: tested }));
};

const comparable = (table, script) => {
  const { agents, pairs, test } = JSON.parse(script.textContent);
  if (!pairs.length) return;
  const section = table.closest("section");
  const panel = section.querySelector(".compared");
  const place = new Map(agents.map((agent, at) => [agent, at]));
  let ticked = [];
  const tell = () => {
    const [one, other] = ticked.map((box) => place.get(box.value));
    const found = pairs.find(([a, b]) => (a === one && b === other) || (a === other && b === one));
    panel.hidden = ticked.length < MOST_TICKED;
    if (panel.hidden) return;
    const none = make("p", { textContent: "These two have no task in common." });
    panel.replaceChildren(found ? comparison(found, agents) : none, make("p", { className: "more", textContent: `${test}, as in examiner compare.` }));
    knowNames();
  };
  const head = make("th", { className: "tick" }, make("span", { className: "skip", textContent: "compare" }));
  table.tHead.rows[0].prepend(head);
  for (const row of table.tBodies[0].rows) {
    const name = fullName(row.querySelector("bdi"));
    const cell = make("td", { className: "tick" });
    row.prepend(cell);
    if (!place.has(name)) continue;
    const box = make("input", { type: "checkbox", value: name });
    box.setAttribute("aria-label", `Compare ${name.slice(0, 60)}`);
    cell.append(box);
    box.addEventListener("change", () => {
      ticked = ticked.filter((each) => each !== box);
      if (box.checked) ticked.push(box);
      while (ticked.length > MOST_TICKED) ticked.shift().checked = false;
      tell();
    });
  }
  const hint = section.querySelector(".hint");
  if (hint) hint.hidden = false;
};

const filterable = (filters) => {
  const table = filters.parentElement.querySelector("table");
  const column = [...table.tHead.rows[0].cells].findIndex((cell) => cell.dataset.names === "flags");
  const flagsOf = (row) => (column < 0 ? [] : row.cells[column].textContent.split("; ").filter(Boolean));
  const rows = [...table.tBodies[0].rows];
  const kindsOfFlags = [...new Set(rows.flatMap(flagsOf))];
  const select = filters.querySelector("select");
  const field = filters.querySelector("input");
  const options = [["", "all tasks"], ...(kindsOfFlags.length ? [["*", "flagged tasks"], ["-", "tasks without a flag"]] : []), ...kindsOfFlags.map((flag) => [flag, flag])];
  select.append(...options.map(([value, text]) => make("option", { value, textContent: text })));
  const apply = () => {
    const letters = field.value.trim().toLocaleLowerCase();
    let shown = 0;
    for (const row of rows) {
      const flags = flagsOf(row);
      const wanted = { "": true, "*": flags.length > 0, "-": !flags.length }[select.value] ?? flags.includes(select.value);
      row.hidden = !(wanted && fullName(row.querySelector("bdi")).toLocaleLowerCase().includes(letters));
      shown += !row.hidden;
    }
    filters.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
  };
  select.addEventListener("change", apply);
  field.addEventListener("input", apply);
  filters.hidden = false;
  apply();
};
