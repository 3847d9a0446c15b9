"""Training logs: episodes in time, reduced to one value a run, summed up, and followed over frames."""
