"""Pairs on disk."""
