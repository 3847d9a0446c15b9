"""Draw the figures of the five papers, and write their tables: `python docs/papers/make.py --data DIR`.

Tables hold what is printed next to ours; `--pages` puts them into the pages. What is bundled is drawn
always. DIR may hold what is public but not ours to give away, and what needs it is skipped with a reason
where it does not:

- `AI_benchmark_analysis`: a clone of GitHub `nandomp/AI_benchmark_analysis`, enough for every figure;
- `ale_published_scores_2018.csv`: its Atari games alone: 45 techniques × 49 games, 100 is human.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl

import examiner as ex
from examiner.reporting.plots import Plot

sys.path.insert(0, str(Path(__file__).parent))  # also where this file is loaded by its path
from printed import (
    PrintedTable,
    actions_of_games,
    bits_of_games,
    parameters_of_games,
    plays_of_agents,
    scores_with_and_without_sticky_actions,
)

SCORES, CLONE = "ale_published_scores_2018.csv", "AI_benchmark_analysis"
NOT_KEPT = (  # papers/002 dropped these as near-identical, by the authors' program
    "Schaul_DQN.baseline",
    "vanHasselt.Humanstarts_DQN",
    "vanHasselt.Humanstarts_Double.DQN..tuned.",
    "Wang.Humanstarts_DUEL",
    "Wang.Humanstarts_PRIOR.",
)
CHOSEN_ALE = (  # those of Fig. 5, by the authors' program
    *("Talvitie_B.PRO", "Wang.noops_DQN", "Nair.noop_Gorila.humnorm"),
    *("vanHasselt.noops_Double.DQN", "Gruslys_REACTOR.M1", "Schaul_DDQN.rank.based"),
)
CHOSEN_GVGAI = ("jaydee", "NovTea", "mrtndwrd", "simulatedAnnealing", "sampleMCTS", "AIJim")
CITED = {  # the years of the papers that report techniques, as papers/003 cites them
    **{"FurelosBlanco": 2015, "Nair": 2015, "Schaul": 2015, "Talvitie": 2015, "Wang": 2015},
    **{"He": 2016, "vanHasselt": 2016, "Gruslys": 2017, "O.Donoghue": 2017, "Pritzel": 2017},
}
BINS_ALE, BINS_GVGAI = (-11.0, -1.0, 0.0, 1.0, 10.0), (-600.0, -1.0, 1.0, 2.0, 600.0)


class LackingError(Exception):
    """A figure needs data that are not there; the message says which."""


class Fitted(NamedTuple):
    """A fit with priors, comparable scores of its agents, and their indicators."""

    fit: ex.irt.IRTFit
    scores: ex.ResponseMatrix
    indicators: ex.irt.Indicators


@cache
def ale(data: Path | None) -> Fitted:
    """The 40 techniques on 41 games of papers/002 and 003."""
    results = atari_scores(data)
    kept = ~np.isin(np.array(results.agents), NOT_KEPT)
    fit = ex.irt.fit(
        ex.responses(results.where(kept[results.agent_codes]), success=100), priors="fixed", rng=0
    )
    scores = ex.responses(ex.normalise(results, "z-score"))
    return Fitted(fit, scores, ex.irt.indicators(fit, scores, bins=BINS_ALE))


@cache
def gvgai(data: Path | None) -> Fitted:
    """The 23 controllers of 2015 on 154 levels."""
    text = _one_side(_needed(data, CLONE, "data", "GVGAI_data.csv"), "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trials.csv"
        path.write_text(text, encoding="utf-8")
        trials = ex.read(path).with_measures("win")
    fit = ex.irt.fit(ex.responses(trials, success=1, share=0.5), rng=0)
    scores = ex.responses(ex.normalise(trials, "z-score"))
    return Fitted(fit, scores, ex.irt.indicators(fit, scores, bins=BINS_GVGAI))


def atari_scores(data: Path | None) -> ex.Results:
    """All 45 techniques on 49 games, from the table alone or from the authors' repository.

    There games are rows, in cp1252, and techniques have the names that R gives them when it reads them.
    """
    if data is not None and (data / SCORES).exists():
        return ex.read(data / SCORES)
    text = _one_side(_needed(data, CLONE, "data", "ALE_data.csv"), "cp1252")
    games = pl.read_csv(StringIO(text.replace("’", "'"))).rename({"": "task"})
    long = games.unpivot(index="task", variable_name="agent", value_name="score")
    return ex.read(long.with_columns(pl.col("agent").str.replace_all(r"[^\w.]", ".")))


def _one_side(path: Path, encoding: str) -> str:
    """The text before the marker of a merge that was never resolved; both sides are the same."""
    return path.read_text(encoding=encoding).partition("\n=======")[0].partition("\n")[2]


def _needed(data: Path | None, *parts: str) -> Path:
    path = None if data is None else data.joinpath(*parts)
    if path is None or not path.exists():
        raise LackingError(f"needs {'/'.join(parts)}, which may be read but not redistributed")
    return path


@cache
def table_one() -> ex.irt.IRTFit:
    """papers/003, Table 1."""
    columns = ex.load("atari-irt-2017-table1").columns
    rows = [row for row, value in enumerate(columns["difficulty"]) if value is not None]
    games, slope, difficulty = (
        [columns[name][row] for row in rows] for name in ("game", "discrimination", "difficulty")
    )
    return ex.irt.known(ex.irt.ItemParameters.of(games, slope, difficulty=difficulty))


@cache
def authors_levels(data: Path | None) -> ex.irt.IRTFit:
    """The levels of GVGAI with the parameters that the authors of papers/002 publish."""
    page = _needed(data, CLONE, "README.md").read_text(encoding="utf-8")
    table = page.partition("IRT parameters: GVGAI")[2]
    rows = re.findall(r"^\|(\w+\.\d)\s*\|[^|]*\|([^|]*)\|([^|]*)\|", table, re.MULTILINE)
    levels, difficulty, slope = zip(*rows, strict=True)
    items = ex.irt.ItemParameters.of(
        levels, [float(text) for text in slope], difficulty=[float(text) for text in difficulty]
    )
    return ex.irt.known(items)


def falling_levels(data: Path | None) -> Plot:
    """Levels with negative discrimination; with priors there are none, so that the authors' are drawn."""
    fit = gvgai(data).fit
    if not negative(fit):
        fit = authors_levels(data)
    return ex.plots.chosen_task_curves(fit, negative(fit))


