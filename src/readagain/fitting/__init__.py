"""A model of your own: from pairs to a checked model directory with a report."""
