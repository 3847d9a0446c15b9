// Everything begins here.
const readFigure = (script) => {
  const { figure, grid, sides } = JSON.parse(script.textContent);
  const element = document.getElementById(script.dataset.figure);
  const plot = { element, figure, sides, grid, drawn: false, current: () => ordered(figure, sides) };
  plots.set(element, plot);
  if (grid) sortable(plot, grid, element.closest("figure").querySelector(".controls"));
  element.closest("figure").append(figureButtons(plot));
  near.observe(element);
};

for (const script of document.querySelectorAll("script[data-figure]")) readFigure(script);
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((header) =>
    header.querySelector("button")?.addEventListener("click", () => sortTable(table, header, header.cellIndex)));
  orderTable(table);
  table.closest(".scroll").after(tableButtons(table));
}
for (const script of document.querySelectorAll("script[data-pairs]")) comparable(script.closest("section").querySelector("table.ranked"), script);
for (const filters of document.querySelectorAll(".filters")) filterable(filters);
knowNames();
document.querySelector(".tools").hidden = !subjects.agents.length;

document.addEventListener("click", (event) => {
  const bdi = event.target.closest?.("bdi.known");
  if (bdi) choose(bdi.dataset.kind, fullName(bdi));
});
const orders = document.getElementById("order");
orders?.addEventListener("change", () => orderBy(orders.value));

listeners.push((what) => {
  if (orders) orders.value = state.order;
  if (what !== "chosen") document.querySelectorAll("table.sortable").forEach(orderTable);
  if (what !== "order") {
    showDrawer();
    knowNames();
    markNames();
  }
  redraw();
});
window.addEventListener("hashchange", recall);
// A link to a section that is folded opens it.
const unfold = () => {
  const target = location.hash && !location.hash.includes("=") ? document.getElementById(location.hash.slice(1)) : null;
  const fold = target?.querySelector(":scope > details.evidence");
  if (fold) { fold.open = true; target.scrollIntoView(); }
};
window.addEventListener("hashchange", unfold);
document.addEventListener("click", (event) => { if (event.target.closest?.("a[href^='#']")) setTimeout(unfold); });
dark.addEventListener("change", () => redraw());
// Figures that are wider than a sheet, and would be cut, are drawn narrower.
const PAPER = 680;
window.addEventListener("beforeprint", () => {
  plots.forEach((plot) => { if (plot.element.checkVisibility()) show(plot, false, PAPER); });
});
window.addEventListener("afterprint", () => redraw());
document.querySelectorAll(".board").forEach(openBoard);
recall();
unfold();
