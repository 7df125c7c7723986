"""ROUGE-1.5.5, exactly."""
