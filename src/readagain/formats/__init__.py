"""Record formats: text, lines, JSONL, CSV, Parquet and feeds, with compression and encodings."""
