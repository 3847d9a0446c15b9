"""Which agents differ: their means by t with Holm, or ranks over tasks by Wilcoxon or Nemenyi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, flag, name, number, scalar, setting, words
from examiner.messages import InputError, counted, joined, listed
from examiner.results import Results, reads_results
from examiner.scores.cells import cell_means, codes_of, ratio
from examiner.scores.comparable import OwnFunction
from examiner.scores.differences import mcnemar_p, pairwise_tests
from examiner.scores.normalise import comparable_runs, score_unit, stated_choice
from examiner.scores.runs import Unit, run_scores, same_sign, usual_unit
from examiner.scores.signed_ranks import midranks, signed_rank_p
from examiner.scores.standing import best_first
from examiner.scores.total import Total
from examiner.validation import Floats, check_known, read_only

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Significance(Answer):
    """Tests of differences between agents; agents best first.

    `mean` and `mean_rank` (1 is best) have shape [agents], `p` [agents, agents] holds adjusted p-values,
    1 on the diagonal, `common` [agents, agents] the number of tasks on which each pair was tested. `unit`
    is what another sample would vary, runs or tasks. `cliques` are the largest groups of agents, by
    position, next to each other in what is tested (their means for "t-holm", else their mean ranks), among
    which no pair differs. `critical` is Nemenyi's critical difference, else NaN. Friedman's test has
    `statistic` and `p_value`. `too_few_tasks` says how many tasks the test needs, where no result on so few
    could be significant.
    """

    kind = "significance"

    posthoc: PostHoc = field(metadata=setting())
    test: str = field(metadata=setting())
    alpha: float = field(metadata=setting())
    unit: Unit = field(metadata=setting())
    agent_names: tuple[str, ...]
    tasks: tuple[str, ...]
    mean: Floats
    mean_rank: Floats
    statistic: float = field(
        metadata=scalar("Statistic of Friedman's test of ranks", name="friedman_statistic")
    )
    p_value: float = field(
        metadata=scalar("P-value of Friedman's test of ranks", name="friedman_p")
    )
    critical: float = field(
        metadata=scalar(
            "Smallest significant difference of mean ranks (Nemenyi)", name="critical_difference"
        )
    )
    p: Floats
    cliques: tuple[tuple[int, ...], ...]
    common: NDArray[np.intp]
    ahead: NDArray[np.bool_]
    """Whether the agent of the row is better than that of the column on common tasks, [agents, agents]."""

    too_few_tasks: str
    notes: tuple[str, ...]
    score_unit: str = ""

    @property
    def better(self) -> NDArray[np.bool_]:
        """Whether the agent of the row is significantly better than that of the column."""
        return self.ahead & (self.p < self.alpha)

    @property
    def rank_range(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        r"""The best and worst rank that the tests leave to each agent, [agents].

        .. math:: 1 + \#\{k : k \text{ significantly better than } j\} \le r_j \le
                  J - \#\{k : k \text{ significantly worse than } j\}

        Where the tests of all pairs hold their level together, as after Holm, so do all ranges.

        References: Mogstad, Romano, Shaikh & Wilhelm (2024), section 3; Xie, Singh & Zhang (2009) on
        resampled ranks, which are too certain of agents that are nearly equal.
        """
        best = 1 + self.better.sum(axis=0)
        worst = len(self.agent_names) - self.better.sum(axis=1)
        return best, worst

    @property
    def better_on_common_tasks(self) -> tuple[str, ...]:
        """Agents significantly better than the first on the tasks that both have."""
        rivals = self.better[:, 0].tolist()
        return tuple(agent for agent, wins in zip(self.agent_names, rivals, strict=True) if wins)

    @property
    def headline(self) -> str:
        """How many pairs of agents differ significantly, and by which test."""
        agents = len(self.agent_names)
        if agents == 2:
            verb = "differ" if self.p[0, 1] < self.alpha else "do not differ"
            names = joined(self.agent_names)
            return f"{names} {verb} significantly ({self.test}, p = {self.p[0, 1]:.2g})."
        differing = int((self.p < self.alpha).sum()) // 2
        adjusted = "" if self.posthoc == "nemenyi" else " after Holm"
        by = f"{self.test}, at {100 * self.alpha:.3g} %{adjusted}"
        pairs = counted(agents * (agents - 1) // 2, "pair")
        return f"{differing:,} of {pairs} of agents differ significantly ({by})."

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


@reads_results
def significance(
    results: Results,
    posthoc: PostHoc = "t-holm",
    alpha: float = LEVEL,
    measure: str | None = None,
    *,
    normalise: str | OwnFunction | None = "auto",
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
    results = comparable_runs(results, normalise, measure)
    same_sign(results, measure)
    scores = run_scores(results, measure, total, group)
    unit = "tasks" if posthoc != "t-holm" else unit or usual_unit(scores)
    groups = scores.groups if unit == "tasks" else None
    means, fewest = cell_means(results, measure), 1 if unit == "runs" else 2
    kept, notes = _used(results, means, fewest, gaps=posthoc != "nemenyi")
    values, tasks = means[:, kept], tuple(np.array(results.tasks, dtype=object)[kept])
    observed = np.isfinite(values)
    common = observed.astype(np.intp) @ observed.T.astype(np.intp)
    over = counted(len(tasks), "task")
    if groups is not None:
        code = codes_of(groups.code[kept].tolist())
        member = np.eye(int(code.max()) + 1)[code]
        values = ratio(np.where(observed, values, 0.0) @ member, observed @ member)
        over = f"{counted(values.shape[1], 'group')} of {over}"
        notes += scores.group_notes
    ranks = _mean_ranks(values)
    mean = np.array([one.shares @ one.means if len(one.tasks) else np.nan for one in scores.strata])
    statistic, p_value = friedman(values) if len(values) > 2 else (np.nan, np.nan)
    critical, order, ahead, exact = np.nan, ranks, ranks[:, None] < ranks, False
    if posthoc == "nemenyi":
        test = "Nemenyi's test over"
        p, critical = nemenyi(ranks, values.shape[1], alpha)
    elif posthoc == "wilcoxon-holm":
        test, exact = "Wilcoxon's signed ranks over", True
        p = wilcoxon_holm(values)
    else:
        test = "Welch's t-test over runs of" if unit == "runs" else "Student's t-test over"
        single = all(one.binary for one in scores.strata) and scores.groups is None
        if single and (total is None or total.plain):
            test, exact = "McNemar's exact test over", True
            gap, raw = _mcnemar(values)
        else:
            gap, raw = pairwise_tests(scores, unit)
        p, order, ahead = _holm_of_pairs(raw), -mean, gap > 0
    if exact:
        # No p-value of n single trials is below 2 / 2ⁿ, and Holm multiplies the least of m by m.
        fewest = int(np.floor(1 + np.log2(len(ranks) * (len(ranks) - 1) / 2 / alpha))) + 1
    too_few = (
        f"With {counted(len(tasks), 'task')} no pair can differ significantly: the exact test of "
        f"{len(ranks):,} agents needs {fewest:,}."
    )
    rows = best_first(results.agents, -order)
    agents, both = tuple(results.agents[row] for row in rows), np.ix_(rows, rows)
    mean, ranks, p, common, ahead = mean[rows], ranks[rows], p[both], common[both], ahead[both]
    read_only(mean, ranks, p, common, ahead)
    return Significance(
        posthoc=posthoc,
        test=f"{test} {over}",
        alpha=alpha,
        unit=unit,
        agent_names=agents,
        tasks=tasks,
        mean=mean,
        mean_rank=ranks,
        statistic=statistic,
        p_value=p_value,
        critical=critical,
        p=p,
        cliques=cliques(order[rows], p, alpha),
        common=common,
        ahead=ahead,
        too_few_tasks=too_few if values.shape[1] < fewest else "",
        notes=notes,
        score_unit=score_unit(results, measure),
    )


def _used(
    results: Results, means: Floats, fewest: int, *, gaps: bool
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Which tasks say anything of a difference, and notes on those left out and on gaps."""
    observed = np.isfinite(means)
    kept = observed.sum(axis=0) >= (2 if gaps else len(means))
    who = "two agents were" if gaps else "every agent was"
    if kept.sum() < fewest:
        raise InputError(
            f"The tests need {counted(fewest, 'task')} on which {who} observed, and found "
            f"{counted(int(kept.sum()), 'such task')}. Leave out agents that miss many tasks."
        )
    lost = [task for task, used in zip(results.tasks, kept, strict=True) if not used]
    notes = [*stated_choice(results)]
    if lost:
        why = "fewer than two agents have" if gaps else "some agent misses"
        notes.append(f"Tests leave out {counted(len(lost), 'task')} that {why}: {listed(lost)}.")
    shared = observed.astype(np.intp) @ observed.T.astype(np.intp)
    apart = int((np.triu(shared < fewest, 1)).sum())
    if gaps and apart:
        notes.append(
            f"{counted(apart, 'pair')} of agents share fewer than {counted(fewest, 'task')}: they "
            f"are not tested, and count as not different."
        )
    return kept, tuple(notes)


