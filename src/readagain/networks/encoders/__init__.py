"""Readers of a source: once, twice, or several sentences twice."""
