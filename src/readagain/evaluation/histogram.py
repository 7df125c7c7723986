"""How long summaries and references are, as a drawing and as a table behind it."""

from collections import Counter
from collections.abc import Sequence

from readagain.counts import counted

WIDTH, HEIGHT = 720, 220
_LEFT, _BOTTOM, _TOP = 44, 34, 10
_MOST_BARS = 40


def draw_lengths(summaries: Sequence[int], references: Sequence[int]) -> str:
    """Draw the share of summaries and of references that have each number of words, as SVG.

    Lengths beyond the last place are counted there.
    """
    shares = _shares(summaries), _shares(references)
    last = max((length for each in shares for length in each), default=1)
    highest = max(share for each in shares for share in each.values())
    slot = (WIDTH - _LEFT) / (last + 1)
    bars = []
    for kind, each in zip(("summary", "reference"), shares, strict=True):
        offset = 0.08 if kind == "summary" else 0.5
        for length, share in sorted(each.items()):
            height = (HEIGHT - _BOTTOM - _TOP) * share / highest
            bars.append(
                f'<rect class="{kind}" x="{_LEFT + slot * (length + offset):.1f}" '
                f'y="{HEIGHT - _BOTTOM - height:.1f}" width="{slot * 0.42:.1f}" '
                f'height="{height:.1f}"><title>{kind}: {_words(length)}, {share:.1%}'
                "</title></rect>"
            )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Words of summaries and of references; the table below has the numbers">'
        f"{_axes(last, highest, slot)}{''.join(bars)}</svg>"
    )


def length_rows(summaries: Sequence[int], references: Sequence[int]) -> list[tuple[str, str, str]]:
    """Return the numbers behind the drawing: words, share of summaries, share of references."""
    ours, theirs = _shares(summaries), _shares(references)
    return [
        (_name(length), f"{ours.get(length, 0):.1%}", f"{theirs.get(length, 0):.1%}")
        for length in sorted({*ours, *theirs})
    ]


def _shares(lengths: Sequence[int]) -> dict[int, float]:
    counts = Counter(min(length, _MOST_BARS) for length in lengths)
    return {length: count / len(lengths) for length, count in counts.items()}


def _name(length: int) -> str:
    return f"{length} or more" if length == _MOST_BARS else str(length)


def _words(length: int) -> str:
    return f"{_name(length)} words" if length == _MOST_BARS else counted(length, "word")


def _axes(last: int, highest: float, slot: float) -> str:
    base = HEIGHT - _BOTTOM
    step = 5 if last > 12 else 1
    labels = "".join(
        f'<text x="{_LEFT + slot * (length + 0.5):.1f}" y="{base + 16}" text-anchor="middle">'
        f"{length}{'+' if length == _MOST_BARS else ''}</text>"
        for length in range(0, last + 1, step)
    )
    lines = "".join(
        f'<line x1="{_LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{part * highest:.0%}</text>'
        for part in (0, 0.5, 1)
        for y in [base - (base - _TOP) * part]
    )
    return f'<g class="axes">{lines}{labels}</g>'
