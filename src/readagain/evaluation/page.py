"""HTML page of an evaluation, without external resources."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from html import escape
from importlib.resources import files
from itertools import groupby
from operator import itemgetter

import numpy as np

from readagain.counts import pluralize
from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.report import FIGURE_NAMES, metadata, score_rows, stats_rows
from readagain.evaluation.summaries import SystemSummary, source_norms, summary_words
from readagain.rouge.options import FIGURES
from readagain.storage.bundled import model_name
from readagain.text.document import Token, read_document, read_tokenized
from readagain.text.normalization import normalize

NUM_EXAMPLES = 10
MAX_SOURCE_WORDS = 120
"""Words of a text that are shown."""
_MAX_LENGTH = 40  # longer summaries are counted together


def render_page(result: Evaluation) -> str:
    """Return the page: scores, lengths, statistics, the best and the worst summaries."""
    data = result.data.files[0].absolute()
    title = f"{model_name(result.system)} on {data.parent.name}/{data.name}"
    style = (files("readagain.evaluation") / "page.css").read_text(encoding="utf-8")
    quoted = FIGURE_NAMES[result.rouge.protocol.headline]
    columns = ("measure", *FIGURE_NAMES.values(), f"interval of {quoted}")
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in metadata(result)
    )
    best, worst = choose_examples(result)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="lead">{pluralize(len(result.scored.rows), "summary", "summaries")} scored by the rules of
ROUGE-1.5.5, protocol {escape(result.protocol)}; in percent, with 95% intervals.</p>
{_cards(result)}
<h2>Scores</h2>
{_table(columns, score_rows(result.rouge))}
<h2>Words in a summary</h2>
{_lengths(result)}
<h2>Statistics</h2>
{_table(("", "summaries", "references"), stats_rows(result))}
<h2>How it was measured</h2>
<dl class="facts">{facts}</dl>
{_examples("Best summaries", best, result)}
{_examples("Worst summaries", worst, result)}
</body>
</html>
"""


