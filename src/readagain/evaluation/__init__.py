"""Evaluation nobody has to doubt: a system on a data set, scored, described and shown."""
