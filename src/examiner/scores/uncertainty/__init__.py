"""How sure one can be: runs and tasks resampled, and what that says of aggregates, pairs and ranks."""
