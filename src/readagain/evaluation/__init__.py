"""Evaluation of summarization systems on data sets: scores, statistics, reports, tuning."""
