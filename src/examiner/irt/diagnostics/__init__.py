"""What a fit leaves unexplained: by task, by agent, by pair of tasks, and on cells it has not seen."""
