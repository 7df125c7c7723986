"""Millions of texts: restartable jobs on one machine, or on a Ray cluster."""
