"""Plural forms in messages."""


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun in singular or plural; the default plural ends in -s.

    >>> pluralize(1, "pair"), pluralize(1204, "pair"), pluralize(0, "summary", "summaries")
    ('1 pair', '1,204 pairs', '0 summaries')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
