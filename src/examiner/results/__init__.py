"""What was observed: the long table of results, the matrix made from it, and the border of both."""

from typing import TYPE_CHECKING

from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.results.atari import atari_game as atari_game
from examiner.results.atari import atari_games as atari_games
from examiner.results.attributes import Attributes as Attributes
from examiner.results.attributes import Classification as Classification
from examiner.results.attributes import Provenance as Provenance
from examiner.results.connections import Connections as Connections
from examiner.results.connections import WeakLink as WeakLink
from examiner.results.connections import check_undivided as check_undivided
from examiner.results.connections import connections as connections
from examiner.results.description import Description as Description
from examiner.results.matrix import ResponseMatrix as ResponseMatrix
from examiner.results.scale import Scales as Scales
from examiner.results.scale import TaskScale as TaskScale
from examiner.results.table import Results as Results
from examiner.results.table import check_results as check_results
from examiner.results.table import reads_results as reads_results
from examiner.results.writers import WRITERS as WRITERS
from examiner.results.writers import write as write
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.results.agent_columns import agent_column as agent_column
    from examiner.results.agent_columns import find_agent_column as find_agent_column
    from examiner.results.atari import matched as matched
    from examiner.results.attributes import RowKind as RowKind
    from examiner.results.attributes import Value as Value
    from examiner.results.attributes import announce as announce
    from examiner.results.border import MEASURES as MEASURES
    from examiner.results.border import absent_names as absent_names
    from examiner.results.border import frame_from as frame_from
    from examiner.results.border import is_frame as is_frame
    from examiner.results.border import numbers_in as numbers_in
    from examiner.results.border import pandas_from as pandas_from
    from examiner.results.codes import compact_names as compact_names
    from examiner.results.codes import joined_names as joined_names
    from examiner.results.codes import name_column as name_column
    from examiner.results.codes import number_within as number_within
    from examiner.results.codes import recoded as recoded
    from examiner.results.codes import sorted_rows as sorted_rows
    from examiner.results.connections import MOST_AGENTS as MOST_AGENTS
    from examiner.results.connections import connections_of_blocks as connections_of_blocks
    from examiner.results.connections import divided_sentence as divided_sentence
    from examiner.results.connections import groups_of as groups_of
    from examiner.results.description import html_table as html_table
    from examiner.results.keys import BESIDE_RESULTS as BESIDE_RESULTS
    from examiner.results.keys import CHECKPOINT as CHECKPOINT
    from examiner.results.keys import EVALUATION as EVALUATION
    from examiner.results.keys import ITEM_COLUMNS as ITEM_COLUMNS
    from examiner.results.keys import JUDGES as JUDGES
    from examiner.results.keys import LEARNS as LEARNS
    from examiner.results.keys import TIMES as TIMES
    from examiner.results.keys import content_columns as content_columns
    from examiner.results.keys import labels_like as labels_like
    from examiner.results.keys import numbered_names as numbered_names
    from examiner.results.keys import refuse_row as refuse_row
    from examiner.results.keys import trial_numbers as trial_numbers
    from examiner.results.observed_cells import MOST_OBSERVED as MOST_OBSERVED
    from examiner.results.observed_cells import ObservedCells as ObservedCells
    from examiner.results.observed_cells import few_observed as few_observed
    from examiner.results.ordering import ContentOrder as ContentOrder
    from examiner.results.ordering import Hashes as Hashes
    from examiner.results.ordering import in_order as in_order
    from examiner.results.ordering import matrix_in_content_order as matrix_in_content_order
    from examiner.results.ordering import mixed as mixed
    from examiner.results.ordering import order_of_matrix as order_of_matrix
    from examiner.results.ordering import order_of_results as order_of_results
    from examiner.results.ordering import order_of_table as order_of_table
    from examiner.results.ordering import results_in_content_order as results_in_content_order
    from examiner.results.parquet import RESULTS_SCHEMA as RESULTS_SCHEMA
    from examiner.results.parquet import damaged as damaged
    from examiner.results.parquet import stored_note as stored_note
    from examiner.results.polars_errors import PROBLEMS as PROBLEMS
    from examiner.results.scale import NO_SCALES as NO_SCALES
    from examiner.results.scale import Anchor as Anchor
    from examiner.results.scale import ScaleArrays as ScaleArrays
    from examiner.results.scale import atari_scales as atari_scales
    from examiner.results.storage import atomic_path as atomic_path
    from examiner.results.storage import check_ending as check_ending
    from examiner.results.storage import file_kind as file_kind
    from examiner.results.storage import formula_names as formula_names
    from examiner.results.storage import write_bytes as write_bytes
    from examiner.results.storage import write_text as write_text
    from examiner.results.table import assemble as assemble
    from examiner.results.table import restored as restored
    from examiner.results.writers import check_path as check_path
else:
    __getattr__ = _names_on_demand(__name__)
