"""Command line, with one module per command."""
