"""HTML report of a fit, in one file without external resources."""

import random
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.report import describe_dropped
from readagain.errors import pluralize
from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.summaries import SystemSummary, source_norms
from readagain.rouge.significance import compare_reports
from readagain.text.language import find_language
from readagain.training.metrics import Curves

NUM_SAMPLES = 20
"""Maximum number of sample headlines."""
MAX_TEXT_CHARS = 600
"""Maximum number of characters shown of the text of a sample."""
_WIDTH, _HEIGHT = 320, 170
"""Size of a chart in pixels."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 8, 8, 22
"""Margins of a chart in pixels."""


def render_report(
    name: str,
    manifest: CorpusManifest,
    curves: Curves,
    steps_per_epoch: int,
    evaluations: dict[str, Evaluation],
    notes: Iterable[str],
    details: dict[str, str],
) -> str:
    """Return the HTML page: scores, training curves, samples, dropped pairs and details.

    The first of the evaluations is the model, the others are baselines. `details` has the texts of
    the last section by label, such as "network" or "training".
    """
    language = find_language(manifest.language)
    title = f"{name}: headlines in {language.name}"
    css = (files("readagain.fitting") / "page.css").read_text(encoding="utf-8")
    details_html = "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in details.items()
    )
    losses = {"training loss": curves.get("loss", []), "dev loss": curves.get("dev_loss", [])}
    rouge = {"ROUGE-1 of a few dev texts": curves.get("rouge_1", [])}
    notes_html = "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    model = next(iter(evaluations.values()))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{css}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="lead">{escape(_compare_with_baselines(evaluations))}</p>
{notes_html}
<h2>Scores on {pluralize(len(model.summaries), "text")} that were not used in training</h2>
{_render_scores(evaluations)}
<p class="quiet">ROUGE F1 in percent with 95% bootstrap intervals, over Unicode words, or
characters where the language has no spaces.</p>
<h2>Training</h2>
<div class="charts">{line_chart(losses, steps_per_epoch)}{line_chart(rouge, steps_per_epoch)}</div>
<p class="quiet">The training loss includes label smoothing and dropout, the dev loss does not.</p>
<h2>Samples</h2>
<p class="quiet">Chosen at random, not by quality. <mark>Marked</mark> words are not in the
text.</p>
{_render_samples(model)}
<h2>Dropped pairs</h2>
{_render_dropped(manifest)}
<h2>Details</h2>
<dl>{details_html}</dl>
</body>
</html>
"""


def _compare_with_baselines(evaluations: dict[str, Evaluation]) -> str:
    """Return a sentence that compares the model with the baseline that has the highest ROUGE-1."""
    model, *baselines = evaluations
    best_baseline = max(baselines, key=lambda name: evaluations[name].rouge["rouge-1"].f1.value)
    comparisons = compare_reports(evaluations[model].rouge, evaluations[best_baseline].rouge)
    comparison = comparisons["rouge-1"]
    points = f"{100 * abs(comparison.difference):.1f} points of ROUGE-1"
    interval = f"95% interval {100 * comparison.low:+.1f} to {100 * comparison.high:+.1f}"
    baseline = f"the best baseline, {best_baseline} ({interval})"
    if comparison.low > 0:
        return f"{points} above {baseline}."
    if comparison.high < 0:
        return f"{points} below {baseline}; more pairs are needed."
    return f"Not distinguishable from {baseline}; more pairs are needed."


def _render_scores(evaluations: dict[str, Evaluation]) -> str:
    """Return a table of the scores of all systems, and of the mean length of their headlines."""
    measures = list(next(iter(evaluations.values())).rouge.scores)
    rows = []
    for name, evaluation in evaluations.items():
        scores = [evaluation.rouge.main_score(measure) for measure in measures]
        cells = [
            f"{100 * score.value:.1f} ({100 * score.low:.1f} to {100 * score.high:.1f})"
            for score in scores
        ]
        rows.append((name, *cells, f"{evaluation.stats.words:.1f}"))
    return _render_table(("", *(measure.upper() for measure in measures), "words"), rows)


