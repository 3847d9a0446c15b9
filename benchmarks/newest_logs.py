"""Claim: logs that the newest inspect_ai and lm-evaluation-harness write are read as they were scored.

Installs the newest versions of both into a temporary environment (or takes `--python`, which has them); a
model without weights answers twenty made-up questions in each. Compares the accuracy in the harness's
own results with the mean of what examiner reads, and the number of items. Reports the versions.
Run: python benchmarks/newest_logs.py [--python VENV/bin/python] [--only inspect|lm-eval]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
import warnings
from pathlib import Path

import numpy as np

import examiner as ex

QUESTIONS = 20
INSPECT = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver

@solver
def calculator():
    async def solve(state, generate):  # without the model, whose tokens would be counted by a download
        number = int(state.sample_id[1:])
        state.output = ModelOutput.from_content("mockllm/model", str(2 * number if number % 3 else -1))
        return state
    return solve

samples = [Sample(id=f"q{n}", input=f"What is {n} + {n}?", target=str(2 * n)) for n in range(QUESTIONS)]
for form in ("eval", "json"):
    eval(Task(dataset=samples, solver=calculator(), scorer=match()), model="mockllm/model",
         log_dir=f"{sys.argv[1]}/{form}", log_format=form, display="none")
"""
TASK = """
task: doubles
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/doubles.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: "{{choices}}"
doc_to_target: "{{answer}}"
metric_list: [{metric: acc}]
"""


def inspect_accuracies(python: str, folder: Path) -> dict[Path, float]:
    """Write logs with inspect_ai, and return each with the accuracy in its own header."""
    code = INSPECT.replace("QUESTIONS", str(QUESTIONS))
    subprocess.run([python, "-c", code, str(folder)], check=True, capture_output=True)
    read_header = "import sys; from inspect_ai.log import read_eval_log as r; " + (
        "print(r(sys.argv[1]).results.scores[0].metrics['accuracy'].value)"
    )
    logs = [path for path in sorted(folder.glob("*/*")) if path.suffix in (".eval", ".json")]
    return {
        log: float(subprocess.check_output([python, "-c", read_header, str(log)])) for log in logs
    }


def lm_eval_accuracies(python: str, folder: Path) -> dict[Path, float]:
    """Write samples with lm-evaluation-harness, and return them with the accuracy in its results."""
    questions = [
        {"question": f"{n} + {n} =", "choices": [str(2 * n), str(n)], "answer": n % 2}
        for n in range(QUESTIONS)
    ]
    (folder / "doubles.jsonl").write_text("\n".join(map(json.dumps, questions)))
    (folder / "doubles.yaml").write_text(TASK.replace("FOLDER", str(folder)))
    words = [
        "-m",
        "lm_eval",
        "--model",
        "dummy",
        "--tasks",
        "doubles",
        "--include_path",
        str(folder),
    ]
    words += ["--output_path", str(folder / "out"), "--log_samples"]
    subprocess.run([python, *words], check=True, capture_output=True)
    (samples,) = (folder / "out").glob("**/samples_*.jsonl")
    (results,) = (folder / "out").glob("**/results_*.json")
    return {samples: json.loads(results.read_bytes())["results"]["doubles"]["acc,none"]}


def main() -> int:
    """Print one line per log, and return how many differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python")
    parser.add_argument("--only", choices=["inspect", "lm-eval"])
    given = parser.parse_args()
    harnesses = {
        "inspect": ("inspect_ai", inspect_accuracies),
        "lm-eval": ("lm_eval", lm_eval_accuracies),
    }
    chosen = [given.only] if given.only else list(harnesses)
    different = 0
    with tempfile.TemporaryDirectory() as temporary:
        python = given.python
        if python is None:
            venv.create(Path(temporary) / "environment", with_pip=True)
            python = str(Path(temporary) / "environment" / "bin" / "python")
            packages = [harnesses[name][0] for name in chosen]
            subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        for name in chosen:
            package, write = harnesses[name]
            version = f"import importlib.metadata as m; print(m.version('{package}'))"
            folder = Path(temporary) / name
            folder.mkdir()
            print(package, subprocess.check_output([python, "-c", version], text=True).strip())
            for log, accuracy in write(python, folder).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    results = ex.read(log)
                mean = float(np.mean(results.measure()))
                same = abs(mean - accuracy) < 1e-9 and len(results.tasks) == QUESTIONS
                different += not same
                print(
                    f"{log.name}: {'equal' if same else 'DIFFERENT'}, {len(results.tasks)} items, {mean} "
                    f"and {accuracy}"
                )
    return different


if __name__ == "__main__":
    sys.exit(main())
