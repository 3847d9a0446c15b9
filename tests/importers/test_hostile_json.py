"""JSON that is nested deeply or has very many keys: refused in a sentence, or read in linear time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import examiner as ex

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def test_deep_nesting_is_refused_in_a_sentence_before_it_fills_the_memory(tmp_path: Path):
    record = f'{{"agent": "a", "task": "t", "score": 1, "more": {nested(650)}}}'
    (tmp_path / "deep.json").write_text(f"[{record}]")
    (tmp_path / "deep.ndjson").write_text(f"{record}\n")
    read = (
        "import sys, examiner as ex\nfor path in sys.argv[1:]:\n    try:\n        ex.read(path)\n"
    )
    read += "    except ex.InputError as problem:\n        print(problem)"
    paths = sorted(map(str, tmp_path.iterdir()))
    command = [sys.executable, "-c", read, *paths]  # which a fault of polars would end by a signal
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("nested in each other more than 100 levels deep") == 2


def test_brackets_in_texts_and_lines_that_are_cut_off_are_no_nesting(tmp_path: Path):
    odd = '[{"' * 200 + "\\"
    line = json.dumps({"agent": "a", "task": odd, "score": 1})
    path = tmp_path / "x.ndjson"
    path.write_text("\n".join([line] * 3) + "\n")
    assert ex.read(path).tasks == (odd,)
    path.write_text("\n".join(['{"agent": "a"'] * 300))
    with pytest.raises(ex.InputError, match="line 1 is not a whole JSON object"):
        ex.read(path)


def test_a_key_twice_is_refused_however_it_is_written(tmp_path: Path):
    other = '{"agent": "b", "task": "t", "score": 1, "kind": "null"}'
    for repeated in ('"score": 2', '"score" : 2', '"sc\\u006fre": 2', '"score": null'):
        path = tmp_path / "x.ndjson"
        path.write_text(f'{{"agent": "a", "task": "t", "score": 1, {repeated}}}\n{other}\n')
        with pytest.raises(ex.InputError, match="has the key 'score' twice in one object"):
            ex.read(path)


def seconds_of_keys(folder: Path, letters: int) -> float:
    """CPU time to read 30 lines, each with 60 keys of its own and a text of some letters."""
    path = folder / f"{letters}.ndjson"
    records = [
        {"agent": f"a{line}", "task": "t", "score": 1.0, "text": "x" * letters}
        | {f"k{line}_{key}": key for key in range(60)}
        for line in range(30)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    began = time.process_time()
    ex.read(path)
    return time.process_time() - began


def test_many_different_keys_are_not_each_looked_for_in_the_whole_text(tmp_path: Path):
    seconds_of_keys(tmp_path, 10)
    short, long = (min(seconds_of_keys(tmp_path, size) for _ in range(2)) for size in (10, 100_000))
    assert long < 3 * short, (
        "the 1,800 keys are the same, and three megabytes of text is read in no time"
    )


def seconds_to_describe(tasks: int) -> float:
    results = ex.Results.from_dict(
        {
            "agent": ["a"] * tasks,
            "task": [f"t{task}" for task in range(tasks)],
            "score": [1.0] * tasks,
        }
    )
    began = time.process_time()
    results.describe()
    return time.process_time() - began


def test_describing_twice_the_tasks_takes_about_twice_the_time():
    seconds_to_describe(100)
    few, many = (min(seconds_to_describe(tasks) for _ in range(2)) for tasks in (10_000, 40_000))
    assert many < 8 * few


def test_an_archive_with_two_summaries_is_refused(tmp_path: Path):
    path = tmp_path / "x.eval"
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "w") as archive:
        about = {"version": 2, "status": "success", "eval": {"task": "arc", "model": "m"}}
        archive.writestr("header.json", json.dumps(about))
        for value in "CI":
            summary = [{"id": 1, "epoch": 1, "scores": {"match": value}}]
            archive.writestr("summaries.json", json.dumps(summary))
    with pytest.raises(ex.InputError, match=r"x\.eval' holds 'summaries.json' more than once"):
        ex.read(path)


def test_names_that_look_the_same_in_other_characters_are_said():
    table = {"agent": ["caf\u00e9", "cafe\u0301"], "task": ["t", "t"], "score": [1, 2]}
    results = ex.read(table)
    assert len(results.agents) == 2
    (note,) = results.notes
    assert note.startswith("Some agents look the same and are written with different Unicode")
    assert r"'caf\xe9', 'cafe\u0301'" in note
