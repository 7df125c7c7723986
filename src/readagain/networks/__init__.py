"""Layers, encoders, decoders, outputs; one builder."""
