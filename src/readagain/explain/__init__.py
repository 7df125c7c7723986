"""Explanations of summaries: HTML page, plot, terminal and JSON."""
