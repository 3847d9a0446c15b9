"""Fits of shards at URLs equal those of the same files here, and what goes wrong is one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex
from engines.like_fits import MATRIX
from engines.object_store import Store, serving
from examiner.engines import engine_for
from examiner.engines.memory import size_of_shards
from examiner.engines.remote_objects import unreadable_object

SECRET = "hush"
TIDY = MATRIX.to_polars().unpivot(index="agent", variable_name="task", value_name="score")
PARTS = [TIDY.filter(pl.col("agent").is_in(MATRIX.agents[part::3])) for part in range(3)]


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with serving() as there, pytest.MonkeyPatch.context() as patched:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patched.delenv(name)
        patched.setenv("AWS_ENDPOINT_URL", there.address)
        patched.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patched.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patched.setenv("AWS_REGION", "us-east-1")
        for number, part in enumerate(PARTS):
            there.put(f"board/day/part-{number}.parquet", part)
        yield there


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    for number, part in enumerate(PARTS):
        part.write_parquet(tmp_path / "here" / f"part-{number}.parquet")
    return tmp_path / "here"


def fitted(source: object, **how: object) -> ex.irt.IRTFit:
    return ex.irt.fit(ex.engines.sharded(source, **how), starts=1)  # type: ignore[arg-type]


def assert_equal(there: ex.irt.IRTFit, here: ex.irt.IRTFit) -> None:
    assert there.log_likelihood == pytest.approx(here.log_likelihood, rel=1e-12)
    assert there.abilities.agents == here.abilities.agents
    np.testing.assert_allclose(there.items.slope, here.items.slope, rtol=1e-12)
    np.testing.assert_allclose(there.abilities.ability, here.abilities.ability, rtol=1e-12)
    np.testing.assert_allclose(there.abilities.error, here.abilities.error, rtol=1e-12)


def refused(source: object, **how: object) -> str:
    with pytest.raises(ex.InputError) as problem:
        ex.engines.sharded(source, **how)  # type: ignore[arg-type]
    assert SECRET not in str(problem.value)
    return str(problem.value)


def test_a_pattern_a_folder_and_a_list_at_urls_are_fitted_as_files_are(
    store: Store, folder: Path
) -> None:
    here = fitted(folder)
    store.objects["/board/day/_SUCCESS"] = b""
    store.objects["/board/day/_temporary/part-0.parquet"] = b"half of it"
    assert_equal(fitted("s3://board/day/*.parquet"), here)
    del store.objects["/board/day/_temporary/part-0.parquet"]
    assert_equal(fitted("s3://board/day/"), here)
    one = "board/day/part-1.parquet"
    mixed = [folder / "part-0.parquet", f"s3://{one}", (folder / "part-2.parquet").as_uri()]
    assert_equal(fitted(mixed), here)
    mixed[1] = f"{store.address}/{one}?token={SECRET}"
    assert_equal(fitted(mixed), here)
    assert_equal(fitted(f"{folder.as_uri()}/*.parquet"), here)


def test_names_in_folders_of_a_store_are_columns(store: Store, tmp_path: Path) -> None:
    agents = MATRIX.agents[:12]
    for agent in agents:
        part = TIDY.filter(pl.col("agent") == agent).drop("agent")
        store.put(f"parted/agent={agent}/0.parquet", part)
    there = ex.engines.sharded("s3://parted/").whole
    assert sorted(there.agents) == sorted(agents)
    TIDY.filter(pl.col("agent").is_in(agents)).write_parquet(tmp_path / "whole.parquet")
    here = ex.engines.sharded(tmp_path / "whole.parquet").whole
    assert dict(zip(there.tasks, there.won, strict=True)) == dict(
        zip(here.tasks, here.won, strict=True)
    )
    assert size_of_shards("s3://parted/")[:2] == (12, 30)


def test_objects_are_decoded_once_and_not_asked_for_in_passes(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    urls = ["s3://board/day/part-0.parquet", f"{store.address}/board/day/part-1.parquet?k={SECRET}"]
    seen: list[object] = []
    for _ in range(2):
        source = ex.engines.sharded(
            urls, cache=tmp_path / "cache", progress=lambda *told: seen.append(told)
        )
    assert len(seen) == 2
    store.asked.clear()
    fit = ex.irt.fit(source, starts=1)
    assert not store.asked
    assert any("2 shards at a URL, decoded before" in warning for warning in fit.notes)
    note = next((tmp_path / "cache").glob("*/note.json")).read_text()
    assert SECRET not in note
    assert json.loads(note)["places"] == [urls[0], f"{store.address}/board/day/part-1.parquet"]


def test_objects_with_other_rows_or_columns_are_decoded_again(store: Store, tmp_path: Path) -> None:
    url, cache = "s3://again/x.parquet", tmp_path / "cache"
    trials = []
    for more in (TIDY, pl.concat([TIDY, PARTS[0]]), TIDY.with_columns(pl.col("score").cast(int))):
        store.put("again/x.parquet", more)
        trials.append(ex.engines.sharded(url, cache=cache).whole.tried.sum())
    assert trials == [len(TIDY), len(TIDY) + len(PARTS[0]), len(TIDY)]


def test_an_object_that_changes_while_it_is_decoded_is_named(store: Store, tmp_path: Path) -> None:
    store.put("moving/x.parquet", TIDY)

    def changed(*_: object) -> None:
        store.put("moving/x.parquet", PARTS[0])

    cache = tmp_path / "cache"
    said = refused("s3://moving/x.parquet", cache=cache, progress=changed)
    assert said.startswith("The shard 's3://moving/x.parquet' was changed while it was used.")
    assert not list(cache.iterdir())


def test_what_is_wrong_with_objects_is_said_in_a_sentence(store: Store, tmp_path: Path) -> None:
    store.put("odd/other/a.parquet", TIDY)
    store.put("odd/other/b.parquet", TIDY.rename({"score": "wins"}))
    store.objects["/odd/damaged/a.parquet"] = store.objects["/odd/other/a.parquet"][:-40]
    store.objects["/odd/table.csv"] = b"agent,task,score\na,t,1\n"
    store.put("odd/p-00001-of-00002.parquet", TIDY)
    nothing = "There is no Parquet file at {}. Check the URL; a folder's ends in '/'."
    for url in (
        "s3://odd/none/",
        "s3://odd/none/*.parquet",
        "s3://odd/none",
        "s3://odd/none.parquet",
    ):
        assert refused(url) == nothing.format(repr(url))
    for url in ("s3://nobody/", "s3://nobody/x.parquet"):
        assert refused(url) == f"There is no such bucket as that of {url!r}. Check its name."
    for url in ("s3://closed/", "s3://closed/x.parquet"):
        assert refused(url).startswith(
            f"No access to {url!r}: credentials are missing, or not enough."
        )
    for url in ("s3://odd/damaged/", "s3://odd/damaged/a.parquet", "s3://odd/table.csv"):
        assert refused(url).startswith(
            f"Cannot read what lies at {url!r}: it is damaged, or no Parquet"
        )
    assert "/b.parquet' has another schema than 's3://odd/other/a.p" in refused("s3://odd/other/")
    assert "of-2, 1 are there: number 2 is missing" in refused("s3://odd/p-*.parquet")
    assert "made a Path, which drops a slash" in refused(Path("s3://odd/other/"))
    assert "kept in a folder" in refused("s3://board/day/", cache=Path("s3://odd/cache"))
    web = f"{store.address}/closed/x.parquet?token={SECRET}"
    assert "Give a URL that is signed" in refused(web.replace("//", f"//me:{SECRET}@", 1))
    assert "which files lie at 'https://host/*.parquet'" in refused(
        f"https://{SECRET}@host/*.parquet"
    )
    assert refused("ftp://host/x.parquet").startswith("Unknown scheme 'ftp'. ")
    local = tmp_path / "x.parquet"
    assert "x.parquet' is missing" in refused(local.as_uri())


def test_a_store_that_cannot_be_reached_is_said_with_its_cause_alone() -> None:
    told = (
        f"Generic S3 error: GET http://h/x?sig={SECRET} in 4s, after 8 retries - error sending request"
        "\n\nCaused by:\n    0: client error (Connect)\n    1: Connection refused (os error 111)"
    )
    said = (
        "Cannot reach the store of 's3://board/x.parquet' ({}). Check the network and the endpoint."
    )
    problem = unreadable_object("s3://board/x.parquet", ConnectionRefusedError(told))
    assert str(problem) == said.format("Connection refused (os error 111)")
    busy = OSError(f"GET http://h/x?sig={SECRET} - non-2xx status code: 503 Slow Down: <xml>")
    assert str(unreadable_object("s3://board/x.parquet", busy)) == said.format("503 Slow Down")
    unkeyed = OSError("Generic MicrosoftAzure error: Account must be specified (path: az://b/x)")
    assert "Set AZURE_STORAGE_ACCOUNT_NAME" in str(unreadable_object("abfss://b@a/x", unkeyed))


def test_a_url_is_fitted_from_shards_and_never_read_into_memory() -> None:
    assert engine_for("s3://nobody/asks/for/it/") == "shards"
    with pytest.raises(ex.InputError, match=r"'https://host/a.csv' into memory: of URLs, .*shards"):
        ex.read(f"https://me:{SECRET}@host/a.csv?token={SECRET}")
