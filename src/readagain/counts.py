"""Counts as people read them: the number, and its noun in the right form."""


def counted(number: int, noun: str, several: str = "") -> str:
    """Say how many there are of something.

    Args:
        number: how many.
        noun: what one of them is called.
        several: what more of them are called, where that is not the noun with an s.

    >>> counted(1, "pair"), counted(1204, "pair"), counted(0, "summary", "summaries")
    ('1 pair', '1,204 pairs', '0 summaries')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"
