"""Commands that play games: `examiner arena run`, `probe`, `flavours` and `profile`."""
