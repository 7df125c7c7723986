"""One public format, one file."""
