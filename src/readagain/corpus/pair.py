"""The record everything shares: a text and its headline, or what was wrong with it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its headline, raw: own case, digits and punctuation.

    `references` holds every human summary where a text has several (DUC has four); the headline
    is then the first of them.
    """

    text: str
    headline: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InvalidRecord:
    """A record that cannot be used: where it stands, and what is wrong with it."""

    where: str
    reason: str
