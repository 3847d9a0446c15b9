// Try it: ticked tasks are judged as `selection.judge_tasks` does: in the same folds, with the same predictor.
// Sets that the report chose show the report's own figures, for which tasks are chosen again in each fold.
const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => sum(values) / values.length;
const between = (value, low, high) => Math.min(Math.max(value, low), high);

// What a fold knows before tasks are ticked: gaps filled, scores about their task's mean in one unit for all
// tasks (the root of their mean variance), and the shares of successes that curves expect at each ability.
const learn = (board, fold) => {
  const values = fold.values ?? board.values;
  const tasks = board.tasks.map((_, task) => task);
  const rows = fold.train.map((agent) => values[agent]);
  const seen = (row) => tasks.filter((task) => row[task] !== null);
  const all = rows.flatMap((row) => seen(row).map((task) => row[task]));
  const overall = all.length ? mean(all) : 0;
  const columns = tasks.map((task) => rows.map((row) => row[task]).filter((value) => value !== null));
  const centre = columns.map((column) => (column.length ? mean(column) : overall));
  const filled = rows.map((row) => {
    const own = seen(row);
    const away = own.length ? mean(own.map((task) => row[task] - centre[task])) : 0;
    return tasks.map((task) => (columns[task].length ? row[task] ?? centre[task] + away : overall));
  });
  const middle = tasks.map((task) => mean(filled.map((row) => row[task])));
  const variance = mean(filled.map((row) => mean(row.map((value, task) => (value - middle[task]) ** 2))));
  const known = { values, centre, filled, middle, unit: variance > 0 ? Math.sqrt(variance) : 1 };
  if (fold.curves) {
    known.shares = board.nodes.map((node) => tasks.map((task) =>
      between(1 / (1 + Math.exp(-(node * fold.curves.slope[task] + fold.curves.intercept[task]))), 1e-6, 1 - 1e-6)));
    known.scores = known.shares.map((row) => sum(row.map((share, task) => share * board.weight[task])));
  }
  return known;
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

// Ridge regression of the truth on scores about their means, under the penalty with the least leave-one-out error:
// in the tasks, β = (Zᵀ Z + nλ)⁻¹ Zᵀ y, or in the agents, β = Zᵀ (Z Zᵀ + nλ)⁻¹ y, whichever are fewer.
const ridge = (rows, truth, penalties) => {
  const agents = rows.length;
  const size = rows[0].length;
  const few = size <= agents;
  const centre = mean(truth);
  const off = truth.map((value) => value - centre);
  const columns = rows[0].map((_, task) => rows.map((row) => row[task]));
  const dot = (a, b) => { let total = 0; for (let at = 0; at < a.length; at++) total += a[at] * b[at]; return total; };
  const short = few ? columns : rows;
  const products = short.map((a) => short.map((b) => dot(a, b)));
  const along = columns.map((column) => dot(column, off));
  let best = null;
  for (const penalty of penalties) {
    const weight = agents * penalty;
    const inner = inverse(products.map((row, at) => row.map((value, other) => value + (at === other ? weight : 0))));
    const dual = few ? null : inner.map((row) => dot(row, off));
    const beta = few ? inner.map((row) => dot(row, along)) : columns.map((column) => dot(column, dual));
    const square = sum(rows.map((row, at) => {
      const leverage = few ? dot(row, inner.map((line) => dot(line, row))) : 1 - weight * inner[at][at];
      return ((off[at] - dot(row, beta)) / Math.max(1 - leverage - 1 / agents, 1e-9)) ** 2;
    }));
    if (!best || square < best.square) best = { square, beta };
  }
  return (row) => centre + dot(row, best.beta);
};

// What curves expect of an agent from its successes on the picked tasks; those that were run count as they went.
const byCurves = (board, fold, known, row, picked) => {
  const run = picked.filter((task) => row[task] !== null);
  const logs = board.nodes.map((node, at) => sum(run.map((task) => {
    const won = between(row[task], 0, 1);
    return won * Math.log(known.shares[at][task]) + (1 - won) * Math.log1p(-known.shares[at][task]);
  })) / fold.curves.dispersion - (node * node) / 2);
  const most = Math.max(...logs);
  const likely = logs.map((log) => Math.exp(log - most));
  const total = sum(likely);
  const expected = (at) => sum(likely.map((each, node) => each * at(node))) / total;
  return expected((node) => known.scores[node])
    + sum(run.map((task) => board.weight[task] * (row[task] - expected((node) => known.shares[node][task]))));
};

// How much curves count compared with lines: half within the middle eight tenths of agents, all at the ends.
const partOfCurves = ({ usual, ends }, line, curve) => {
  const both = (line + curve) / 2;
  const [least, most] = usual.map((near, at) => Math.max(Math.abs(ends[at] - near), 1e-9));
  return 0.5 + 0.5 * between(Math.max((usual[0] - both) / least, (both - usual[1]) / most), 0, 1);
};

const sharedRanks = (values) => values.map((value) => 1 + values.filter((other) => other > value).length);

const outcomeOf = (board, picked) => {
  const cost = board.cost ? sum(picked.map((task) => board.cost[task])) : picked.length;
  const size = Object.keys(board.sets).find((each) =>
    board.sets[each].length === picked.length && board.sets[each].every((task) => picked.includes(task)));
  const all = picked.length === board.tasks.length;
  const how = all ? "all given, so that nothing is predicted" : "chosen again in each fold";
  if (size) return { ...board.judged[size], truth: board.truth, cost, how };
  const predicted = board.agents.map(() => null);
  const truth = board.agents.map(() => null);
  for (const fold of board.folds) {
    fold.known ??= learn(board, fold);
    const known = fold.known;
    const scaled = (row) => picked.map((task) => (row[task] - known.middle[task]) / known.unit);
    const line = ridge(known.filled.map(scaled), fold.train.map((agent) => fold.target[agent]), board.penalties);
    for (const agent of fold.test) {
      const row = known.values[agent];
      const run = picked.filter((task) => row[task] !== null);
      const away = run.length ? mean(run.map((task) => row[task] - known.centre[task])) : 0;
      const full = {};
      for (const task of picked) full[task] = row[task] ?? known.centre[task] + away;
      let value = line(scaled(full));
      if (fold.curves) {
        const curve = byCurves(board, fold, known, row, picked);
        value += partOfCurves(fold.curves, value, curve) * (curve - value);
      }
      predicted[agent] = value;
      truth[agent] = fold.target[agent];
    }
  }
  const judged = predicted.flatMap((value, agent) => (value === null || truth[agent] === null ? [] : [agent]));
  const off = judged.map((agent) => predicted[agent] - truth[agent]);
  const centre = mean(judged.map((agent) => truth[agent]));
  const spread = sum(judged.map((agent) => (truth[agent] - centre) ** 2));
  return {
    predicted, truth, cost, how: "taken as given in each fold",
    error: mean(off.map(Math.abs)),
    r2: spread > 1e-12 * judged.length ? 1 - sum(off.map((value) => value * value)) / spread : NaN,
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
  const sizes = Object.keys(board.sets).map(Number);
  const slider = element.querySelector("input[type=range]");
  const boxes = board.tasks.map((task, at) => {
    const box = make("input", { type: "checkbox", value: String(at), disabled: !board.folds });
    element.querySelector("fieldset").append(make("label", {}, box, nameElement(task)));
    return box;
  });
  slider.max = String(sizes.length - 1);
  const figures = element.querySelector(".figures tbody");
  const predictions = element.querySelector(".predicted tbody");
  const list = element.querySelector("pre");
  const copy = element.querySelector(".copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(list.textContent);
    copy.textContent = "Copied";
  });

  const cell = (text, className) => make("td", { className, textContent: text });
  const tell = (picked) => {
    const outcome = element.querySelector(".outcome");
    element.querySelector("output").textContent = String(picked.length);
    if (!picked.length) {
      outcome.textContent = "Tick a task.";
      predictions.replaceChildren();
      figures.replaceChildren();
      list.textContent = "";
      return;
    }
    const found = outcomeOf(board, picked);
    const random = found.random ?? {};
    const rows = [["R² of the " + board.target, "r2"], ["mean absolute error", "error"], ["Kendall's tau of the order", "kendall"], ["cost", "cost"]];
    figures.replaceChildren(...rows.map(([title, name]) => {
      const whole = name === "cost" ? ` of ${threeDigits(board.cost ? sum(board.cost) : board.tasks.length)}` : "";
      return make("tr", {}, make("td", { textContent: title }), cell(threeDigits(found[name] ?? NaN) + whole, "number"), cell(threeDigits(random[name] ?? NaN) + (found.random ? whole : ""), "number random"));
    }));
    list.textContent = picked.map((task) => board.tasks[task]).join("\n");
    outcome.textContent = `Held-out agents: ${board.protocol}, tasks ${found.how}.`;
    const judged = found.predicted.flatMap((value, agent) => (value === null ? [] : [agent]));
    const ranks = [found.predicted, found.truth].map((each) => sharedRanks(judged.map((agent) => each[agent])));
    const order = judged.map((_, at) => at).sort((a, b) => found.predicted[judged[b]] - found.predicted[judged[a]] || a - b);
    predictions.replaceChildren(...order.map((at) => {
      const name = make("td", { className: "name" }, nameElement(board.agents[judged[at]]));
      const values = [found.predicted, found.truth].map((each) => cell(threeDigits(each[judged[at]]), "number"));
      return make("tr", {}, ...ranks.map((each) => cell(each[at], "count")), name, ...values);
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
    if (!state.picked || !board.folds) return false;
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