def atari_fit(data: Path | None) -> ex.irt.IRTFit:
    """The fit to the published scores, or Table 1 where they are not there."""
    try:
        return ale(data).fit
    except LackingError:
        return table_one()


@cache
def plays() -> ex.Results:
    """Plays of GVGAI games, levels as trials of their game."""
    return ex.load("gvgai-plays").with_items()


def by_slope(fit: ex.irt.IRTFit) -> list[str]:
    """Tasks with positive discrimination, the steepest first."""
    items = fit.items
    rising = np.flatnonzero(items.slope > 0)
    return [items.tasks[place] for place in rising[np.argsort(-items.slope[rising])]]


def by_difficulty(fit: ex.irt.IRTFit) -> list[str]:
    """Tasks with positive discrimination, the hardest first."""
    items = fit.items
    rising = np.flatnonzero((items.slope > 0) & np.isfinite(items.difficulty))
    return [items.tasks[place] for place in rising[np.argsort(-items.difficulty[rising])]]


def negative(fit: ex.irt.IRTFit) -> list[str]:
    """Tasks with negative discrimination, within noise or not."""
    return [task for task, slope in zip(fit.items.tasks, fit.items.slope, strict=True) if slope < 0]


def ends(tasks: Sequence[str]) -> list[str]:
    """The first three and the last three."""
    return [*tasks[:3], *tasks[-3:]]


def example() -> ex.irt.IRTFit:
    """The 3PL that papers/002 and 003 draw in their first figures."""
    items = ex.irt.ItemParameters.of(["example"], [2.0], difficulty=[3.0], guessing=[0.1])
    return ex.irt.known(items, population_sd=2.0)


