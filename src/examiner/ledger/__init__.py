"""All SQL of the ledger: jobs, episodes, checkpoints; written by the arena, read by the importers."""
