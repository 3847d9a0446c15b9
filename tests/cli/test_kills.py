"""Killed while writing, a command leaves the old file or the new one, never half of either."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import examiner as ex

OLD = "the old file, which must survive"


def kill_at_random(command: list[str], folder: Path, target: Path, tries: int) -> tuple[int, int]:
    """Kill a command at random moments; return how often the file was the old and the new one."""
    whole = subprocess.run(command, cwd=folder, capture_output=True)
    assert whole.returncode == 0
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True)
    usual = time.perf_counter() - started
    new = target.read_bytes()
    moments = random.Random(0)
    old_seen = new_seen = 0
    for _ in range(tries):
        target.write_text(OLD)
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(usual * moments.uniform(0.3, 1.1))
        process.send_signal(signal.SIGKILL)
        process.wait()
        content = target.read_bytes()
        assert content in (OLD.encode(), new)
        old_seen += content == OLD.encode()
        new_seen += content == new
    return old_seen, new_seen


@pytest.mark.slow
@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "report.html"])
def test_kill_never_leaves_a_broken_file(tmp_path: Path, target: str) -> None:
    values = np.random.default_rng(0).normal(size=(200, 200, 20))
    ex.Results.from_numpy(values).save(tmp_path / "in.parquet")
    command = [sys.executable, "-m", "examiner"]
    if target == "report.html":
        # Sections without resampling: what matters here is the writing, not the statistics.
        command += ["report", "in.parquet", "-o", target, "--sections", "ranking,heatmap"]
    else:
        command += ["convert", "in.parquet", target]
    old, new = kill_at_random(command, tmp_path, tmp_path / target, tries=20)
    assert old and old + new == 20


def test_a_failing_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text(OLD)
    from examiner.results import atomic_path

    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == OLD
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_ends_with_a_sentence(tmp_path: Path) -> None:
    from examiner.results import atomic_path

    full = OSError(28, "No space left on device")
    message = r"No space left on device\. Check the name, the free space"
    with pytest.raises(ex.InputError, match=message), atomic_path(tmp_path / "out.txt"):
        raise full
    assert not list(tmp_path.iterdir())


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    from examiner.results import write_text

    target, link = tmp_path / "real.txt", tmp_path / "link.txt"
    target.write_text(OLD)
    target.chmod(0o640)
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
