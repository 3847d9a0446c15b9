"""Bad input gets one clear sentence, exit code 2, and nothing written."""

from pathlib import Path

import pytest

CASES = {
    "no such file": (["describe", "missing.csv"], "no such file. Check the path"),
    "unknown data set": (["datasets", "atari-dqm-family"], "Did you mean 'atari-dqn-family'"),
    "not results": (["describe", "atari-typology"], "is a classification, not a table of results"),
    "unknown format": (["describe", "ok.csv", "--format", "xml"], "Unknown format 'xml'"),
    "unknown normaliser": (["report", "ok.csv", "--normalise", "humna"], "Did you mean 'human'"),
    "unknown ending": (["convert", "ok.csv", "out.docx"], "Known endings: '.csv'"),
    "unknown measure": (["describe", "ok.csv", "--measure", "points"], "no column 'points'"),
    "unknown section": (["report", "ok.csv", "--sections", "nothing"], "Unknown section 'nothing'"),
    "item without task": (
        ["describe", "ok.csv", "--item", "level"],
        "An item begins with the task",
    ),
    "odd pattern": (
        ["describe", "ok.csv", "--keep", "dqn"],
        "Write `agent:GLOB`, `task:GLOB`",
    ),
    "nothing like it": (["describe", "ok.csv", "--keep", "agent:z*"], "No agent is like 'z*'"),
    "nothing left": (["describe", "ok.csv", "--drop", "agent:*"], "none would be left"),
    "odd success": (["convert", "ok.csv", "out.csv", "--success", "often"], "Give a number"),
    "no scales": (["convert", "ok.csv", "out.csv", "--normalise", "human"], "Attach scales"),
    "no folder": (["report", "ok.csv", "-o", "none/report.html"], "does not exist. Create it"),
    "a folder": (["report", "ok.csv", "-o", "."], "it is a folder"),
    "unknown option": (["describe", "ok.csv", "--nonsense"], "No such option"),
    "empty": (["describe", "empty.csv"], "is empty"),
    "header only": (["describe", "header.csv"], "has no rows"),
    "no task": (["describe", "notask.csv"], "no column for the task; found 'agent', 'score'"),
    "no measure": (["describe", "nomeasure.csv"], "No measure found among the columns"),
    "a comparison without a value": (
        ["describe", "ok.csv", "--where", "split"],
        "Cannot compare by 'split'. Write it as `--where 'split=test'`, with =, !=, <, <=, > or >=; `a|b` "
        "for several values, `null` for none.",
    ),
    "text": (["describe", "text.csv"], "line 3: The score of row 2 is 'x', not a number"),
    "infinite": (["describe", "infinite.csv"], "line 2: The score of row 1 is inf"),
    "same key": (["describe", "twice.csv"], "Row 2 repeats the key of row 1"),
    "ragged": (["describe", "ragged.csv"], "line 3 has 4 fields, the header has 3"),
    "short": (["describe", "short.csv"], "line 3 has 2 fields, the header has 3"),
    "same column": (["describe", "columns.csv"], "The column name 'pong' appears twice"),
    "only missing": (["describe", "missing_values.csv"], "holds only missing values"),
    "broken parquet": (["describe", "broken.parquet"], "not a whole Parquet file"),
    "cut json": (["describe", "cut.ndjson"], "line 2 is not a whole JSON object"),
    "pickle": (["describe", "a.pickle"], "is a Python pickle"),
    "broken archive": (["describe", "broken.csv.gz"], "cut off or damaged"),
}

FILES = {
    "ok.csv": "agent,task,score\na,t,1\nb,t,2\n",
    "empty.csv": "",
    "header.csv": "agent,task,score\n",
    "notask.csv": "agent,score\na,1\n",
    "nomeasure.csv": "agent,task,colour\na,t,red\n",
    "text.csv": "agent,task,score\na,t,1\nb,t,x\n",
    "infinite.csv": "agent,task,score\na,t,inf\nb,t,1\n",
    "twice.csv": "agent,task,trial,score\na,t,0,1\na,t,0,2\n",
    "ragged.csv": "agent,task,score\na,t,1\nb,t,1,9\n",
    "short.csv": "agent,task,score\na,t,1\nb,t\n",
    "columns.csv": "agent,pong,pong\na,1,2\n",
    "missing_values.csv": "agent,task,score\na,t,\nb,t,NA\n",
    "broken.parquet": "PAR1 and nothing else",
    "cut.ndjson": '{"agent": "a", "task": "t", "score": 1}\n{"agent": "b", "ta',
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "a.pickle").write_bytes(b"\x80\x04\x95\x00.")
    (tmp_path / "broken.csv.gz").write_bytes(b"\x1f\x8b\x08\x00 and nothing else")
    return tmp_path


@pytest.mark.parametrize("case", CASES)
def test_bad_input_ends_with_a_sentence(examiner, files: Path, case: str) -> None:
    arguments, sentence = CASES[case]
    before = sorted(path.name for path in files.iterdir())
    done = examiner(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert sentence in done.stderr.replace("\n", " ").replace("  ", " ")
    assert sorted(path.name for path in files.iterdir()) == before


def test_names_are_printed_without_control_characters(examiner, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("agent,task,score\n\x1b[31mred,[bold]t,1\nb,[bold]t,2\n")
    done = examiner("describe", "odd.csv")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout and "[bold]t" in done.stdout


def test_a_reader_that_leaves_early_is_no_error_worth_a_traceback(tmp_path: Path) -> None:
    import subprocess
    import sys

    command = f"{sys.executable} -m examiner datasets atari-dqn-family | head -1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
