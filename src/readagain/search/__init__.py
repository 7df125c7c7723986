"""Beam search over any step model: hypotheses, constraints, scoring, reranking."""
