"""Corpora of texts with headlines: readers, filters, splits and prepared shards."""
