"""Make the reference numbers of this folder with rliable, in an environment of its own.

    python -m venv rliable-env
    rliable-env/bin/pip install rliable "pandas<3"
    rliable-env/bin/python tests/reference/rliable/make_reference.py

The scores are written with the results, so that nothing depends on a random number generator.
"""

import importlib.metadata
import json
import platform
from pathlib import Path

import numpy as np

REPS = 20_000


def aggregates(scores: np.ndarray) -> np.ndarray:
    from rliable import metrics  # not installed where the tests are collected

    return np.array(
        [
            metrics.aggregate_mean(scores),
            metrics.aggregate_median(scores),
            metrics.aggregate_iqm(scores),
            metrics.aggregate_optimality_gap(scores),
        ]
    )


def main() -> None:
    from rliable import library, metrics

    rng = np.random.default_rng(2021)
    level = rng.normal(size=(1, 12))
    scores = {
        "better": (level + 0.4 + rng.normal(size=(5, 12))).round(6),
        "worse": (level + rng.normal(size=(4, 12))).round(6),
        "skewed": rng.lognormal(size=(3, 12)).round(6),
        "tied": rng.integers(0, 3, size=(5, 12)).astype(float),
    }
    np.random.seed(0)  # noqa: NPY002  # rliable draws from numpy's global generator
    names = ["mean", "median", "iqm", "optimality_gap"]
    points, intervals = library.get_interval_estimates(scores, aggregates, reps=REPS)
    pairs = {f"{a},{b}": (scores[a], scores[b]) for a, b in PAIRS}
    improvement = {
        key: float(metrics.probability_of_improvement(x, y)) for key, (x, y) in pairs.items()
    }
    _, bounds = library.get_interval_estimates(
        pairs, metrics.probability_of_improvement, reps=IMPROVEMENT_REPS
    )
    thresholds = np.linspace(-2, 3, 11)
    runs, bands = library.create_performance_profile(scores, thresholds, reps=2000)
    averages, _ = library.create_performance_profile(
        scores, thresholds, use_score_distribution=False, reps=1
    )
    versions = ("rliable", "numpy", "scipy", "arch", "pandas")
    content = {
        "made_by": "tests/reference/rliable/make_reference.py",
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in versions},
        "scores": {name: values.tolist() for name, values in scores.items()},
        "aggregates": names,
        "reps": REPS,
        "points": {name: values.tolist() for name, values in points.items()},
        "percentile": {name: values.tolist() for name, values in intervals.items()},
        "improvement": improvement,
        "improvement_reps": IMPROVEMENT_REPS,
        "improvement_percentile": {k: np.ravel(v).tolist() for k, v in bounds.items()},
        "thresholds": thresholds.tolist(),
        "run_profiles": {name: values.tolist() for name, values in runs.items()},
        "run_profile_bands": {name: values.tolist() for name, values in bands.items()},
        "profile_reps": 2000,
        "average_profiles": {name: values.tolist() for name, values in averages.items()},
    }
    path = Path(__file__).with_name("reference.json")
    path.write_text(json.dumps(content, indent=1) + "\n")


PAIRS = [("better", "worse"), ("better", "skewed"), ("tied", "better")]
IMPROVEMENT_REPS = 2000

if __name__ == "__main__":
    main()
