"""Validation on held-out agents: who is held out, what each fold predicts, and the figures that follow."""
