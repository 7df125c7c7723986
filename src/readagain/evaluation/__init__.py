"""Evaluation of systems on data sets: scores, statistics, reports, tuning."""
