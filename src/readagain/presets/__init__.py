"""One file per row of the tables."""
