"""TOPIARY, a baseline without a neural network: it trims the first sentence by rules."""
