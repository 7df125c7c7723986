"""Beam search over any `StepModel`: hypotheses, constraints, scores and reranking."""
