"""What users and files give, checked: names, arrays, and records of a declared shape."""

from examiner.checking.outside import at_most as at_most
from examiner.checking.outside import is_pipe as is_pipe
from examiner.checking.outside import open_outside as open_outside
from examiner.checking.outside import read_outside as read_outside
from examiner.checking.records import Axes as Axes
from examiner.checking.records import Bounds as Bounds
from examiner.checking.records import ShapeError as ShapeError
from examiner.checking.records import Wanted as Wanted
from examiner.checking.records import from_record as from_record
from examiner.checking.records import settle as settle
from examiner.checking.records import to_record as to_record
from examiner.checking.values import Floats as Floats
from examiner.checking.values import Randomness as Randomness
from examiner.checking.values import check_finite as check_finite
from examiner.checking.values import check_known as check_known
from examiner.checking.values import check_names as check_names
from examiner.checking.values import check_number as check_number
from examiner.checking.values import check_numbers as check_numbers
from examiner.checking.values import check_squares as check_squares
from examiner.checking.values import generator as generator
from examiner.checking.values import is_binary as is_binary
from examiner.checking.values import known_name as known_name
from examiner.checking.values import names_of as names_of
from examiner.checking.values import read_only as read_only
from examiner.checking.values import seed_of as seed_of
from examiner.checking.values import smallest_unsigned as smallest_unsigned
