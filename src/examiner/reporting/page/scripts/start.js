// Everything begins here.
const readFigure = (script) => {
  const { figure, grid, sides } = JSON.parse(script.textContent);
  const element = document.getElementById(script.dataset.figure);
  const plot = { element, figure, sides, drawn: false, current: () => ordered(figure, sides) };
  plots.set(element, plot);
  if (grid) sortable(plot, grid, element.closest("figure").querySelector(".controls"));
  element.closest("figure").append(figureButtons(plot));
  near.observe(element);
};

for (const script of document.querySelectorAll("script[data-figure]")) readFigure(script);
// What stands on the first screen waits for nothing.
for (const element of document.querySelectorAll("#verdict .plot")) show(plots.get(element));
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((header, column) =>
    header.querySelector("button").addEventListener("click", () => sortTable(table, header, column)));
  orderTable(table);
  table.closest(".scroll").after(tableButtons(table));
}
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
dark.addEventListener("change", () => redraw());
// Figures that are wider than a sheet, and would be cut, are drawn narrower.
const PAPER = 680;
window.addEventListener("beforeprint", () => {
  plots.forEach((plot) => { if (plot.element.checkVisibility()) show(plot, false, PAPER); });
});
window.addEventListener("afterprint", () => redraw());
document.querySelectorAll(".board").forEach(openBoard);
recall();
