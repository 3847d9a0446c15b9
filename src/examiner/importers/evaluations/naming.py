"""Who was evaluated, in which run, on which item: names that hold over all logs read together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from examiner.messages import counted, listed

_HASH_LETTERS = 8  # of a hash, to tell items of one id apart
_ITEM = ("items", "content", "twin")


class Identity(NamedTuple):
    """What a log says of itself: the model, its settings, what it was asked, and the evaluation."""

    model: str
    settings: tuple[tuple[str, str], ...]
    items: str
    evaluation: str


class Named(NamedTuple):
    """The agent and the run of each log, and what a reader should know of them."""

    agents: tuple[str, ...]
    runs: tuple[int, ...]
    notes: tuple[str, ...]


def named_logs(logs: Sequence[Identity]) -> Named:
    """Name the agent of each log: its model, and the settings in which it differs on the same items.

    Another evaluation of the same agent on the same items is another run.

    >>> warm = Identity("gpt2", (("temperature", "1"),), "arc", "b")
    >>> named = named_logs([Identity("gpt2", (("temperature", "0"),), "arc", "a"), warm, warm])
    >>> named.agents, named.runs
    (('gpt2 (temperature=0)', 'gpt2 (temperature=1)', 'gpt2 (temperature=1)'), (0, 0, 0))
    """
    differing = _differing(logs)
    agents = tuple(_agent(log, differing[log.model]) for log in logs)
    seen: dict[tuple[str, str], dict[str, int]] = {}
    runs = []
    for agent, log in zip(agents, logs, strict=True):
        known = seen.setdefault((agent, log.items), {})
        runs.append(known.setdefault(log.evaluation, len(known)))
    notes = []
    several = {model: keys for model, keys in differing.items() if keys}
    if several:
        keys = dict.fromkeys(key for found in several.values() for key in found)
        notes.append(
            f"{counted(len(several), 'model')} with several settings ({listed(keys, limit=4)}) "
            f"{'is' if len(several) == 1 else 'are'} an agent for each: {listed(several, limit=3)}."
        )
    again = [f"{agent} on {items}" for (agent, items), known in seen.items() if len(known) > 1]
    if again:
        notes.append(
            f"Some were evaluated more than once under the same settings, which are runs of their own: "
            f"{listed(again, limit=3)}."
        )
    return Named(agents, tuple(runs), tuple(notes))


def _differing(logs: Sequence[Identity]) -> dict[str, list[str]]:
    """For each model, the settings that differ between logs of the same items."""
    groups: dict[tuple[str, str], list[dict[str, str]]] = {}
    found: dict[str, dict[str, None]] = {}
    for log in logs:
        groups.setdefault((log.model, log.items), []).append(dict(log.settings))
        found.setdefault(log.model, {})
    for (model, _), settings in groups.items():
        keys = dict.fromkeys(key for one in settings for key in one)
        differ = [key for key in keys if len({one.get(key) for one in settings}) > 1]
        found[model].update(dict.fromkeys(differ))
    return {model: list(keys) for model, keys in found.items()}


def _agent(log: Identity, keys: Sequence[str]) -> str:
    settings = dict(log.settings)
    told = ", ".join(f"{key}={settings[key]}" for key in keys if key in settings)
    return f"{log.model} ({told})" if told else log.model


def with_items(rows: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Name the item of each row (`log`, `model`, `items`, `id`, `content`, `trial`) in a column `task`.

    Where a row says what its item contains, items are the same that contain the same, whatever their
    id, and items of one id that contain something else are told apart.

    >>> rows = pl.DataFrame({"log": [0, 1, 1], "model": "m", "items": "arc", "id": ["1", "1", "2"],
    ...                      "content": ["a", "b", "a"], "trial": 0})
    >>> with_items(rows)[0]["task"].to_list()
    ['arc/1', 'arc/1#b', 'arc/1']
    """
    rows = rows.with_columns(
        # What a data set holds twice is two items.
        twin=pl.int_range(pl.len()).over("log", "model", "items", "content", "trial")
    )
    names = _by_content(rows.filter(pl.col("content").is_not_null()))
    rows = rows.join(names, on=_ITEM, how="left", maintain_order="left")
    rows = rows.with_columns(item_id=pl.coalesce("item_id", "id"))
    items = pl.col("items").cast(pl.String)
    bare = (items == "") | (pl.col("item_id") == "")
    joined = items + pl.when(bare).then(pl.lit("")).otherwise(pl.lit("/"))
    others = names.filter(pl.col("again") > 0)["item_id"]
    notes: tuple[str, ...] = ()
    if len(others):
        notes = (
            f"{counted(len(others), 'item')} of an id that stands for something else in another log "
            f"{'is' if len(others) == 1 else 'are'} told apart by content: {listed(others, limit=3)}.",
        )
    return rows.drop("twin", "again").with_columns(
        task=(joined + pl.col("item_id")).cast(pl.Categorical)
    ), notes


def _by_content(rows: pl.DataFrame) -> pl.DataFrame:
    """One name for each item: the first id it has, and some of its hash where that is another's too."""
    names = rows.group_by(_ITEM, maintain_order=True).agg(item_id=pl.col("id").first())
    again = pl.int_range(pl.len()).over("items", "item_id")
    told_apart = pl.col("item_id") + "#" + pl.col("content").str.slice(0, _HASH_LETTERS)
    names = names.with_columns(again=again)
    names = names.with_columns(
        item_id=pl.when(pl.col("again") == 0).then("item_id").otherwise(told_apart)
    )
    still = pl.int_range(pl.len()).over("items", "item_id")
    numbered = pl.col("item_id") + "." + still.cast(pl.String)
    return names.with_columns(item_id=pl.when(still == 0).then("item_id").otherwise(numbered))
