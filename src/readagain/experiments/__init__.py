"""The paper's tables and figures, rebuilt beside the paper's own numbers."""
