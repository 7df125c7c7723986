"""Inference with exported graphs on the CPU, without torch."""
