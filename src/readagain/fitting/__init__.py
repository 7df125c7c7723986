"""Training of a model on a user's pairs in one call, with a report on its quality."""
