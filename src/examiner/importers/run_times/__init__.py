"""The rows of runs along a time: their order, copies, runs that have no name, and their spacing."""
