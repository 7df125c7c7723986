"""Encoders: one pass, two passes, and two passes over several sentences."""
