"""Difficulty explained by attributes of tasks, jointly with abilities (papers/002, section VI)."""
