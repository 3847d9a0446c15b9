"""All SQL of the ledger: jobs, episodes and checkpoints of a run; written by one driver, read by all.

Whoever opens it sees first whether it is as it was written; what is whole of a damaged one can be saved.
"""

from examiner.ledger.contents import Account as Account
from examiner.ledger.contents import Checkpoint as Checkpoint
from examiner.ledger.contents import Episode as Episode
from examiner.ledger.contents import JobRecord as JobRecord
from examiner.ledger.contents import Phase as Phase
from examiner.ledger.contents import PlayEnd as PlayEnd
from examiner.ledger.ledger import Ledger as Ledger
from examiner.ledger.readers import LedgerState as LedgerState
from examiner.ledger.readers import export as export
from examiner.ledger.readers import ledger_results as ledger_results
from examiner.ledger.readers import ledger_state as ledger_state
from examiner.ledger.repair import Repair as Repair
from examiner.ledger.repair import repair as repair
