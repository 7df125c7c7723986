"""Restartable jobs that summarize millions of texts, on one machine or a Ray cluster."""
