"""Formats of input files: text, lines, JSONL, CSV and Parquet, with compression and encodings."""
