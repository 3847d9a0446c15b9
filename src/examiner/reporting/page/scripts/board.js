// Try it: from the ticked tasks alone, every agent is predicted by the others, as `selection.trial` does.
const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => sum(values) / values.length;

// Scores about their task's mean, in one unit for all tasks: the root of their mean variance.
const designOf = (values) => {
  const agents = values.length;
  const centre = values[0].map((_, task) => mean(values.map((row) => row[task])));
  const off = values.map((row) => row.map((value, task) => value - centre[task]));
  const variance = sum(off.map((row) => sum(row.map((value) => value * value)))) / (agents * centre.length);
  const unit = variance > 0 ? Math.sqrt(variance) : 1;
  return off.map((row) => row.map((value) => value / unit));
};

// The inverse of a symmetric positive matrix, by Cholesky: A = L Lᵀ, so A⁻¹ = L⁻ᵀ L⁻¹.
const inverse = (matrix) => {
  const size = matrix.length;
  const lower = matrix.map((row) => Float64Array.from(row));
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let left = lower[row][column];
      for (let at = 0; at < column; at++) left -= lower[row][at] * lower[column][at];
      lower[row][column] = row === column ? Math.sqrt(left) : left / lower[column][column];
    }
  }
  const turned = lower.map(() => new Float64Array(size)); // L⁻¹
  for (let column = 0; column < size; column++) {
    for (let row = column; row < size; row++) {
      let left = row === column ? 1 : 0;
      for (let at = column; at < row; at++) left -= lower[row][at] * turned[at][column];
      turned[row][column] = left / lower[row][row];
    }
  }
  return lower.map((_, row) => lower.map((_, column) => {
    let total = 0;
    for (let at = Math.max(row, column); at < size; at++) total += turned[at][row] * turned[at][column];
    return total;
  }));
};

// Residuals of every agent left out, under the penalty with the least square of them. With G = Z Zᵀ and C the
// inverse of G + nλ, the residual is nλ C y and the leverage 1 − nλ C + 1 / n: agents are fewer than tasks.
const leftOut = (design, truth, picked, penalties) => {
  const agents = truth.length;
  const rows = design.map((row) => picked.map((task) => row[task]));
  const products = rows.map((a) => rows.map((b) => sum(a.map((value, at) => value * b[at]))));
  const centre = mean(truth);
  const off = truth.map((value) => value - centre);
  let best = null;
  for (const penalty of penalties) {
    const weight = agents * penalty;
    const held = inverse(products.map((row, at) => row.map((value, other) => value + (at === other ? weight : 0))));
    const residuals = held.map((row, at) =>
      (weight * sum(row.map((value, other) => value * off[other]))) / Math.max(weight * row[at] - 1 / agents, 1e-9));
    const square = sum(residuals.map((value) => value * value));
    if (!best || square < best.square) best = { square, residuals };
  }
  return best.residuals;
};

const sharedRanks = (values) => values.map((value) => 1 + values.filter((other) => other > value).length);

const outcomeOf = (board, picked) => {
  const residuals = leftOut(board.design, board.truth, picked, board.penalties);
  const predicted = board.truth.map((value, agent) => value - residuals[agent]);
  return {
    predicted,
    ranks: sharedRanks(predicted),
    error: mean(residuals.map(Math.abs)),
    cost: board.cost ? sum(picked.map((task) => board.cost[task])) : picked.length,
  };
};

// Three significant digits, as everywhere on the page.
const threeDigits = (value) => {
  if (!Number.isFinite(value)) return "–";
  if (value && !(Math.abs(value) >= 1e-4 && Math.abs(value) < 1e7)) return value.toExponential(2).replace("-", "−");
  const decimals = value ? Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))) : 0;
  const text = value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace("-", "−");
};

const openBoard = (element) => {
  const board = JSON.parse(element.querySelector("script[data-board]").textContent);
  board.design = designOf(board.values);
  const sizes = Object.keys(board.sets).map(Number);
  const slider = element.querySelector("input[type=range]");
  const boxes = board.tasks.map((task, at) => {
    const box = make("input", { type: "checkbox", value: String(at) });
    element.querySelector("fieldset").append(make("label", {}, box, nameElement(task)));
    return box;
  });
  slider.max = String(sizes.length - 1);
  const truthRanks = sharedRanks(board.truth);

  const cell = (text, className) => make("td", { className, textContent: text });
  const tell = (picked) => {
    const outcome = element.querySelector(".outcome");
    element.querySelector("output").textContent = String(picked.length);
    if (!picked.length) {
      outcome.textContent = "Tick a task.";
      element.querySelector("tbody").replaceChildren();
      return;
    }
    const found = outcomeOf(board, picked);
    const cost = board.cost ? ` They cost ${threeDigits(found.cost)} of ${threeDigits(sum(board.cost))}.` : ` ${picked.length} of ${board.tasks.length} tasks are run.`;
    outcome.textContent = `The ${board.target} of an agent left out is predicted with a mean absolute error of ${threeDigits(found.error)}.${cost}`;
    const order = found.predicted.map((_, agent) => agent).sort((a, b) => found.predicted[b] - found.predicted[a] || a - b);
    element.querySelector("tbody").replaceChildren(...order.map((agent) => {
      const name = make("td", { className: "name" }, nameElement(board.agents[agent]));
      const ranks = [found.ranks, truthRanks].map((each) => cell(each[agent], "count"));
      const values = [found.predicted, board.truth].map((each) => cell(threeDigits(each[agent]), "number"));
      return make("tr", {}, ...ranks, name, ...values);
    }));
    knowNames();
    markNames();
  };

  const placesOf = (picked) => picked.map((task) => places.tasks.get(board.tasks[task]));
  const slide = () => {
    const picked = board.sets[sizes[Number(slider.value)]];
    boxes.forEach((box, at) => { box.checked = picked.includes(at); });
    tell(picked);
  };
  const tick = () => {
    const picked = boxes.flatMap((box, at) => (box.checked ? [at] : []));
    const same = sizes.findIndex((size) => board.sets[size].length === picked.length);
    if (same >= 0) slider.value = String(same);
    state.picked = placesOf(picked);
    remember();
    tell(picked);
  };
  slider.addEventListener("input", () => { state.picked = null; slide(); remember(); });
  boxes.forEach((box) => box.addEventListener("change", tick));
  const kept = () => {
    if (!state.picked) return false;
    const own = new Map(board.tasks.map((task, at) => [places.tasks.get(task), at]));
    const picked = state.picked.map((place) => own.get(place)).filter((at) => at !== undefined);
    boxes.forEach((box, at) => { box.checked = picked.includes(at); });
    tell(picked);
    return true;
  };
  slider.value = String(sizes.indexOf(board.begin));
  listeners.push((what) => { if (what === "all") kept(); });
  if (!kept()) slide();
  element.hidden = false;
};