def _mcnemar(solved: Floats) -> tuple[Floats, Floats]:
    """How many tasks more the row solves than the column, and McNemar's p-value; [agents, agents] each."""
    only = (solved == 1).astype(np.float64) @ (solved == 0).T.astype(np.float64)
    return only - only.T, mcnemar_p(only.astype(np.int64), only.T.astype(np.int64))


def _holm_of_pairs(p: Floats) -> Floats:
    """Adjust the p-values of all pairs [agents, agents]; 1 on the diagonal and where none is known."""
    rows = np.triu_indices(len(p), 1)
    adjusted = np.ones(p.shape)
    adjusted[rows] = adjusted[rows[::-1]] = holm(np.nan_to_num(p[rows], nan=1.0))
    return adjusted


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


def nemenyi(ranks: Floats, tasks: int, alpha: float = LEVEL) -> tuple[Floats, float]:
    r"""P-values of all pairs of mean ranks, [agents, agents], and the critical difference of two.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k+1)}{6 N}}

    References: Nemenyi (1963); Demšar (2006), section 3.2.2 and table 5.

    >>> p, critical = nemenyi(np.array([1.0, 2.0, 3.0, 4.0]), 14)
    >>> round(float(p[0, 1]), 3), round(critical, 2)
    (0.17, 1.25)
    """
    from scipy.stats import studentized_range  # slow to import

    agents = len(ranks)
    scale = float(np.sqrt(agents * (agents + 1) / (6 * tasks) / 2))
    distance = np.abs(ranks[:, None] - ranks[None, :]) / scale
    p: Floats = np.clip(studentized_range.sf(distance, agents, np.inf), 0.0, 1.0)
    np.fill_diagonal(p, 1.0)
    return p, float(studentized_range.ppf(1 - alpha, agents, np.inf)) * scale


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
    raw = np.ones((len(values), len(values)))
    for agent in range(len(values) - 1):
        with np.errstate(over="ignore"):
            difference = values[agent] - values[agent + 1 :]
        # Not observed is no difference; one too large for a number is the largest there is.
        raw[agent, agent + 1 :] = signed_rank_p(np.nan_to_num(difference))
    return _holm_of_pairs(raw)


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


def _task_ranks(values: Floats) -> Floats:
    """Ranks of the agents seen on each task, 1 the best; NaN where an agent was not seen."""
    return np.where(np.isfinite(values), midranks(-values.T).T, np.nan)


def _mean_ranks(values: Floats) -> Floats:
    """Mean ranks over the tasks an agent has; a rank among fewer agents is stretched to all of them."""
    count = np.isfinite(values).sum(axis=0)
    stretched = _task_ranks(values) * (len(values) + 1) / (count + 1)
    observed = np.isfinite(stretched)
    total, tasks = np.where(observed, stretched, 0.0).sum(axis=1), observed.sum(axis=1)
    # an agent without any task stands in the middle
    return np.where(tasks > 0, total / np.maximum(tasks, 1), (len(values) + 1) / 2)
