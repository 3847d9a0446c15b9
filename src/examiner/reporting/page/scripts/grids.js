// Heat maps of agents × tasks: hover boxes with the raw score, and columns that can be sorted.
const brief = (value) =>
  Number.isInteger(value) ? value.toLocaleString("en") : Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });

const MOST_COLUMN_NAMES = 70;
const NAME = 11; // pixels that a name takes up across its direction of reading
const MARGIN = 190; // pixels next to the cells, and above and below them

const reordered = (figure, rows, columns, width) => {
  const across = Math.min(MOST_COLUMN_NAMES, Math.max(1, (width - MARGIN) / NAME));
  const trace = figure.data[0];
  const z = rows.map((row) => columns.map((column) => trace.z[row][column]));
  // Of very many names every so many are written: a browser measures each, and few fit.
  const axis = (old, order, most) => {
    const step = Math.ceil(order.length / most);
    const tickvals = order.map((_, at) => at).filter((at) => at % step === 0);
    return { ...old, tickvals, ticktext: tickvals.map((at) => old.ticktext[order[at]]) };
  };
  return {
    data: [{ ...trace, z, hoverongaps: true, hoverinfo: "none" }],
    layout: {
      ...figure.layout,
      xaxis: axis(figure.layout.xaxis, columns, across),
      yaxis: axis(figure.layout.yaxis, rows, Math.max(1, (figure.layout.height - MARGIN) / NAME)),
    },
  };
};

// Scores of cells, where these are not their colours; raw ones, where these are not the scores.
const scoresOf = (plot) => plot.grid.score ?? plot.figure.data[0].z;
const cellOf = (plot, row, column) => {
  const scores = scoresOf(plot);
  const score = scores[row][column];
  const rank = score === null ? null : 1 + scores.filter((line) => line[column] !== null && line[column] > score).length;
  return { score, rank, raw: (plot.grid.raw ?? scores)[row][column] };
};

// What is known of a cell, next to the pointer. Texts of all cells beforehand would take a browser seconds.
const tip = make("div", { id: "tip", hidden: true });
document.body.append(tip);

const tellCell = (plot, grid, point, pointer) => {
  const { rows, columns } = plot.current().orders;
  const [row, column] = [rows[Math.round(point.y)], columns[Math.round(point.x)]];
  const cell = cellOf(plot, row, column);
  const lines = cell.score === null
    ? ["not observed"]
    : [cell.raw, cell.score, cell.rank].map((value, at) => `${grid.details[at]}: ${value === null ? "–" : brief(value)}`);
  const names = [grid.rows.names[row], grid.columns.names[column]].map((name) => make("div", {}, nameElement(name)));
  tip.replaceChildren(...names, ...lines.map((line) => make("div", { textContent: line })));
  tip.hidden = false;
  tip.style.left = `${Math.min(pointer.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(pointer.clientY + 14, window.innerHeight - tip.offsetHeight - 8)}px`;
};

const byScore = (scores) =>
  scores.map((_, place) => place).sort((a, b) => {
    if (scores[a] === null || scores[b] === null) return (scores[a] === null) - (scores[b] === null) || a - b;
    return scores[b] - scores[a] || a - b;
  });

const sortable = (plot, grid, controls) => {
  const figure = plot.figure;
  const select = controls.querySelector("select");
  let columns = grid.columns.orders[select.value];
  select.addEventListener("change", () => {
    columns = grid.columns.orders[select.value];
    show(plot);
  });
  plot.current = () => {
    const rows = rowOrder(plot.sides.rows);
    return { ...reordered(figure, rows, columns, plot.element.clientWidth), orders: { rows, columns } };
  };
  // A click on an agent's name sorts tasks by its scores; a name that is clicked is chosen.
  plot.element.addEventListener("click", (event) => {
    const tick = event.target.closest(".ytick, .xtick");
    const ground = plot.element.querySelector(".nsewdrag");
    if (!tick || !ground) return;
    const area = ground.getBoundingClientRect();
    const side = tick.classList.contains("ytick") ? "rows" : "columns";
    const share = side === "rows" ? (event.clientY - area.top) / area.height : (event.clientX - area.left) / area.width;
    const order = plot.current().orders[side];
    const place = order[Math.min(order.length - 1, Math.max(0, Math.floor(share * order.length)))];
    if (side === "rows") {
      columns = grid.columns.orders[""] = byScore(scoresOf(plot)[place]);
      const option = select.querySelector('option[value=""]');
      option.hidden = false;
      option.textContent = "score: " + grid.rows.names[place].slice(0, 40);
      select.value = "";
    }
    const { kind, name } = nameAt(plot.sides[side], place);
    choose(kind, name);
  });
  plot.listen = () => {
    plot.element.on("plotly_hover", (event) => tellCell(plot, grid, event.points[0], event.event));
    plot.element.on("plotly_unhover", () => { tip.hidden = true; });
  };
  controls.hidden = false;
};
