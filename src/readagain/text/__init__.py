"""Strings, words and ids."""
