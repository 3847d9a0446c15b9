// Take it away: figures as SVG and PNG, tables as CSV and LaTeX.
const PNG_SCALE = 2;

const download = (name, kind, text) => {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};

const taken = (label, what, act) => {
  const button = make("button", { type: "button", textContent: label });
  button.setAttribute("aria-label", `${label} of ${what}`);
  button.addEventListener("click", act);
  return button;
};

// Light colours on white, whatever the page has: it is for a paper.
const takeFigure = async (plot, format) => {
  const { data, layout } = plot.current();
  const size = { width: plot.element.clientWidth || 900, height: layout.height };
  const image = { ...themed(layout, false), ...size, paper_bgcolor: "#ffffff" };
  const name = plot.element.id.replace("figure-", "");
  const more = format === "png" ? { scale: PNG_SCALE } : {};
  await window.Plotly.downloadImage({ data, layout: image }, { format, filename: name, ...size, ...more });
};

const figureButtons = (plot) => {
  const what = plot.element.id.replace("figure-", "the figure ");
  const buttons = ["svg", "png"].map((format) => taken(format.toUpperCase(), what, () => takeFigure(plot, format)));
  return make("div", { className: "take" }, ...buttons);
};

// ---------------------------------------------------------------- tables

const cellText = (cell) => {
  const name = cell.querySelector("bdi");
  if (name) return fullName(name);
  if (cell.dataset.value === undefined) return cell.textContent.trim();
  return Number.isFinite(Number(cell.dataset.value)) ? cell.dataset.value : "";
};

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const columnsOf = (table) => [...table.tHead.rows[0].cells].flatMap((cell, at) => (cell.dataset.names ? [{ at, names: cell.dataset.names.split(" ") }] : []));

const csvOf = (table) => {
  const columns = columnsOf(table);
  const lines = [...table.tBodies[0].rows].map((row) => columns.flatMap(({ at, names }) =>
    names.length === 1 ? [cellText(row.cells[at])] : [row.cells[at].dataset.value, row.cells[at].dataset.high]));
  return [columns.flatMap(({ names }) => names), ...lines].map((line) => line.map(quoted).join(",")).join("\n") + "\n";
};

const LATEX = {
  ...Object.fromEntries([..."&%$#_{}"].map((letter) => [letter, "\\" + letter])),
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "[": "{[}",
  "<": "\\textless{}", ">": "\\textgreater{}", "–": "--", "−": "$-$", "×": "$\\times$", "±": "$\\pm$",
  "τ": "$\\tau$", "≤": "$\\le$", "…": "\\dots{}",
};
const latex = (text) => [...text.split(/\s+/).join(" ").trim()].map((letter) => LATEX[letter] ?? letter).join("");

const shownText = (cell) => (cell.querySelector("bdi") ? fullName(cell.querySelector("bdi")) : cell.textContent.trim());

const latexOf = (table) => {
  const columns = columnsOf(table);
  const head = columns.map(({ at }) => table.tHead.rows[0].cells[at]);
  const sides = head.map((cell) => (/number|count/.test(cell.className) ? "r" : "l")).join("");
  const line = (texts) => texts.map(latex).join(" & ") + " \\\\";
  const rows = [...table.tBodies[0].rows].map((row) => line(columns.map(({ at }) => shownText(row.cells[at]))));
  const titles = line(head.map((cell) => cell.textContent.trim()));
  return [`\\begin{tabular}{${sides}}`, "\\toprule", titles, "\\midrule", ...rows, "\\bottomrule", "\\end{tabular}", ""].join("\n");
};

const tableButtons = (table) => {
  const section = table.closest("section");
  const inside = [...section.querySelectorAll("table")].indexOf(table) + 1;
  const name = `${section.id}-${inside}`;
  return make("div", { className: "take" },
    taken("CSV", `table ${name}`, () => download(`${name}.csv`, "text/csv", csvOf(table))),
    taken("LaTeX", `table ${name}`, () => download(`${name}.tex`, "text/x-tex", latexOf(table))));
};
