"""The rows of runs along a time: their order, copies, runs that have no name, and their spacing."""

from examiner.importers.run_times.arranged import Arranged as Arranged
from examiner.importers.run_times.arranged import arrange as arrange
from examiner.importers.run_times.rows import UNTIMED as UNTIMED
from examiner.importers.run_times.rows import TooFewTimesError as TooFewTimesError
from examiner.importers.run_times.rows import UnclearTimeError as UnclearTimeError
from examiner.importers.run_times.spacing import FRAMES_PER_STEP as FRAMES_PER_STEP
