"""Indicators of agents beside ability: regularity, generality, curves and dominance."""