def agents_of_three_abilities() -> Plot:
    """Curves of agents over difficulty that differ in place only."""
    tasks = [f"task {number}" for number in range(60)]
    difficulty = np.linspace(-3, 3, 60)
    items = ex.irt.ItemParameters.of(tasks, np.full(60, 2.0), difficulty=difficulty)
    names = ("less able", "able", "abler")
    solved = (difficulty < np.array([[-1.0], [0.0], [1.0]])).astype(float)
    fit = ex.irt.known(items, ex.ResponseMatrix.from_array(solved, names, tasks))
    return ex.plots.expected_agent_curves(fit, names)


def learning_curves() -> Plot:
    """DQN and Sarsa(λ) on three games, two and three runs of a million frames with sticky actions."""
    results = ex.load("atari-table1")
    agent = np.isin(np.array(results.agents), ["sarsa-blob-prost", "dqn"])[results.agent_codes]
    games = ["asterix", "seaquest", "space_invaders"]
    game = np.isin(np.array(results.tasks), games)[results.task_codes]
    return ex.plots.task_learning_curves(results.where(agent & game), None)


def over_time(data: Path | None) -> Plot:
    """Ability, generality and the general factor by year."""
    indicators = ale(data).indicators
    years = {
        agent: next(year for name, year in CITED.items() if agent.startswith(name))
        for agent in indicators.agents
    }
    results = atari_scores(data)
    return ex.plots.over_time(
        indicators, years, ex.information.general_factor_by(results, years, rng=0)
    )


def correlations(measure: str) -> Plot:
    """Correlations of tasks, the ten that tell most together marked."""
    chosen = ex.information.best_set(plays().with_measures(measure), 10).tasks.task
    means = ex.scores.cell_means(plays(), measure)
    varied = np.nanmax(means, axis=0) > np.nanmin(means, axis=0)  # others have no correlation
    kept = varied | np.isin(np.array(plays().tasks), chosen)
    return ex.plots.marked_clusters(plays().where(kept[plays().task_codes]), chosen, measure)


Figure = Callable[[Path | None], Plot]
FIGURES: MappingProxyType[str, Figure] = MappingProxyType(
    {
        "000-1": lambda data: ex.plots.typology_steps(
            ex.typology.kinds(ex.load("atari-typology"), rng=0)
        ),
        "000-coverage": lambda data: ex.plots.coverage(
            ex.load("atari-dqn-family"), typology=ex.load("atari-typology")
        ),
        "001-1": lambda data: learning_curves(),
        "002-1-left": lambda data: ex.plots.task_panels(example(), ["example"]),
        "002-1-right": lambda data: agents_of_three_abilities(),
        "002-2-left": lambda data: curves(ale(data), ends(by_difficulty(ale(data).fit))),
        "002-2-middle": lambda data: curves(ale(data), ends(by_slope(ale(data).fit))),
        "002-2-right": lambda data: curves(ale(data), negative(ale(data).fit)),
        "002-3-left": lambda data: curves(gvgai(data), ends(by_difficulty(gvgai(data).fit))),
        "002-3-middle": lambda data: curves(gvgai(data), ends(by_slope(gvgai(data).fit))),
        "002-3-right": falling_levels,
        "002-4-top": lambda data: ex.plots.variance_and_mean(
            ale(data).indicators, ale(data).scores, CHOSEN_ALE
        ),
        "002-4-bottom": lambda data: ex.plots.variance_and_mean(
            gvgai(data).indicators, gvgai(data).scores, CHOSEN_GVGAI
        ),
        "002-5-top-left": lambda data: ex.plots.expected_agent_curves(ale(data).fit, CHOSEN_ALE),
        "002-5-top-right": lambda data: ex.plots.expected_agent_curves(
            gvgai(data).fit, CHOSEN_GVGAI
        ),
        "002-5-left": lambda data: agents(ale(data), CHOSEN_ALE),
        "002-5-right": lambda data: agents(gvgai(data), CHOSEN_GVGAI),
        "002-6-left": lambda data: ex.plots.slope_and_regularity(ale(data).indicators, CHOSEN_ALE),
        "002-6-right": lambda data: ex.plots.slope_and_regularity(
            gvgai(data).indicators, CHOSEN_GVGAI
        ),
        "003-1": lambda data: ex.plots.task_panels(example(), ["example"]),
        "003-2": lambda data: ex.plots.task_panels(
            atari_fit(data), sorted(atari_fit(data).items.tasks)
        ),
        "003-3": lambda data: ex.plots.abilities(ale(data).fit),
        "003-4": lambda data: ex.plots.task_panels(atari_fit(data), by_slope(atari_fit(data))[:6]),
        "003-5": lambda data: ex.plots.task_panels(
            atari_fit(data), by_difficulty(atari_fit(data))[:6]
        ),
        "003-6": lambda data: ex.plots.task_panels(atari_fit(data), negative(atari_fit(data))),
        "003-time": over_time,
        "004-1a": lambda data: correlations("win"),
        "004-1b": lambda data: correlations("score"),
        "004-tree": lambda data: ex.plots.task_tree(plays(), None, "win"),
    }
)
"""Paper and figure → what draws it. A new figure is one line here."""


