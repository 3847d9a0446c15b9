"""Tasks flagged for review: how they discriminate, which repeat each other, which are unsteady."""
