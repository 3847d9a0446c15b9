// What cannot be read on a page: labels of a figure that overlap or are cut, tables and text beyond their edge.
() => {
  const found = [];
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const short = (text) => text.trim().replace(/\s+/g, " ").slice(0, 40);

  // The four corners of a label's letters on the screen: turned labels have turned boxes, and the
  // height of a line is more than that of its letters.
  const corners = (text) => {
    const { x, y, width, height } = text.getBBox();
    const onScreen = text.getScreenCTM();
    return [[0, 0.2], [1, 0.2], [1, 0.8], [0, 0.8]].map(([across, down]) => {
      const point = new DOMPoint(x + across * width, y + down * height).matrixTransform(onScreen);
      return [point.x, point.y];
    });
  };
  // Two boxes are apart where one of their sides has all corners of the other beyond it.
  const apart = (one, other) => [one, other].some((box) => box.some(([x, y], at) => {
    const [nextX, nextY] = box[(at + 1) % 4];
    const [normalX, normalY] = [nextY - y, x - nextX];
    const reach = (corner) => corner[0] * normalX + corner[1] * normalY;
    const slack = 0.5 * Math.hypot(normalX, normalY);
    return Math.max(...one.map(reach)) <= Math.min(...other.map(reach)) + slack
      || Math.max(...other.map(reach)) <= Math.min(...one.map(reach)) + slack;
  }));

  for (const plot of document.querySelectorAll(".plot")) {
    if (!seen(plot) || !plot.querySelector(".main-svg")) continue;
    const edge = plot.getBoundingClientRect();
    const labels = [...plot.querySelectorAll(".main-svg text")]
      .filter((text) => text.textContent.trim() && seen(text) && text.getBBox().width)
      .map((text) => ({ words: short(text.textContent), box: corners(text), far: text.getBoundingClientRect() }));
    labels.forEach((one, at) => {
      const cut = one.box.some(([x, y]) => x < edge.left - 1 || x > edge.right + 1 || y < edge.top - 1 || y > edge.bottom + 1);
      if (cut) found.push(`${plot.id}: "${one.words}" is cut at the edge`);
      for (const other of labels.slice(at + 1)) {
        const far = other.far.left > one.far.right || other.far.right < one.far.left || other.far.top > one.far.bottom || other.far.bottom < one.far.top;
        if (!far && !apart(one.box, other.box)) found.push(`${plot.id}: "${one.words}" lies on "${other.words}"`);
      }
    });
    for (const bar of plot.querySelectorAll(".legend .scrollbar")) {
      if (bar.getBoundingClientRect().height > 1) found.push(`${plot.id}: the legend has a scroll bar`);
    }
  }

  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const scroller = (element) => { let up = element; while (up && !scrolls(up)) up = up.parentElement; return up; };
  for (const table of document.querySelectorAll("table")) {
    if (seen(table) && !scroller(table) && table.scrollWidth > table.parentElement.clientWidth + 1) {
      found.push(`a table is wider than its place: "${short(table.textContent)}"`);
    }
  }
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest("svg, script, style, .skip") || !seen(element) || scroller(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { left, right } = range.getBoundingClientRect();
    if (left < -1 || right > document.documentElement.clientWidth + 1) found.push(`text is cut at the page's edge: "${short(node.textContent)}"`);
    if (getComputedStyle(element).overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1) found.push(`text is cut in its place: "${short(node.textContent)}"`);
  }
  return found;
}