def line_chart(curves: Curves, steps_per_epoch: int) -> str:
    """Return a `<figure>` with one or two curves over epochs as SVG; empty without points."""
    steps = [step for points in curves.values() for step, _ in points]
    values = [value for points in curves.values() for _, value in points]
    if not values:
        return ""
    last_step, low, high = max(*steps, 1), min(values), max(values)
    high = high if high > low else low + 1

    def to_pixels(step: int, value: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * step / last_step
        y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low)
        return round(x, 1), round(y, 1)

    shapes, names = [], []
    for css_class, (name, points) in zip(("first", "second"), curves.items(), strict=False):
        pixels = [to_pixels(*point) for point in points]
        shapes.append(
            f'<polyline class="{css_class}" points="{" ".join(f"{x},{y}" for x, y in pixels)}"/>'
        )
        if len(pixels) < 30:  # more circles would hide the line
            shapes += [
                f'<circle class="{css_class}" cx="{x}" cy="{y}" r="2.5"/>' for x, y in pixels
            ]
        names.append(f'<span class="{css_class}">{escape(name)}</span>')
    axis_y = _HEIGHT - _BOTTOM
    return (
        f"<figure><figcaption>{' and '.join(names)} by epoch</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(" and ".join(curves))}, from {low:.2f} to {high:.2f}">'
        f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH}" y1="{axis_y}" y2="{axis_y}"/>'
        f'<line class="axis" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{axis_y}"/>'
        f'<text x="{_LEFT - 6}" y="{_TOP + 8}" text-anchor="end">{high:.2f}</text>'
        f'<text x="{_LEFT - 6}" y="{axis_y}" text-anchor="end">{low:.2f}</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 6}">0</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">'
        f"{last_step / steps_per_epoch:.3g}</text>"
        f"{''.join(shapes)}</svg></figure>"
    )


def _render_samples(evaluation: Evaluation) -> str:
    num_texts = len(evaluation.summaries)
    indices = random.Random(1).sample(range(num_texts), min(NUM_SAMPLES, num_texts))
    return "".join(_render_sample(evaluation, index) for index in sorted(indices))


def _render_sample(evaluation: Evaluation, index: int) -> str:
    """Return an `<article>` with a headline of the model, the human headline and the text."""
    data, summary = evaluation.data, evaluation.summaries[index]
    text = data.rows[index].text
    excerpt = text[:MAX_TEXT_CHARS] + (" …" if len(text) > MAX_TEXT_CHARS else "")
    norms = source_norms(
        text, is_tokenized=data.is_tokenized, language=find_language(data.language)
    )
    lines = (
        ("model", mark_novel_words(summary, set(norms))),
        ("human", escape(data.rows[index].references[0])),
        ("text", escape(excerpt)),
    )
    paragraphs = "".join(
        f'<p class="{label}"><span class="who">{label}</span>'
        f'<span lang="{data.language}" dir="auto">{content}</span></p>'
        for label, content in lines
    )
    return f"<article>{paragraphs}</article>"


def mark_novel_words(summary: SystemSummary, source_words: set[str]) -> str:
    """Return a summary as HTML, with `<mark>` around words that are not in the source."""
    html, end = "", 0  # the summary up to character `end`
    for word, is_copied in zip(summary.words, summary.is_copied, strict=True):
        html += escape(summary.text[end : word.start])
        word_html = escape(summary.text[word.start : word.end])
        is_novel = not is_copied and word.norm not in source_words
        html += f"<mark>{word_html}</mark>" if is_novel else word_html
        end = word.end
    return html + escape(summary.text[end:]) or "<em>empty</em>"


def _render_dropped(manifest: CorpusManifest) -> str:
    """Return the fraction of the records that were dropped, and a table of the reasons."""
    reasons = describe_dropped(manifest)
    num_records = sum(entry["records"] for entry in manifest.inputs)
    if not reasons:
        return f"<p>None of {pluralize(num_records, 'record')}.</p>"
    fraction = sum(count for _, count, _ in reasons) / num_records
    rows = [(reason, f"{count:,}", meaning) for reason, count, meaning in reasons]
    table = _render_table(("reason", "records", "meaning"), rows, css_class="dropped")
    return f"<p>{fraction:.1%} of {pluralize(num_records, 'record')}.</p>{table}"


def _render_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], *, css_class: str = ""
) -> str:
    def render_cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)

    body = "".join(f"<tr>{render_cells('td', row)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="{css_class}"><thead><tr>{render_cells("th", titles)}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
    )
