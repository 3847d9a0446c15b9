"use strict";
// Draws the figures, sorts tables and heat maps. Names are data: they only ever reach the page as text.
(() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const plots = [];

  // ---------------------------------------------------------------- figures

  const colours = (isDark) => {
    const [ink, grid, ground] = isDark
      ? ["#e6e9ef", "#333a46", "#1c2129"]
      : ["#1c2230", "#e3e7ed", "#ffffff"];
    const axis = { gridcolor: grid, linecolor: grid, zerolinecolor: grid, tickcolor: grid };
    return { ink, grid, ground, axis };
  };

  const themed = (layout, isDark) => {
    const { ink, grid, ground, axis } = colours(isDark);
    return {
      ...layout,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink, family: "system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif", size: 13 },
      hoverlabel: { bgcolor: ground, bordercolor: grid, align: "left", font: { color: ink } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: ink, activecolor: ink },
      dragmode: false,
      xaxis: { ...axis, ...layout.xaxis },
      yaxis: { ...axis, ...layout.yaxis },
    };
  };

  const config = {
    responsive: true,
    displaylogo: false,
    modeBarButtons: [["toImage"]], // no button that would send data anywhere
  };

  const show = (plot, isDark = dark.matches) => {
    const { data, layout } = plot.current();
    window.Plotly.react(plot.element, data, themed(layout, isDark), config);
  };

  // ---------------------------------------------------------------- heat maps that can be sorted

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
    const order = {};
    const selects = {};
    for (const select of controls.querySelectorAll("select")) {
      const side = select.dataset.side;
      selects[side] = select;
      order[side] = grid[side].orders[select.value];
      select.addEventListener("change", () => {
        order[side] = grid[side].orders[select.value];
        show(plot);
      });
    }
    plot.current = () => reordered(figure, grid, order.rows, order.columns);
    const score = (row, column) => figure.data[0].customdata[row][column][1];
    // A click on an agent's name sorts tasks by its scores; on a task's name, agents by theirs.
    plot.element.addEventListener("click", (event) => {
      const tick = event.target.closest(".ytick, .xtick");
      const ground = plot.element.querySelector(".nsewdrag");
      if (!tick || !ground) return;
      const area = ground.getBoundingClientRect();
      const isRow = tick.classList.contains("ytick");
      const [side, clicked] = isRow ? ["columns", "rows"] : ["rows", "columns"];
      const share = isRow ? (event.clientY - area.top) / area.height : (event.clientX - area.left) / area.width;
      const last = order[clicked].length - 1;
      const place = order[clicked][Math.min(last, Math.max(0, Math.floor(share * (last + 1))))];
      const scores = grid[side].names.map((_, at) => (isRow ? score(place, at) : score(at, place)));
      order[side] = grid[side].orders[""] = byScore(scores);
      const option = selects[side].querySelector('option[value=""]');
      option.hidden = false;
      option.textContent = "score: " + grid[clicked].names[place].slice(0, 40);
      selects[side].value = "";
      show(plot);
    });
    controls.hidden = false;
  };

  // ---------------------------------------------------------------- tables

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

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((header, column) =>
      header.querySelector("button").addEventListener("click", () => sortTable(table, header, column)));
  }

  // ---------------------------------------------------------------- start

  for (const script of document.querySelectorAll("script[data-figure]")) {
    const { figure, grid } = JSON.parse(script.textContent);
    const element = document.getElementById(script.dataset.figure);
    const plot = { element, figure, current: () => figure };
    if (grid) sortable(plot, grid, element.closest("figure").querySelector(".controls"));
    show(plot);
    plots.push(plot);
  }
  dark.addEventListener("change", () => plots.forEach((plot) => show(plot)));
  window.addEventListener("beforeprint", () => plots.forEach((plot) => show(plot, false)));
  window.addEventListener("afterprint", () => plots.forEach((plot) => show(plot)));
})();
