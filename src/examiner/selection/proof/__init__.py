"""Proof on held-out agents: who is held out, what each fold says, and the figures that follow."""
