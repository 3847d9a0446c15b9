"""The bundled data sets by name: their cards, and how the file of each becomes what its card promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, TypeAlias, overload

import polars as pl

from examiner.datasets.card import PACKAGE, Card, read_card
from examiner.datasets.published import PublishedTable
from examiner.messages import unknown_name
from examiner.results import (
    LEARNS,
    Attributes,
    Classification,
    Provenance,
    Results,
    Scales,
    TaskScale,
    atari_scales,
    in_order,
)

Dataset: TypeAlias = Results | Scales | Classification | PublishedTable

_GOMES_RANDOM = "random_gomes"
_GOMES = "Gomes & Souza 2021, random agent"
_ARENA = "random agent of the same data set; human of Mnih et al. 2015 and Wang et al. 2016"
_SWE_BENCH = "SWE-bench verified"  # as logs of it are read
_FAMILIES = MappingProxyType(
    {
        "random": "blind",
        "no-op": "blind",
        "brute": "learning",
        "sarsa-blob-prost": "learning",
        "dqn": "learning",
    }
)
"""Agent of the arena → family; all other agents are planners."""


def data_bytes(file: str) -> bytes:
    """Return the bytes of a data file.

    >>> data_bytes("atari-human-random.csv")[:17]
    b'game,random,human'
    """
    return files(PACKAGE).joinpath("data", file).read_bytes()


def data_frame(file: str) -> pl.DataFrame:
    """Return a data file as a frame; an empty cell is null.

    Tables of papers are CSV: anyone can read and compare them. Episodes played here are Parquet.

    >>> data_frame("atari-human-random.csv").shape
    (57, 3)
    """
    if file.endswith(".parquet"):
        return pl.read_parquet(data_bytes(file))
    return pl.read_csv(data_bytes(file), infer_schema_length=None)


def load_published_table(card: Card) -> PublishedTable:
    """Return a printed table, column by column.

    >>> len(load_published_table(read_card("machado-2018-table1")))
    15
    """
    columns = {series.name: tuple(series) for series in data_frame(card.file)}
    return PublishedTable(card.name, columns, card.notes)


def load_typology(card: Card) -> Classification:
    """Return games by features, with the group that the paper put them in.

    >>> load_typology(read_card("atari-typology")).attributes["paper_group"][:3]
    ('7', '25', '21')
    """
    columns = data_frame(card.file).rename({"game": "task"}).cast(pl.String)
    return Classification.from_dict(
        columns.to_dict(as_series=False), attributes=["paper_group"], source=card.name
    )


def load_profiles(card: Card) -> Classification:
    """Return games by their properties measured with the first seed; errors are attributes.

    >>> load_profiles(read_card("atari-profile")).attributes["measured.open_loop_action"][:2]
    ('UPRIGHTFIRE', 'DOWNLEFTFIRE')
    """
    rows = data_frame(card.file).filter(pl.col("measured.seed") == 0)
    columns = rows.cast(pl.String).fill_null("").to_dict(as_series=False)
    attributes = [name for name in columns if name.startswith("measured.") or name == "notes"]
    return Classification.from_dict(columns, attributes=attributes, source=card.name)


def load_human_random_scales(card: Card) -> Scales:
    """Return the random and the human score of each game.

    >>> load_human_random_scales(read_card("atari-human-random")).lookup("pong").reference
    14.6
    """
    return atari_scales()


def load_atari_agents(card: Card) -> Results:
    """Return mean scores of agents on games, with two scales for every game.

    The paper's own random agent comes first, so that a normaliser that needs only a random score
    uses it, as the paper did; one that needs a human score finds the scale that has both.

    >>> results = load_atari_agents(read_card("atari-dqn-family"))
    >>> results.scales.lookup("pong", needs=["random"]).random
    -21.0
    >>> results.scales.lookup("pong", needs=["random", "reference"]).random
    -20.7
    """
    wide = data_frame(card.file).rename({"game": "task"})
    tidy = (
        wide.drop(_GOMES_RANDOM)
        .unpivot(index="task", variable_name="agent", value_name="score")
        .drop_nulls("score")
        .sort("task", maintain_order=True)  # the first game has every agent, in the paper's order
        .with_columns(run=0, trial=0)
    )
    random = wide.select("task", random=_GOMES_RANDOM, source=pl.lit(_GOMES))
    random_only = Scales.from_dicts(random.iter_rows(named=True))
    games = set(wide["task"])
    human = load_human_random_scales(read_card("atari-human-random"))
    return Results.from_frame(
        tidy,
        measures=["score"],
        scales=random_only + Scales(scale for scale in human if scale.task in games),
        provenance=_provenance(card),
    )


def load_plays(card: Card) -> Results:
    """Return one row per play, levels as items of their game, seed and ticks as attributes.

    A play's seed is that of the game, not of a training run, so the run is the trial.

    >>> load_plays(read_card("gvgai-plays")).attributes
    ('seed', 'ticks')
    """
    plays = data_frame(card.file).rename({"game": "task"}).with_columns(run=pl.col("trial"))
    return Results.from_frame(
        plays, measures=["win", "score"], item=["level"], provenance=_provenance(card)
    )


def load_arena(card: Card) -> Results:
    """Return episodes that the arena played; 0 is the mean of its random agent, 1 the human tester.

    The random score is measured in the same set, under the same protocol; the human one is published.

    >>> results = load_arena(read_card("atari-arena"))
    >>> results.scales.lookup("freeway").reference
    29.6
    """
    episodes = data_frame(card.file)
    random = episodes.filter(pl.col("agent") == "random").group_by("task", maintain_order=True)
    published = load_human_random_scales(read_card("atari-human-random"))
    human = {scale.task: scale.reference for scale in published}
    scales = Scales(
        TaskScale(game, random=chance, reference=human[game], source=_ARENA)
        for game, chance in random.agg(pl.col("score").mean()).iter_rows()
    )
    results = Results.from_frame(
        episodes,
        measures=["score"],
        item=[],  # modes and difficulties are each game's own
        scales=scales,
        provenance=_provenance(card, training=True),
    )
    families = [_FAMILIES.get(agent, "planning") for agent in results.agents]
    values = tuple((family, family == "learning") for family in families)
    return results.with_attributes(Attributes("agent", results.agents, ("family", LEARNS), values))


def load_flavours(card: Card) -> Results:
    """Return evaluated episodes: modes and difficulties are items; agent names say where they were trained.

    >>> load_flavours(read_card("atari-flavours")).agents
    ('random play', 'sarsa-blob-prost (0/0)', 'sarsa-blob-prost (0/1)', 'sarsa-blob-prost (1/0)')
    """
    return Results.from_frame(
        data_frame(card.file),
        measures=["score"],
        item=["mode", "difficulty"],
        provenance=_provenance(card),
    )


def load_swe_bench(card: Card) -> Results:
    """Return what each entry of a leaderboard resolved, with the repository of each task.

    >>> results = load_swe_bench(read_card("swebench-verified"))
    >>> len(results.agents), len(results.tasks), results.measures
    (134, 500, ('resolved',))
    >>> results.task_attributes.aligned(["django__django-11099"], "subtask")
    ('django/django',)
    """
    rows = data_frame(card.file).with_columns(run=0, trial=0)
    results = Results.from_frame(
        rows.drop("repository"), measures=["resolved"], provenance=_provenance(card)
    )
    tasks = rows.select("task", "repository").unique(maintain_order=True).cast(pl.String)
    levels = tuple((_SWE_BENCH, repository) for repository in tasks["repository"])
    results = results.with_attributes(
        Attributes("task", tuple(tasks["task"]), ("benchmark", "subtask"), levels)
    )
    dates = tuple((f"{agent[:4]}-{agent[4:6]}-{agent[6:8]}",) for agent in results.agents)
    return results.with_attributes(Attributes("agent", results.agents, ("date",), dates))


def _provenance(card: Card, *, training: bool = False) -> Provenance:
    return Provenance(source=card.name, format="bundled", notes=card.notes, training=training)


# A new data set: its file in data/, its card in cards/, and one line here.
DATASETS: Mapping[str, Callable[[Card], Dataset]] = MappingProxyType(
    {
        "atari-anchors": load_arena,
        "atari-arena": load_arena,
        "atari-arena-deterministic": load_arena,
        "atari-dqn-family": load_atari_agents,
        "atari-flavours": load_flavours,
        "atari-human-random": load_human_random_scales,
        "atari-irt-2017-table1": load_published_table,
        "atari-profile": load_profiles,
        "atari-table1": load_arena,
        "atari-table1-deterministic": load_arena,
        "atari-typology": load_typology,
        "gvgai-information-2019": load_published_table,
        "gvgai-planners": load_plays,
        "gvgai-plays": load_plays,
        "machado-2018-table1": load_published_table,
        "swebench-verified": load_swe_bench,
    }
)


# The overloads are for type checkers; a data set without one is still loaded.
@overload
def load(
    name: Literal[
        "atari-anchors",
        "atari-arena",
        "atari-arena-deterministic",
        "atari-dqn-family",
        "atari-flavours",
        "atari-table1",
        "atari-table1-deterministic",
        "gvgai-planners",
        "gvgai-plays",
        "swebench-verified",
    ],
) -> Results: ...
@overload
def load(name: Literal["atari-human-random"]) -> Scales: ...
@overload
def load(name: Literal["atari-profile", "atari-typology"]) -> Classification: ...
@overload
def load(
    name: Literal["atari-irt-2017-table1", "gvgai-information-2019", "machado-2018-table1"],
) -> PublishedTable: ...
@overload
def load(name: str) -> Dataset: ...
def load(name: str) -> Dataset:
    """Return a bundled data set, as the type that its card names.

    >>> load("atari-dqn-family")
    Results: 7 agents × 55 tasks, 1 run, 1 trial; measures: score; 24 missing cells; scales of 55 ...
    >>> load("atari-human-random").lookup("pong").reference
    14.6
    >>> load("atari-dqm-family")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown data set 'atari-dqm-family'. Did you mean \
'atari-dqn-family'? Known: ...
    """
    dataset = DATASETS[_check_name(name)](read_card(name))
    return in_order(dataset) if isinstance(dataset, Results) else dataset


def card(name: str) -> Card:
    """Return the card of a bundled data set: source, changes, caveats, protocol and licence.

    >>> card("atari-typology").title
    'Game typology of 55 Atari games in 31 groups'
    """
    return read_card(_check_name(name))


def _check_name(name: object) -> str:
    if not isinstance(name, str) or name not in DATASETS:
        raise unknown_name("data set", name, DATASETS)
    return name
