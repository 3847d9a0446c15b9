"""How a selection predicts agents better or newer than those it was chosen on, next to simple ways."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, error, name, number
from examiner.irt import sigmoid_pair
from examiner.scores import correlate_columns, value_unit
from examiner.selection.benchmark import Benchmark, Examined
from examiner.selection.evidence import Fold, fold_of
from examiner.selection.methods import Method
from examiner.selection.prediction import fit_predictor
from examiner.selection.proof.chance import mean_of_draws
from examiner.selection.proof.folds import inner_folds
from examiner.selection.proof.sets import Columns, Contest, predict_sets, random_sets
from examiner.validation import Floats

SELECTED = "selection"
DRAWS = 20
ABILITIES = np.linspace(-8.0, 10.0, 361)


class BeyondTraining(Table):
    """Predictions of the best and of the newest third of agents, from a selection on all others."""

    held_out: tuple[str, ...] = name("Agents held out")
    prediction: tuple[str, ...] = name("Tasks and prediction")
    mae: Floats = number("Mean absolute error of the aggregate", unit="score", title="error")
    mae_error: Floats = error("mae", "Standard error over agents")
    rank_correlation: Floats = number("Spearman's correlation of predictions and true values")
    coverage: Floats = number(
        "Share of agents inside their intervals; random sets have no intervals"
    )

    def sentence(self) -> str:
        """The errors for the agents held out, next to the best of the simple ways."""
        parts = []
        for label in dict.fromkeys(self.held_out):
            rows = [row for row in self if row.held_out == label]
            chosen = next(row for row in rows if row.prediction == SELECTED)
            other = min(
                (row for row in rows if row.prediction != SELECTED), key=lambda row: float(row.mae)
            )
            parts.append(f"{label} {chosen.mae:.3g} ({other.prediction}: {other.mae:.3g})")
        return f"Mean absolute error for agents beyond those selected on: {'; '.join(parts)}."


def judge_beyond(
    whole: Benchmark, method: Method, size: int, level: float, rng: np.random.Generator
) -> tuple[BeyondTraining | None, tuple[str, ...]]:
    """Hold out the best third of agents, and the newest where dates are known, and predict them.

    The selection is compared with random sets of the same size under the plain mean, ridge regression and
    the Rasch model (for shares of successes). The notes warn where one of these predicts significantly
    better: its error is lower by more than two standard errors over agents.
    """
    values = whole.comparable(whole.everyone, whole.learn(whole.everyone))
    aggregates = whole.truth(whole.everyone, values)
    orders = {"best third": aggregates}
    if whole.dates is not None:
        orders["newest third"] = np.unique(whole.dates, return_inverse=True)[1].astype(float)
    sets = random_sets(whole, (size,), DRAWS, rng)[0]
    columns: dict[str, list[Any]] = {column: [] for column in BeyondTraining.declared}  # Any: cells
    notes = []
    for label, value in orders.items():
        train, test = _split(whole, np.where(whole.judged, value, np.nan))
        # Agents that choose, and agents that are judged: with fewer no table is shown
        if min(len(train), len(test)) < 4:
            continue
        predictions, truth, inside = predict_beyond(
            whole, method, size, level, sets, train, test, rng
        )
        off = {key: agent_errors(predicted, truth) for key, predicted in predictions.items()}
        ranks = {key: rank_correlation(predicted, truth) for key, predicted in predictions.items()}
        for key in predictions:
            covered = inside if key == SELECTED else np.nan
            cells = (label, key, off[key].mean(), _error(off[key]), ranks[key], covered)
            for column, cell in zip(columns.values(), cells, strict=True):
                column.append(cell)
        notes += _better(label, off, ranks, whole.examined)
    if not columns["mae"]:
        return None, ()
    if whole.dates is not None and whole.examined == "same" and not notes:
        notes.append("Agents have dates: if newer ones will be examined, select for newer agents.")
    table = BeyondTraining(**columns, score_unit=value_unit(whole.recipe))  # type: ignore[arg-type]
    return table, tuple(notes)


def _split(whole: Benchmark, value: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Agents to choose on and agents to judge: the highest third with their families, ties included."""
    is_known = np.isfinite(value)
    # One agent in three is held out: the best, and the newest
    least = (
        np.sort(value[is_known])[-max(int(is_known.sum()) // 3, 1)] if is_known.any() else np.inf
    )
    out = np.isin(whole.family_codes, whole.family_codes[is_known & (value >= least)])
    return np.flatnonzero(~out), np.flatnonzero(out & whole.judged)


def predict_beyond(
    whole: Benchmark,
    method: Method,
    size: int,
    level: float,
    sets: tuple[Columns, ...],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[dict[str, Floats], Floats, float]:
    """Predictions [draws, agents] by each way, the truth, and the share inside the intervals."""
    contest = Contest((("selected", method),), (size,), (), 5, level, best=False)
    fold = fold_of(whole, train, contest.needs, lenient=True)
    raw = whole.comparable(test, fold.scale)
    truth = whole.truth(test, raw)
    chosen = method.select(fold.evidence, size, rng).columns
    inner = inner_folds(whole, contest, fold, rng)
    predictor = fit_predictor(fold, chosen, inner.held_out((0, 0), level))
    usable = np.isfinite(raw[:, list(chosen)]).any(axis=1)
    raw, truth = raw[usable], truth[usable]
    predicted = predictor.aggregate(raw[:, list(chosen)], level)
    lines = predict_sets(fold._replace(curves=None), raw, sets, remainders=False)
    predictions = {
        SELECTED: predicted.value[None],
        "random + mean": np.array([mean_of_draws(raw[:, list(one)].T) for one in sets]),
        "random + ridge": np.array([line.value for line in lines]),
    }
    if whole.of_shares:
        predictions["random + Rasch"] = _by_rasch(fold, raw, sets)
    inside = (predicted.low <= truth) & (truth <= predicted.high)
    for row, one in enumerate(sets):  # nothing is known of an agent without a result on a set
        unseen = ~np.isfinite(raw[:, list(one)]).any(axis=1)
        for way, values in predictions.items():
            if way != SELECTED:
                values[row, unseen] = np.nan
    return predictions, truth, float(inside.mean())


def _by_rasch(fold: Fold, raw: Floats, sets: tuple[Columns, ...]) -> Floats:
    """The mean over all tasks expected at the ability that explains the number solved, [draws, agents]."""
    from scipy.special import ndtri

    values, is_observed = np.nan_to_num(fold.observed), np.isfinite(fold.observed)
    # A logistic curve that follows the normal one (Haley, 1952)
    easiness = ndtri((values.sum(axis=0) + 0.5) / (is_observed.sum(axis=0) + 1)) * 1.702
    solved, _ = sigmoid_pair(ABILITIES[:, None] + easiness)
    weights = fold.evidence.weights
    whole = solved.mean(axis=1) if weights is None else solved @ weights
    predicted = []
    for columns in sets:
        part = raw[:, list(columns)]
        share, size = mean_of_draws(part.T), len(columns)
        ability = np.interp(
            (share * size + 0.5) / (size + 1), solved[:, list(columns)].mean(axis=1), ABILITIES
        )
        predicted.append(np.interp(ability, ABILITIES, whole))
    return np.array(predicted)


def _better(
    label: str, off: dict[str, Floats], ranks: dict[str, float], examined: Examined
) -> list[str]:
    """Warn where a simple way predicts or orders these agents significantly better than the selection."""
    others = [key for key in off if key != SELECTED]
    advice = (
        " Select for newer agents, if such agents will be examined." if examined == "same" else ""
    )
    gains = {key: off[SELECTED] - off[key] for key in others}
    nearer = [key for key in others if gains[key].mean() > 2 * _error(gains[key]) > 0]
    if nearer:
        best = min(nearer, key=lambda key: float(off[key].mean()))
        figures = f"mean absolute error {off[best].mean():.3g} against {off[SELECTED].mean():.3g}"
        start = f"Warning: {best} predicts the {label} of agents better than this selection"
        return [f"{start} ({figures}).{advice}"]
    best = max(others, key=lambda key: ranks[key])
    if ranks[best] > ranks[SELECTED] + 2 / np.sqrt(len(off[best]) - 1):
        figures = f"rank correlation {ranks[best]:.2f} against {ranks[SELECTED]:.2f}"
        start = f"Warning: {best} orders the {label} of agents better than this selection"
        return [f"{start} ({figures}).{advice}"]
    return []


def agent_errors(predicted: Floats, truth: Floats) -> Floats:
    """Absolute errors of agents, mean over draws [draws, agents] with a result of the agent."""
    return mean_of_draws(np.abs(predicted - truth))


def rank_correlation(predicted: Floats, truth: Floats) -> float:
    """Spearman's correlation of predictions [draws, agents] with the truth, mean over draws."""
    correlations = []
    for row in predicted:
        both = np.stack([truth, row])[:, np.isfinite(row)].round(9)  # rounding must not break ties
        correlations.append(correlate_columns(both.T, "spearman")[0][0, 1])
    return float(np.mean(correlations))


def _error(off: Floats) -> float:
    return float(off.std(ddof=1) / np.sqrt(len(off)))
