"""Fuzzer: mutated inputs, targets that read them, and limits on time and memory."""
