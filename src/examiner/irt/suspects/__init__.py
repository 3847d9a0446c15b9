"""Tasks that deserve a look: how they discriminate, which repeat each other, which are unsteady."""
