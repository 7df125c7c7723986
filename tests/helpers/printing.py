"""Printed text of summary tokens."""

from readagain.text.detokenization import add_surfaces, printed_text


def detokenize(tokens, document, **options):
    """Return the printed text of a summary; the options are those of `add_surfaces`."""
    return printed_text(add_surfaces(tokens, document, **options))
