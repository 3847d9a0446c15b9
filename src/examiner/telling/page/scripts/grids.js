// Heat maps of agents × tasks: hover boxes with the raw score, and columns that can be sorted.
const escaped = (text) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\$/g, "&#36;");

const wrapped = (name) => escaped(name.replace(/(.{60})(?=.)/gu, "$1\n")).replace(/\n/g, "<br>");

const brief = (value) =>
  Number.isInteger(value) ? value.toLocaleString("en") : Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });

const reordered = (figure, grid, rows, columns) => {
  const trace = figure.data[0];
  const pick = (table) => rows.map((row) => columns.map((column) => table[row][column]));
  const taskLines = grid.columns.names.map(wrapped);
  const details = grid.details.map(escaped);
  const text = rows.map((row) => {
    const agent = `<b>${wrapped(grid.rows.names[row])}</b><br>`;
    return columns.map((column) => {
      const values = trace.customdata[row][column];
      const lines = values.map((value, place) => `${details[place]}: ${value === null ? "–" : brief(value)}`);
      const seen = trace.z[row][column] !== null;
      return agent + taskLines[column] + "<br>" + (seen ? lines.join("<br>") : "not observed");
    });
  });
  const { customdata, ...rest } = trace;
  const axis = (old, order) => ({ ...old, ticktext: order.map((place) => old.ticktext[place]) });
  return {
    data: [{ ...rest, z: pick(trace.z), text, hoverongaps: true, hovertemplate: "%{text}<extra></extra>" }],
    layout: {
      ...figure.layout,
      xaxis: axis(figure.layout.xaxis, columns),
      yaxis: axis(figure.layout.yaxis, rows),
    },
  };
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
    return { ...reordered(figure, grid, rows, columns), orders: { rows, columns } };
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
      columns = grid.columns.orders[""] = byScore(figure.data[0].customdata[place].map((cell) => cell[1]));
      const option = select.querySelector('option[value=""]');
      option.hidden = false;
      option.textContent = "score: " + grid.rows.names[place].slice(0, 40);
      select.value = "";
    }
    const { kind, name } = nameAt(plot.sides[side], place);
    choose(kind, name);
  });
  controls.hidden = false;
};
