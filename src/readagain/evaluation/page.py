"""An evaluation as one HTML page that needs nothing else."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

import numpy as np

from readagain.counts import counted
from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.facts import FIGURE_NAMES, facts_of, habit_rows, score_rows
from readagain.evaluation.histogram import draw_lengths, length_rows
from readagain.evaluation.marks import marked_source, marked_summary
from readagain.evaluation.words import source_forms, summary_words
from readagain.rouge.options import FIGURES
from readagain.storage.bundled import model_name

NUM_EXAMPLES = 10


def render_page(found: Evaluation) -> str:
    """Write the page: scores, lengths, habits, the best and the worst summaries."""
    data = found.data.files[0].absolute()
    title = f"{model_name(found.system)} on {data.parent.name}/{data.name}"
    style = (files("readagain.evaluation") / "page.css").read_text(encoding="utf-8")
    best, worst = choose_examples(found)
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
<p class="lead">{counted(len(found.scored.rows), "summary", "summaries")} scored by ROUGE-1.5.5's
rules, protocol {escape(found.protocol)}; figures in percent, with their 95% intervals.</p>
{_cards(found)}
<h2>Scores</h2>
{_scores(found)}
<h2>Words in a summary</h2>
{_lengths(found)}
<h2>What they are like</h2>
{_table(("", "summaries", "references"), habit_rows(found))}
<h2>How it was measured</h2>
{_facts(found)}
{_examples("Best summaries", best, found)}
{_examples("Worst summaries", worst, found)}
</body>
</html>
"""


def choose_examples(found: Evaluation) -> tuple[list[int], list[int]]:
    """Choose places in `found.scored`: the best first, and the worst first; none in both.

    By the mean over the measures of the figure that the protocol quotes; of equals the first.
    """
    figure = FIGURES.index(found.rouge.protocol.headline)
    means = found.rouge.item_scores[:, :, figure].mean(axis=1)  # (items,)
    count = min(NUM_EXAMPLES, len(means) // 2)
    best = np.argsort(-means, kind="stable")[: max(count, 1)]
    worst = [place for place in np.argsort(means, kind="stable") if place not in best]
    return best.tolist(), [int(place) for place in worst[:count]]


def _cards(found: Evaluation) -> str:
    figure = FIGURE_NAMES[found.rouge.protocol.headline]
    cards = []
    for measure in found.rouge.scores:
        quoted = found.rouge.headline(measure)
        cards.append(
            f'<div class="card">{measure.upper()} {figure}<b>{100 * quoted.value:.2f}</b>'
            f'<span class="quiet">{100 * quoted.low:.2f} to {100 * quoted.high:.2f}</span></div>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _scores(found: Evaluation) -> str:
    quoted = FIGURE_NAMES[found.rouge.protocol.headline]
    heading = ("measure", *FIGURE_NAMES.values(), f"interval of {quoted}")
    return _table(heading, score_rows(found.rouge))


def _facts(found: Evaluation) -> str:
    facts = (f"<dt>{escape(name)}</dt><dd>{escape(fact)}</dd>" for name, fact in facts_of(found))
    return f'<dl class="facts">{"".join(facts)}</dl>'


def _lengths(found: Evaluation) -> str:
    summaries = [len(summary.words) for summary in found.summaries]
    is_tokenized = found.data.are_references_tokenized
    references = [
        len(summary_words(reference, is_tokenized=is_tokenized))
        for row in found.data.rows
        for reference in row.references
    ]
    numbers = _table(("words", "summaries", "references"), length_rows(summaries, references))
    return (
        '<p><span class="key summary"></span>summaries'
        '<span class="key reference"></span>references</p>'
        f'<div class="scroll">{draw_lengths(summaries, references)}</div>'
        f"<details><summary>the numbers</summary>{numbers}</details>"
    )


def _examples(title: str, places: Sequence[int], found: Evaluation) -> str:
    if not places:
        return ""
    legend = (
        '<p class="quiet"><mark class="copied">copied</mark> by the system from the text; '
        '<mark class="novel">new</mark>: not in the text.</p>'
    )
    articles = "".join(_example(place, found) for place in places)
    return f"<section><h2>{title}</h2>{legend}{articles}</section>"


def _example(place: int, found: Evaluation) -> str:
    number = found.scored.rows[place]
    row, summary = found.data.rows[number], found.summaries[number]
    is_tokenized = found.data.is_tokenized
    figure = FIGURES.index(found.rouge.protocol.headline)
    scores = ", ".join(
        f"{measure.upper()} {100 * value:.1f}"
        for measure, value in zip(
            found.rouge.scores, found.rouge.item_scores[place, :, figure].tolist(), strict=True
        )
    )
    known = set(source_forms(row.text, is_tokenized=is_tokenized))
    references = "".join(
        f'<p><span class="who">reference</span><span>{escape(reference)}</span></p>'
        for reference in row.references
    )
    return (
        f'<article><p class="meta">row {number + 1}: {scores}</p>'
        f'<p class="ours"><span class="who">summary</span>'
        f"<span>{marked_summary(summary, known)}</span></p>"
        f"{references}"
        '<p class="source"><span class="who">text</span>'
        f"<span>{marked_source(row.text, summary, is_tokenized=is_tokenized)}</span></p></article>"
    )


def _table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heading)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )
