// Tables: sorted by a click on a title, agents in the chosen order, names that can be chosen.
const key = (row, column) => {
  const cell = row.cells[column];
  if (cell.dataset.value === undefined) return cell.textContent;
  return cell.dataset.value === "" || cell.dataset.value === "nan" ? null : Number(cell.dataset.value);
};

const compare = (a, b, sign) => {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number") return sign * (a - b);
  return sign * a.localeCompare(b, "en", { numeric: true });
};

const sortTable = (table, header, column) => {
  const numeric = header.classList.contains("number");
  const before = header.getAttribute("aria-sort");
  // Large scores are what a reader looks for first; names and ranks are read from the start.
  const upwards = before ? before === "descending" : !numeric;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", upwards ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  rows.sort((a, b) => compare(key(a, column), key(b, column), upwards ? 1 : -1));
  body.append(...rows);
};

const titlesOf = (table) => [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
const fullName = (bdi) => bdi.title || bdi.textContent;

// What a column of names names, where its title says so; else what the name itself is found to be.
const COLUMN_KINDS = { agent: "agents", a: "agents", b: "agents", "nearly the same as": "agents", task: "tasks" };
const kindOf = (name, title) => {
  if (title === "method") return undefined; // the method "random" is no agent
  const told = COLUMN_KINDS[title];
  if (told) return places[told].has(name) ? told : undefined;
  return kinds.find((kind) => places[kind].has(name));
};

const agentColumn = (table) => titlesOf(table).indexOf("agent");

// Every agent once in a column "agent": such a table has the page's order until it is sorted otherwise.
const orderTable = (table) => {
  const column = agentColumn(table);
  if (column < 0 || column > 1) return;
  const body = table.tBodies[0];
  const at = standing();
  const ranked = [...body.rows].map((row) => [at[places.agents.get(fullName(row.cells[column].querySelector("bdi")))], row]);
  if (ranked.some(([place]) => place === undefined)) return;
  if (new Set(ranked.map(([place]) => place)).size < ranked.length) return;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  body.append(...ranked.sort((a, b) => a[0] - b[0]).map(([, row]) => row));
};

const knowNames = () => {
  for (const bdi of document.querySelectorAll("main bdi, #drawer bdi")) {
    if (bdi.dataset.kind) continue;
    const cell = bdi.closest("td");
    const title = cell ? titlesOf(cell.closest("table"))[cell.cellIndex] : undefined;
    const kind = kindOf(fullName(bdi), title);
    if (kind) {
      bdi.dataset.kind = kind;
      bdi.classList.add("known");
    }
  }
};

const markNames = () => {
  for (const old of document.querySelectorAll("bdi.chosen, tr.chosen")) old.classList.remove("chosen");
  if (!state.chosen) return;
  for (const bdi of document.querySelectorAll(`bdi[data-kind="${state.chosen.kind}"]`)) {
    if (fullName(bdi) !== state.chosen.name) continue;
    bdi.classList.add("chosen");
    bdi.closest("tr")?.classList.add("chosen");
  }
};
