"""How sure estimates are: the observed information, intervals, and draws."""
