// Draws the figures when they come near the screen: ordered, highlighted, and in the colours of the page.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const plots = new Map();

const colours = (isDark) => {
  const [ink, grid, ground, accent] = isDark
    ? ["#e6e9ef", "#333a46", "#1c2129", "#7db8ee"]
    : ["#1c2230", "#e3e7ed", "#ffffff", "#1f5f9e"];
  const axis = { gridcolor: grid, linecolor: grid, zerolinecolor: grid, tickcolor: grid };
  return { ink, grid, ground, accent, axis };
};

const themed = (layout, isDark) => {
  const { ink, grid, ground, axis } = colours(isDark);
  const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));
  return {
    ...layout,
    autosize: true,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, family: "system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif", size: 12 },
    hoverlabel: { bgcolor: ground, bordercolor: grid, align: "left", font: { color: ink } },
    dragmode: false,
    ...Object.fromEntries(axes.map((key) => [key, { ...axis, ...layout[key] }])),
  };
};

// ---------------------------------------------------------------- one order of agents

// The rows of a figure from top to bottom in the chosen order: entry k is the row that stands k-th.
const rowOrder = (side) => {
  const at = standing();
  return side.at.map((_, row) => row).sort((a, b) => at[side.at[a]] - at[side.at[b]]);
};

const ordered = (figure, sides) => {
  if (sides.rows?.of !== "agents") return figure;
  const order = rowOrder(sides.rows);
  const place = new Array(order.length);
  order.forEach((row, at) => { place[row] = at; });
  // Points stand within half a row of their row's middle.
  const moved = (y) => (y === null ? null : place[Math.round(y)] + (y - Math.round(y)));
  const picked = (rows) => rows && order.map((row) => rows[row]);
  const data = figure.data.map((trace) =>
    trace.type === "heatmap"
      ? { ...trace, z: picked(trace.z), text: picked(trace.text), customdata: picked(trace.customdata) }
      : { ...trace, y: trace.y.map(moved) });
  const axis = figure.layout.yaxis;
  return { data, layout: { ...figure.layout, yaxis: { ...axis, ticktext: picked(axis.ticktext) } }, order };
};

// ---------------------------------------------------------------- what is chosen stands out

const FAINT = 0.25;

const lit = (trace) => {
  const name = trace.meta?.[state.chosen.kind];
  if (name === undefined) return trace;
  if (Array.isArray(name)) {
    const found = name.flatMap((each, point) => (each === state.chosen.name ? [point] : []));
    const size = Math.max(14, 1.5 * (trace.marker?.size ?? 9));
    return { ...trace, selectedpoints: found, selected: { marker: { size, opacity: 1 } }, unselected: { marker: { opacity: FAINT } } };
  }
  if (name !== state.chosen.name) return { ...trace, opacity: FAINT };
  return trace.line?.width ? { ...trace, line: { ...trace.line, width: 2 + trace.line.width } } : trace;
};

const frame = (side, place, accent) => {
  const across = { x0: 0, x1: 1, xref: "paper", y0: place - 0.5, y1: place + 0.5, yref: "y" };
  const up = { y0: 0, y1: 1, yref: "paper", x0: place - 0.5, x1: place + 0.5, xref: "x" };
  return { type: "rect", layer: "above", line: { width: 2, color: accent }, ...(side === "rows" ? across : up) };
};

const highlighted = (shown, plot, isDark) => {
  if (!state.chosen) return shown;
  const subject = places[state.chosen.kind].get(state.chosen.name);
  const frames = [];
  for (const [side, { of, at }] of Object.entries(plot.sides)) {
    const own = of === state.chosen.kind ? at.indexOf(subject) : -1;
    const order = shown.orders?.[side] ?? (side === "rows" ? shown.order : undefined);
    if (own >= 0) frames.push(frame(side, order ? order.indexOf(own) : own, colours(isDark).accent));
  }
  const layout = { ...shown.layout, shapes: [...(shown.layout.shapes ?? []), ...frames] };
  return { ...shown, data: shown.data.map(lit), layout };
};

// ---------------------------------------------------------------- drawing

const settings = { responsive: true, displayModeBar: false };

// A legend that would need a scroll bar gets room instead: nobody scrolls in a legend, and paper cannot.
const roomForLegend = (plot, isDark, width) => {
  const bar = plot.element.querySelector(".legend .scrollbar");
  if (plot.taller || !bar?.getBoundingClientRect().height) return;
  plot.taller = 20 * plot.element.querySelectorAll(".legend .traces").length;
  plot.element.style.height = `${plot.figure.layout.height + plot.taller}px`;
  show(plot, isDark, width);
};

const show = (plot, isDark = dark.matches, width = undefined) => {
  plot.drawn = true;
  const { data, layout } = highlighted(plot.current(), plot, isDark);
  const height = layout.height + (plot.taller ?? 0);
  const drawing = window.Plotly.react(plot.element, data, themed({ ...layout, height, width }, isDark), settings);
  roomForLegend(plot, isDark, width);
  if (plot.listening) return;
  plot.listening = true;
  drawing.then(() => {
    plot.element.on("plotly_click", (event) => clicked(plot, event.points[0]));
    plot.listen?.();
  });
};

const nameAt = ({ of, at }, place) => ({ kind: of, name: subjects[of][at[place]] });

const clicked = (plot, point) => {
  const meta = point.data.meta ?? {};
  const kind = Object.keys(meta)[0];
  if (kind) return choose(kind, Array.isArray(meta[kind]) ? meta[kind][point.pointNumber] : meta[kind]);
  const shown = plot.current();
  const found = Object.entries(plot.sides).map(([side, of]) => {
    const place = Math.round(side === "rows" ? point.y : point.x);
    const order = shown.orders?.[side] ?? (side === "rows" ? shown.order : undefined);
    return nameAt(of, order ? order[place] : place);
  });
  const task = found.find((each) => each.kind === "tasks") ?? found[0];
  if (task) choose(task.kind, task.name);
};

const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const plot = plots.get(entry.target);
    if (entry.isIntersecting && !plot.drawn) show(plot);
  }
}, { rootMargin: "600px" });

const redraw = (isDark) => plots.forEach((plot) => { if (plot.drawn) show(plot, isDark); });
