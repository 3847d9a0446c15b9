"""An audit lists each task in one group at most."""

from __future__ import annotations

import numpy as np

import examiner as ex


def test_four_tasks_in_two_pairs_are_in_one_group_each() -> None:
    rng = np.random.default_rng(0)
    ability = rng.normal(size=(120, 1))
    pairs = np.repeat(rng.normal(size=(120, 2)), 2, axis=1)
    scores = 50 + 20 * ability + 5 * pairs + rng.normal(size=(120, 4))
    groups = ex.irt.audit(ex.Results.from_numpy(scores)).groups
    members = [task for group in groups for task in group.members]
    assert len(members) == len(set(members))
