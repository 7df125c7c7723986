"""Using a trained model: the folder on disk, its graphs, and the summarizer; no torch."""