TABLES: MappingProxyType[str, Callable[[Path | None], PrintedTable]] = MappingProxyType(
    {
        "001-table-1": lambda data: scores_with_and_without_sticky_actions(),
        "003-table-1-actions": lambda data: actions_of_games(),
        "003-table-1": lambda data: parameters_of_games(ale(data).fit),
        "004-table-1": lambda data: plays_of_agents(),
        "004-table-2": lambda data: bits_of_games(),
    }
)
"""Paper and table → what compares it, cell by cell. Those of papers/000 are made by `tables.py`."""


def curves(fitted: Fitted, tasks: Sequence[str]) -> Plot:
    """Curves of these tasks among all, in colours."""
    return ex.plots.chosen_task_curves(fitted.fit, tasks)


def agents(fitted: Fitted, names: Sequence[str]) -> Plot:
    """Curves of these agents over difficulty."""
    return ex.plots.chosen_agent_curves(fitted.fit, fitted.indicators, names)


def drawn(
    data: Path | None, names: Sequence[str]
) -> Iterator[tuple[str, Plot | PrintedTable | str]]:
    """Each figure with its plot, each table, or the reason why there is none."""
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ex.ExaminerWarning)
                yield name, (FIGURES | TABLES)[name](data)
        except LackingError as reason:
            yield name, str(reason)


def main(words: Sequence[str] | None = None) -> None:
    """Write every figure and table that can be made, and say why others are not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with data that are not bundled")
    parser.add_argument("--output", type=Path, default=Path("figures"), help="folder to write to")
    parser.add_argument("--format", default="svg", choices=("svg", "pdf", "png", "html"))
    parser.add_argument("--only", default="", help="figures whose name begins so, as 003 or 003-4")
    parser.add_argument("--pages", action="store_true", help="put tables into their pages, too")
    options = parser.parse_args(words)
    every = (*FIGURES, *TABLES)
    names = [name for name in every if name.startswith(options.only)]
    if not names:
        parser.error(f"No figure begins with {options.only!r}. There are {', '.join(every)}.")
    options.output.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn(options.data, names):
        if isinstance(figure, str):
            sys.stdout.write(f"{name}: skipped, {figure}.\n")
        elif isinstance(figure, PrintedTable):
            path = options.output / f"{name}.md"
            path.write_text(figure.markdown, encoding="utf-8")
            sys.stdout.write(f"{name}: {path}\n")
            if options.pages:
                _put_into_page(name, figure)
        else:
            path = figure.save(options.output / f"{name}.{options.format}")
            sys.stdout.write(f"{name}: {path}\n")


def printed_on_page(name: str, text: str) -> str:
    """The table of this name that a page shows, between its two marks."""
    return text.partition(f"<!-- table {name} -->\n\n")[2].partition("\n<!-- end -->")[0]


def _put_into_page(name: str, table: PrintedTable) -> None:
    page = Path(__file__).with_name(f"{name[:3]}.md")
    text = page.read_text(encoding="utf-8")
    mark = f"<!-- table {name} -->\n"
    before, _, after = text.partition(mark)
    rest_of_page = after.partition("<!-- end -->")[2]
    page.write_text(
        f"{before}{mark}\n{table.markdown}\n<!-- end -->{rest_of_page}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
