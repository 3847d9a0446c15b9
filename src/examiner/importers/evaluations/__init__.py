"""Logs of evaluations of language models: from the samples of many logs to one table of results."""
