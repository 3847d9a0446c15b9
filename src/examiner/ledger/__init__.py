"""All SQL of the ledger: jobs, episodes and checkpoints of a run; written by one driver, read by all."""

from examiner.ledger.accounts import Account, Episode, JobRecord, Phase
from examiner.ledger.checkpoints import Checkpoint
from examiner.ledger.ledger import Ledger
from examiner.ledger.reading import LedgerState, export, ledger_results, ledger_state

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