def choose_examples(result: Evaluation) -> tuple[list[int], list[int]]:
    """Return the positions in `result.scored` of the best and of the worst summaries.

    They are ranked by the mean over the measures; ties keep their order. None is in both lists.
    """
    figure = FIGURES.index(result.rouge.protocol.headline)
    means = result.rouge.item_scores[:, :, figure].mean(axis=1)  # (I,)
    count = min(NUM_EXAMPLES, len(means) // 2)
    best = np.argsort(-means, kind="stable")[: max(count, 1)]
    worst = [position for position in np.argsort(means, kind="stable") if position not in best]
    return best.tolist(), [int(position) for position in worst[:count]]


def _cards(result: Evaluation) -> str:
    figure = FIGURE_NAMES[result.rouge.protocol.headline]
    cards = []
    for measure in result.rouge.scores:
        quoted = result.rouge.headline(measure)
        cards.append(
            f'<div class="card">{measure.upper()} {figure}<b>{100 * quoted.value:.2f}</b>'
            f'<span class="quiet">{100 * quoted.low:.2f} to {100 * quoted.high:.2f}</span></div>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _lengths(result: Evaluation) -> str:
    summaries = [len(summary.words) for summary in result.summaries]
    is_tokenized = result.data.are_references_tokenized
    references = [
        len(summary_words(reference, is_tokenized=is_tokenized))
        for row in result.data.rows
        for reference in row.references
    ]
    return length_histogram(summaries, references)


def length_histogram(summaries: Sequence[int], references: Sequence[int]) -> str:
    """Return a table with a bar for the share of summaries and references of each length."""
    shares = [
        {
            length: count / len(lengths)
            for length, count in Counter(min(each, _MAX_LENGTH) for each in lengths).items()
        }
        for lengths in (summaries, references)
    ]
    highest = max(share for each in shares for share in each.values())
    rows = []
    for length in sorted({*shares[0], *shares[1]}):
        name = f"{length} or more" if length == _MAX_LENGTH else str(length)
        bars = "".join(
            f'<td><meter class="{kind}" max="{highest:.4f}" value="{each.get(length, 0):.4f}">'
            f"</meter><span>{each.get(length, 0):.1%}</span></td>"
            for kind, each in zip(("summary", "reference"), shares, strict=True)
        )
        rows.append(f"<tr><td>{name}</td>{bars}</tr>")
    return _table_html(("words", "summaries", "references"), rows)


def _examples(title: str, positions: Sequence[int], result: Evaluation) -> str:
    if not positions:
        return ""
    legend = (
        '<p class="quiet"><mark class="copied">copied</mark> by the system from the text; '
        '<mark class="novel">new</mark>: not in the text.</p>'
    )
    articles = "".join(_example(position, result) for position in positions)
    return f"<section><h2>{title}</h2>{legend}{articles}</section>"


def _example(position: int, result: Evaluation) -> str:
    number = result.scored.rows[position]
    row, summary = result.data.rows[number], result.summaries[number]
    is_tokenized = result.data.is_tokenized
    figure = FIGURES.index(result.rouge.protocol.headline)
    values = result.rouge.item_scores[position, :, figure].tolist()
    scores = ", ".join(
        f"{measure.upper()} {100 * value:.1f}"
        for measure, value in zip(result.rouge.scores, values, strict=True)
    )
    source = set(source_norms(row.text, is_tokenized=is_tokenized))
    references = "".join(
        f'<p><span class="who">reference</span><span>{escape(reference)}</span></p>'
        for reference in row.references
    )
    return (
        f'<article><p class="meta">row {number + 1}: {scores}</p>'
        f'<p class="ours"><span class="who">summary</span>'
        f"<span>{mark_summary(summary, source)}</span></p>"
        f"{references}"
        '<p class="source"><span class="who">text</span>'
        f"<span>{mark_source(row.text, summary, is_tokenized=is_tokenized)}</span></p></article>"
    )


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return _table_html(columns, (f"<tr>{row}</tr>" for row in cells))


def _table_html(columns: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def mark_summary(summary: SystemSummary, source: set[str]) -> str:
    """Return a summary as HTML with copied words, and words not in the text, marked."""

    def mark(position: int) -> str | None:
        if summary.is_copied[position]:
            return "copied"
        return None if summary.words[position].norm in source else "novel"

    return _mark_words(summary.text, summary.words, mark) or "<em>empty</em>"


def mark_source(text: str, summary: SystemSummary, *, is_tokenized: bool) -> str:
    """Return the beginning of a text as HTML with the words that the summary copied marked."""
    document = read_tokenized(text) if is_tokenized else read_document(text)
    words = document.words[:MAX_SOURCE_WORDS]
    copied = _copied_positions([normalize(word.norm) for word in words], summary)
    is_cut = len(words) < len(document.words)
    shown = text[: words[-1].end] if is_cut else text
    marked = _mark_words(shown, words, lambda position: "copied" if position in copied else None)
    return marked + (" …" if is_cut else "")


def _copied_positions(source: Sequence[str], summary: SystemSummary) -> set[int]:
    """Align the copied words with the source: longest runs first, then first occurrences."""
    copied = [
        word.norm
        for word, is_copied in zip(summary.words, summary.is_copied, strict=True)
        if is_copied
    ]
    blocks = SequenceMatcher(None, source, copied, autojunk=False).get_matching_blocks()
    positions = {block.a + offset for block in blocks for offset in range(block.size)}
    left = Counter(copied) - Counter(source[position] for position in positions)
    for position, norm in enumerate(source):
        if left[norm] and position not in positions:
            left[norm] -= 1
            positions.add(position)
    return positions


def _mark_words(text: str, words: Sequence[Token], mark: Callable[[int], str | None]) -> str:
    """Return a text as HTML; adjacent words with the same mark share one element."""
    pieces = []
    end = 0
    marked = ((mark(position), word) for position, word in enumerate(words))
    for kind, run in groupby(marked, key=itemgetter(0)):
        members = [word for _, word in run]
        start, last = members[0].start, members[-1].end
        shown = escape(text[start:last])
        pieces.append(escape(text[end:start]))
        pieces.append(shown if kind is None else f'<mark class="{kind}">{shown}</mark>')
        end = last
    return "".join(pieces) + escape(text[end:])
