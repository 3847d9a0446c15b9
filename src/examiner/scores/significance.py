"""Which agents differ: their means by t with Holm, or ranks over tasks by Wilcoxon or Nemenyi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, flag, name, number, words
from examiner.messages import InputError, counted, joined, listed
from examiner.results import Results, reads_results
from examiner.scores.cells import cell_means, codes_of, judged_runs, ratio
from examiner.scores.differences import mcnemar_p_values, mean_difference, pair_p
from examiner.scores.normalise import score_unit
from examiner.scores.runs import RunScores, Unit, run_scores, same_sign, shared_rows, usual_unit
from examiner.scores.signed_ranks import midranks, signed_rank_p
from examiner.scores.standing import best_first
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, check_known, generator, read_only


def critical_difference(agents: int, tasks: int, alpha: float = 0.05) -> float:
    r"""Nemenyi's critical difference of mean ranks.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k+1)}{6 N}}

    References: Demšar (2006), section 3.2.2 and table 5.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range  # slow to import

    q = float(studentized_range.ppf(1 - alpha, agents, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(agents * (agents + 1) / (6 * tasks)))


def cliques(ranks: Floats, p: Floats, alpha: float) -> tuple[tuple[int, ...], ...]:
    """Group agents next to each other in mean rank among which no pair differs, largest groups only.

    >>> p = np.array([[1, 0.5, 0.01], [0.5, 1, 0.3], [0.01, 0.3, 1]])
    >>> cliques(np.array([1.2, 2.0, 2.8]), p, 0.05)
    ((0, 1), (1, 2))
    """
    order = np.argsort(ranks, kind="stable")
    same = p[np.ix_(order, order)] >= alpha
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and same[start:stop, stop].all():
            stop += 1
        if stop - start > 1 and stop > reached:
            groups.append(tuple(int(agent) for agent in order[start:stop]))
            reached = stop
    return tuple(groups)


def nemenyi(ranks: Floats, tasks: int) -> Floats:
    """P-values of all pairs of mean ranks by Nemenyi's test; [agents, agents].

    >>> nemenyi(np.array([1.0, 2.0]), 8).round(3)
    array([[1.   , 0.005],
           [0.005, 1.   ]])
    """
    from scipy.stats import studentized_range  # slow to import

    agents = len(ranks)
    scale = np.sqrt(agents * (agents + 1) / (6 * tasks))
    distance = np.abs(ranks[:, None] - ranks[None, :]) / scale * np.sqrt(2)
    p: Floats = np.clip(studentized_range.sf(distance, agents, np.inf), 0.0, 1.0)
    np.fill_diagonal(p, 1.0)
    return p


MOST_DRAWS, FEWEST_DRAWS = 499, 99
_EXCHANGED_RUNS = 20_000_000
"""Runs exchanged in all, about half a second: larger tables get fewer exchanges."""


class Exchanged(NamedTuple):
    """The spread of agents' means, its mean over exchanges, how often they give as much, and how many."""

    statistic: float
    by_chance: float
    p_value: float
    draws: int


def exchange_runs(scores: RunScores, rng: Randomness) -> Exchanged:
    r"""Test whether agents have the same mean on these tasks, by exchanges of runs within each task.

    .. math:: T = \sum_j \frac{M_j^2}{\sum_{t, r} w_{jtr}^2}, \quad
              M_j = \sum_{t, r} w_{jtr} (x_{jtr} - \bar x_t)

    with w what a run counts in the mean of its agent. Where agents are identical, the runs on a task may
    be exchanged between them, so that the test is exact, whatever the distribution of scores.

    References: Fisher (1935), section 21; Good (2005), chapter 3.

    >>> from examiner.results import Results
    >>> from examiner.scores.runs import run_scores
    >>> values = np.arange(3.0)[:, None, None] + np.linspace(0, 0.5, 8).reshape(1, 2, 4)
    >>> exchange_runs(run_scores(Results.from_numpy(values)), 0).p_value
    0.002
    """
    rng, agents = generator(rng), len(scores.strata)
    runs = sum(int(one.runs.sum()) for one in scores.strata)
    draws = int(np.clip(_EXCHANGED_RUNS // max(runs, 1), FEWEST_DRAWS, MOST_DRAWS))
    means, whole = np.zeros((draws + 1, agents)), np.zeros(agents)
    for values, agent, weight in _by_task(scores):
        off = values - values.mean()
        # Sorted, so that the same exchanges are drawn whatever the order of runs.
        drawn = rng.permuted(np.broadcast_to(np.sort(off), (draws, len(off))), axis=1)
        counted = np.zeros((len(off), agents))
        counted[np.arange(len(off)), agent] = weight
        means[0] += off @ counted
        means[1:] += drawn @ counted
        whole += (counted**2).sum(axis=0)
    observed = whole > 0
    spread = (means[:, observed] ** 2 / whole[observed]).sum(axis=1)
    as_large = spread >= spread[0] * (1 - 1e-9)
    return Exchanged(float(spread[0]), float(spread[1:].mean()), float(as_large.mean()), draws)


def _by_task(scores: RunScores) -> list[tuple[Floats, np.ndarray, Floats]]:
    """For each task its runs' scores, whose they are, and what each counts in the mean of its agent.

    Tasks and agents stand in the order of drawing, which is that of their scores.
    """
    order = scores.draw_order
    parts: list[list[tuple[Floats, int, float]]] = [[] for _ in scores.tasks]
    for row in sorted(range(len(scores.strata)), key=order.streams.__getitem__):
        one = scores.strata[row]
        shares = one.shares / np.maximum(one.runs, 1)
        for place, task in enumerate(one.tasks.tolist()):
            parts[task].append((one.scores[place, : one.runs[place]], row, float(shares[place])))
    return [
        (
            np.concatenate([values for values, _, _ in part]),
            np.concatenate([np.full(len(values), row) for values, row, _ in part]),
            np.concatenate([np.full(len(values), share) for values, _, share in part]),
        )
        for part in (parts[task] for task in np.argsort(order.tasks).tolist())
        if len(part) > 1
    ]


PostHoc = Literal["t-holm", "wilcoxon-holm", "nemenyi"]
POST_HOCS: tuple[PostHoc, ...] = get_args(PostHoc)
LEVEL = 0.05
"""The level of significance unless another is asked for."""


class TestedAgents(Table):
    """Agents, best first by what is tested."""

    agent: tuple[str, ...] = name("Agent")
    mean: Floats = number("Mean over tasks", unit="score")
    mean_rank: Floats = number("Mean rank over tasks; 1 is the best")


class TestedPairs(Table):
    """Tests of pairs of agents."""

    a: tuple[str, ...] = name("First agent")
    b: tuple[str, ...] = name("Second agent")
    p_adjusted: Floats = number("P-value, adjusted for all pairs", title="p")
    significant: NDArray[np.bool_] = flag("Whether the agents differ significantly")
    tasks: NDArray[np.intp] = count("Tasks in common")


class AlikeAgents(Table):
    """Largest groups of agents among which no pair differs significantly."""

    group: tuple[str, ...] = name("Group")
    agents: tuple[tuple[str, ...], ...] = words("Agents of the group, best first")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Significance(Answer):
    """Tests of differences between agents; agents best first.

    `mean` and `mean_rank` (1 is best) have shape [agents], `p` [agents, agents] holds adjusted p-values,
    1 on the diagonal, `common` [agents, agents] the number of tasks on which each pair was tested. `unit`
    is what another sample would vary, runs or tasks; `exact` says that pairs have McNemar's exact
    test. `cliques` are the largest groups of agents, by position, next to each other in what is tested
    (their means for "t-holm", else their mean ranks), among which no pair differs. `critical` is
    Nemenyi's critical difference, else NaN. Friedman's test has `statistic` and `p_value`.
    """

    kind = "significance"

    agent_names: tuple[str, ...]
    tasks: tuple[str, ...]
    mean: Floats
    mean_rank: Floats
    unit: Unit
    exact: bool
    statistic: float
    p_value: float
    posthoc: PostHoc
    p: Floats
    alpha: float
    critical: float
    cliques: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...]
    common: NDArray[np.intp]

    score_unit: str = ""
    groups_of_tasks: int = 0
    better_on_common_tasks: tuple[str, ...] = ()
    """Agents significantly better than the first by mean on the tasks that both have."""

    @property
    def headline(self) -> str:
        """How many pairs of agents differ significantly, and by which test."""
        if len(self.agent_names) == 2:
            verb = "differ" if self.p[0, 1] < self.alpha else "do not differ"
            names = joined(self.agent_names)
            return f"{names} {verb} significantly ({self.test}, p = {self.p[0, 1]:.2g})."
        pairs = len(self.agent_names) * (len(self.agent_names) - 1) // 2
        differing = int((self.p < self.alpha).sum()) // 2
        adjusted = "" if self.posthoc == "nemenyi" else " after Holm"
        by = f"{self.test}, at {100 * self.alpha:.3g} %{adjusted}"
        return f"{differing:,} of {counted(pairs, 'pair')} of agents differ significantly ({by})."

    @property
    def test(self) -> str:
        """The test of pairs and what it is over, as "Student's t-test over 12 tasks"."""
        over = counted(len(self.tasks), "task")
        if self.groups_of_tasks:
            over = f"{counted(self.groups_of_tasks, 'group')} of {over}"
        if self.posthoc != "t-holm":
            test = "Nemenyi's test" if self.posthoc == "nemenyi" else "Wilcoxon's signed ranks"
            return f"{test} over {over}"
        if self.exact:
            return f"McNemar's exact test over {over}"
        if self.unit == "runs":
            return f"Welch's t-test over runs of {over}"
        return f"Student's t-test over {over}"

    @property
    def too_few_tasks(self) -> str:
        """How many tasks the test needs, where no result on so few could be significant; else nothing."""
        if (self.groups_of_tasks or len(self.tasks)) >= self.fewest_tasks:
            return ""
        return (
            f"With {counted(len(self.tasks), 'task')} no pair can differ significantly: the exact test of "
            f"{len(self.agent_names):,} agents needs {self.fewest_tasks:,}."
        )

    @property
    def agents(self) -> TestedAgents:
        """One row per agent."""
        return TestedAgents(
            agent=self.agent_names,
            mean=self.mean,
            mean_rank=self.mean_rank,
            score_unit=self.score_unit,
        )

    @property
    def pairs(self) -> TestedPairs:
        """One row per pair, the better agent first."""
        first, second = np.triu_indices(len(self.agent_names), 1)
        return TestedPairs(
            a=[self.agent_names[row] for row in first],
            b=[self.agent_names[row] for row in second],
            p_adjusted=self.p[first, second],
            significant=self.p[first, second] < self.alpha,
            tasks=self.common[first, second],
        )

    @property
    def groups(self) -> AlikeAgents:
        """One row per group of agents that do not differ significantly."""
        return AlikeAgents(
            group=[str(group + 1) for group in range(len(self.cliques))],
            agents=[[self.agent_names[row] for row in clique] for clique in self.cliques],
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Agents, pairs of them, and groups that do not differ significantly."""
        return {"agents": self.agents, "pairs": self.pairs, "groups": self.groups}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Friedman's test of all agents, and Nemenyi's critical difference."""
        return {
            "friedman_statistic": Scalar(self.statistic, "Statistic of Friedman's test of ranks"),
            "friedman_p": Scalar(self.p_value, "P-value of Friedman's test of ranks"),
            "critical_difference": Scalar(
                self.critical, "Smallest significant difference of mean ranks (Nemenyi)"
            ),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The test of pairs, its level and what it is over."""
        return {"posthoc": self.posthoc, "test": self.test, "alpha": self.alpha, "unit": self.unit}

    @property
    def fewest_tasks(self) -> int:
        """From how many tasks the test of pairs can reach significance, whatever the results.

        An exact test of n single trials has no p-value below 2 / 2ⁿ, and Holm's correction multiplies the
        least of m p-values by m.
        """
        if self.posthoc == "nemenyi" or not (self.exact or self.posthoc == "wilcoxon-holm"):
            return 1 if self.unit == "runs" else 2
        pairs = len(self.agent_names) * (len(self.agent_names) - 1) // 2
        return int(np.floor(1 + np.log2(pairs / self.alpha))) + 1


@reads_results
def significance(
    results: Results,
    posthoc: PostHoc = "t-holm",
    alpha: float = LEVEL,
    measure: str | None = None,
    *,
    total: Total | None = None,
    unit: Unit | None = None,
    group: str | None = None,
) -> Significance:
    r"""Test which pairs of agents differ, with Holm's correction, and whether any do (Friedman).

    .. math:: \chi_F^2 = \frac{12 N}{k(k+1)} \Big[\sum_j R_j^2 - \frac{k(k+1)^2}{4}\Big]

    corrected for ties. "t-holm" tests the difference of the means of a pair as `compare` does: over
    runs where every cell has several, else over tasks, and by McNemar's exact test where every cell is
    one trial of 0 or 1. "wilcoxon-holm" tests signed ranks over tasks; with few tasks it cannot reach
    significance. Each pair is tested on the tasks that both have; where agents miss tasks, Friedman's
    test ranks those seen on a task among themselves (`friedman`). "nemenyi" tests mean ranks, in which
    other agents decide whether two differ; it uses only tasks on which every agent was observed. Agents
    come best first, by mean or, where ranks are tested, by mean rank. Where tasks are drawn in groups
    (`group` names their column, see `task_groups`), means are tested over groups, and ranks are of the
    agents' means on each group.

    References: Friedman (1937); Benard & van Elteren (1953); Demšar (2006), section 3.2; Benavoli,
    Corani & Mangili (2016); Holm (1979); Student (1908); Welch (1947).

    >>> table = Results.from_numpy(np.arange(24.0).reshape(8, 3).T, agents=["a", "b", "c"])
    >>> found = significance(table)
    >>> found.mean_rank, round(found.p_value, 6), found.cliques
    (array([1., 2., 3.]), 0.000335, ())
    """
    check_known("post-hoc test", posthoc, POST_HOCS)
    if not 0 < alpha < 1:
        raise InputError(
            f"The level of significance is {alpha}. Give one between 0 and 1, as 0.05."
        )
    if len(results.agents) < 2:
        raise InputError("There is one agent, and nothing to compare it with. Add another.")
    same_sign(results, measure)
    results = judged_runs(results)
    scores = run_scores(results, measure, total, group)
    unit = "tasks" if posthoc != "t-holm" else unit or usual_unit(scores)
    fewest = 1 if unit == "runs" else 2
    means = cell_means(results, measure)
    values, tasks, notes = _used(results, means, gaps=posthoc != "nemenyi", fewest_tasks=fewest)
    observed = np.isfinite(values)
    common = observed.astype(np.intp) @ observed.T.astype(np.intp)
    if scores.groups is not None and unit == "tasks":
        kept = np.isin(results.tasks, tasks)
        code = codes_of(scores.groups.code[kept].tolist())
        member = np.eye(int(code.max()) + 1)[code]
        values = ratio(np.where(observed, values, 0.0) @ member, observed @ member)
        notes = (*notes, *scores.group_notes)
    ranks = _ranks(values)
    mean = np.array([one.shares @ one.means if len(one.tasks) else np.nan for one in scores.strata])
    statistic, p_value = friedman(values) if len(values) > 2 else (np.nan, np.nan)
    critical, order, exact = np.nan, ranks, False
    if posthoc == "nemenyi":
        critical = critical_difference(len(values), values.shape[1], alpha)
        p = nemenyi(ranks, values.shape[1])
    elif posthoc == "wilcoxon-holm":
        p = wilcoxon_holm(values)
    else:
        single = all(one.binary for one in scores.strata) and scores.groups is None
        exact = single and (total is None or total.plain)
        p, order = _mcnemar_holm(values) if exact else _t_holm(scores, unit), -mean
    rows = best_first(results.agents, -order)
    agents, both = tuple(results.agents[row] for row in rows), np.ix_(rows, rows)
    better = _better_than_first(scores, rows, p, alpha) if posthoc == "t-holm" else ()
    mean, ranks, p, common = mean[rows], ranks[rows], p[both], common[both]
    read_only(mean, ranks, p, common)
    return Significance(
        *(agents, tasks, mean, ranks, unit, exact, statistic, p_value, posthoc, p, alpha),
        *(critical, cliques(order[rows], p, alpha), notes, common, score_unit(results, measure)),
        groups_of_tasks=0 if scores.groups is None or unit == "runs" else values.shape[1],
        better_on_common_tasks=better,
    )


def _better_than_first(
    scores: RunScores, rows: NDArray[np.intp], p: Floats, alpha: float
) -> tuple[str, ...]:
    """Agents that differ from the first and are ahead of it on common tasks: it has others beside."""
    first, *others = rows.tolist()
    best = scores.strata[first]
    return tuple(
        scores.agents[row]
        for row in others
        if p[first, row] < alpha and mean_difference(best, scores.strata[row]) < 0
    )


def _t_holm(scores: RunScores, unit: Unit) -> Floats:
    """The p-value of the difference of means of each pair, by Holm's step-down; [agents, agents]."""
    raw = [
        pair_p(first, second, unit) if len(shared_rows(first, second)[0]) else np.nan
        for first, second in combinations(scores.strata, 2)
    ]
    return _pair_matrix(holm(np.nan_to_num(np.array(raw), nan=1.0)), len(scores.strata))


def _mcnemar_holm(solved: Floats) -> Floats:
    """McNemar's p-value of each pair of rows of zeros and ones, by Holm's step-down; [agents, agents]."""
    only = ((solved == 1).astype(np.float64) @ (solved == 0).T.astype(np.float64)).astype(np.int64)
    rows = np.triu_indices(len(only), 1)
    return _pair_matrix(holm(mcnemar_p_values(only[rows], only.T[rows])), len(only))


def _pair_matrix(p: Floats, agents: int) -> Floats:
    matrix = np.ones((agents, agents))
    rows = np.triu_indices(agents, 1)
    matrix[rows] = matrix[rows[::-1]] = p
    return matrix


def friedman(values: Floats) -> tuple[float, float]:
    r"""Friedman's test of agents × tasks with gaps: statistic and p-value.

    .. math:: \chi^2 = S^\top V^{+} S, \quad
              S_j = \sum_i \Big(r_{ji} - \frac{k_i + 1}{2}\Big), \quad
              V = \sum_i s_i^2 \Big(I_i - \frac{1}{k_i} 1_i 1_i^\top\Big)

    where the :math:`k_i` agents seen on task i are ranked among themselves and :math:`s_i^2` is the
    variance of those ranks, over :math:`k_i - 1`. Degrees of freedom are the rank of V: agents less
    the groups that share no task. Without gaps this is Friedman's statistic corrected for ties, on
    zeros and ones Cochran's Q, on balanced incomplete blocks Durbin's.

    References: Benard & van Elteren (1953); Skillings & Mack (1981).

    >>> round(friedman(np.arange(24.0).reshape(8, 3).T)[0], 9)
    16.0
    """
    from scipy.special import chdtrc  # slow to import

    observed = np.isfinite(values)
    ranks, count = _task_ranks(values), observed.sum(axis=0)
    centred = np.where(observed, ranks - (count + 1) / 2, 0.0)
    several = np.maximum(count - 1, 1)
    variance = (centred**2).sum(axis=0) / several
    spread_of_ranks = observed * variance
    spread = (
        np.diag(spread_of_ranks.sum(axis=1)) - (spread_of_ranks / np.maximum(count, 1)) @ observed.T
    )
    size, way = np.linalg.eigh(spread)
    kept = size > 1e-9 * max(float(size[-1]), 1e-9)
    if not kept.any():
        return 0.0, 1.0
    statistic = float(((centred.sum(axis=1) @ way[:, kept]) ** 2 / size[kept]).sum())
    return statistic, float(chdtrc(int(kept.sum()), statistic))


def wilcoxon_holm(values: Floats) -> Floats:
    """Wilcoxon's signed-rank p-value of each pair of rows, by Holm's step-down; [agents, agents].

    A pair is tested on the columns that both have; one that shares none has a p-value of 1. P-values are
    exact for up to fifty differences, with ties too: see `signed_rank_p`.

    >>> wilcoxon_holm(np.array([[1.0, 2.5, 3.0], [1.0, 2.0, 3.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    raw = [np.empty(0)]
    for agent in range(len(values) - 1):
        with np.errstate(over="ignore"):
            difference = values[agent] - values[agent + 1 :]
        # Not observed is no difference; one too large for a number is the largest there is.
        raw.append(signed_rank_p(np.nan_to_num(difference)))
    return _pair_matrix(holm(np.concatenate(raw)), len(values))


def holm(p: Floats) -> Floats:
    r"""Adjust p-values by Holm's step-down.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1)\, p_{(j)})

    References: Holm (1979).

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    r"""Adjust p-values so that of those below 5 %, 5 % are false on average (Benjamini–Hochberg).

    .. math:: \tilde p_{(i)} = \min_{j \ge i} \min(1, m\, p_{(j)} / j)

    Where nothing is true, the chance that any is below 5 % is 5 %, as with Holm's; where much is true, more
    of it is found.

    References: Benjamini & Hochberg (1995).

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5]))
    array([0.04      , 0.05333333, 0.05333333, 0.5       ])
    """
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, p[order] * len(p) / np.arange(1, len(p) + 1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return adjusted


def _used(
    results: Results, means: Floats, *, gaps: bool, fewest_tasks: int = 2
) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """The tasks that say anything of a difference, and notes on those left out and on gaps."""
    agents = len(means)
    observed = np.isfinite(means)
    fewest = 2 if gaps else agents
    kept = observed.sum(axis=0) >= fewest
    who = "two agents were" if gaps else "every agent was"
    if kept.sum() < fewest_tasks:
        raise InputError(
            f"The tests need {counted(fewest_tasks, 'task')} on which {who} observed, and found "
            f"{counted(int(kept.sum()), 'such task')}. Leave out agents that miss many tasks."
        )
    tasks = tuple(task for task, used in zip(results.tasks, kept, strict=True) if used)
    lost = [task for task, used in zip(results.tasks, kept, strict=True) if not used]
    notes: list[str] = []
    if lost:
        why = "fewer than two agents have" if gaps else "some agent misses"
        notes.append(f"Tests leave out {counted(len(lost), 'task')} that {why}: {listed(lost)}.")
    shared = observed.astype(np.intp) @ observed.T.astype(np.intp)
    apart = int((np.triu(shared < fewest_tasks, 1)).sum())
    if gaps and apart:
        notes.append(
            f"{counted(apart, 'pair')} of agents share fewer than {counted(fewest_tasks, 'task')}: they "
            f"are not tested, and count as not different."
        )
    return means[:, kept], tasks, tuple(notes)


def _task_ranks(values: Floats) -> Floats:
    """Ranks of the agents seen on each task, 1 the best; NaN where an agent was not seen."""
    return np.where(np.isfinite(values), midranks(-values.T).T, np.nan)


def _ranks(values: Floats) -> Floats:
    """Mean ranks over the tasks an agent has; a rank among fewer agents is stretched to all of them."""
    count = np.isfinite(values).sum(axis=0)
    stretched = _task_ranks(values) * (len(values) + 1) / (count + 1)
    observed = np.isfinite(stretched)
    total, tasks = np.where(observed, stretched, 0.0).sum(axis=1), observed.sum(axis=1)
    # an agent without any task stands in the middle
    return np.where(tasks > 0, total / np.maximum(tasks, 1), (len(values) + 1) / 2)
