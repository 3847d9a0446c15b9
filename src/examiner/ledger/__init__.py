"""All SQL of the ledger: jobs, episodes and checkpoints of a run; written by one driver, read by all."""

from examiner.ledger.contents import (
    Account,
    Checkpoint,
    Episode,
    JobRecord,
    LedgerState,
    Phase,
    export,
    ledger_results,
    ledger_state,
)
from examiner.ledger.ledger import Ledger

__all__ = [
    "Account",
    "Checkpoint",
    "Episode",
    "JobRecord",
    "Ledger",
    "LedgerState",
    "Phase",
    "export",
    "ledger_results",
    "ledger_state",
]
