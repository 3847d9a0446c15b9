"""All SQL of the ledger: jobs, episodes and checkpoints of a run; written by one driver, read by all.

Whoever opens it first checks that it is as it was written; what can be read of a damaged one is saved.
"""

from examiner.ledger.ledger import Ledger as Ledger
from examiner.ledger.readers import LedgerState as LedgerState
from examiner.ledger.readers import export as export
from examiner.ledger.readers import ledger_results as ledger_results
from examiner.ledger.readers import ledger_state as ledger_state
from examiner.ledger.records import Account as Account
from examiner.ledger.records import Checkpoint as Checkpoint
from examiner.ledger.records import Episode as Episode
from examiner.ledger.records import JobRecord as JobRecord
from examiner.ledger.records import Phase as Phase
from examiner.ledger.records import PlayEnd as PlayEnd
from examiner.ledger.repair import Repair as Repair
from examiner.ledger.repair import repair as repair
