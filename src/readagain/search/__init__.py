"""Beam search over any model that can be stepped, its rules, and the trace of a summary."""
