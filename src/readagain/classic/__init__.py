"""Summarizers without a network."""
