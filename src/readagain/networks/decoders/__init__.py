"""Writers of a summary, word by word."""
