"""Strings, words and ids: what the models read, and what people read."""
