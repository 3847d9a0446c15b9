"""`python -m examiner` is the command `examiner`."""

from examiner.cli import main

main()
