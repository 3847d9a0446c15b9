"""What planning agents share: a forward model with a budget, trees, sequences of actions, novelty."""
