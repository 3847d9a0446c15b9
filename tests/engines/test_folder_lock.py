"""Several processes and one folder of packed responses: one decodes, the others wait or are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import examiner as ex
from engines.like_fits import MATRIX, holed
from examiner.engines.folder_lock import FolderLock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks are of Unix")

FIT = """
import sys
import examiner as ex
sys.stdin.readline()
source = ex.engines.sharded(sys.argv[1], cache=sys.argv[2])
print(ex.irt.fit(source, starts=1, errors=False).log_likelihood)
"""


def test_processes_that_decode_into_one_folder_at_once_agree(tmp_path: Path) -> None:
    path = holed(MATRIX, 0.6).save(tmp_path / "t.parquet")
    expected = ex.irt.fit(ex.engines.sharded(path), starts=1, errors=False).log_likelihood
    for turn in range(2):
        words = [sys.executable, "-c", FIT, str(path), str(tmp_path / f"cache {turn}")]
        jobs = [
            subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        for job in jobs:
            assert job.stdin is not None
            job.stdin.write("go\n")
            job.stdin.flush()
        said = [float(job.communicate()[0]) for job in jobs]
        assert said == [pytest.approx(expected, rel=1e-12)] * 3
        again = ex.engines.sharded(path, cache=tmp_path / f"cache {turn}")
        assert ex.irt.fit(again, starts=1, errors=False).log_likelihood == said[0]


def test_a_folder_that_another_process_reads_is_not_written_anew(tmp_path: Path) -> None:
    first, second = (
        holed(MATRIX, share).save(tmp_path / f"{share}.parquet") for share in (0.5, 0.6)
    )
    cache = tmp_path / "cache"
    ex.engines.sharded(first, cache=cache)
    reader = (
        "import sys, time; from pathlib import Path; from examiner.engines.folder_lock import FolderLock; "
        "lock = FolderLock(Path(sys.argv[1])); print(lock.shared(), flush=True); sys.stdin.readline()"
    )
    words = [sys.executable, "-c", reader, str(cache)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "True\n"
        with pytest.raises(ex.InputError, match="holds other responses, which a fit is using"):
            ex.engines.sharded(second, cache=cache)
        ex.engines.sharded(first, cache=cache)  # what lies there may be read by all
        other.communicate("done\n")
    assert FolderLock(cache).alone()
    ex.engines.sharded(second, cache=cache)


@pytest.mark.parametrize("damage", [b"", b"PK", b"[" * 100_000])
@pytest.mark.parametrize("name", ["sums.npz", "note.json"])
def test_damaged_notes_are_decoded_again_or_refused(
    damage: bytes, name: str, tmp_path: Path
) -> None:
    path = holed(MATRIX, 0.6).save(tmp_path / "t.parquet")
    cache = tmp_path / "cache"
    whole = ex.engines.sharded(path, cache=cache).parts.whole
    (cache / name).write_bytes(damage)
    if name == "note.json":
        with pytest.raises(ex.InputError, match="not of decoded shards"):
            ex.engines.sharded(path, cache=cache)
    else:
        assert (ex.engines.sharded(path, cache=cache).parts.whole.won == whole.won).all()
