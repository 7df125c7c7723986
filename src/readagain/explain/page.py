"""Explanation as a single HTML page without external resources."""

import json
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files

from readagain.explain.view import (
    IMPORTANCE,
    ORIGINS,
    ExplainedToken,
    ExplanationView,
    SourceToken,
)

_UNREAD_CHARACTERS = 600  # shown of the end of a long text, which the model did not read
_COLUMN_CHARACTERS = 24
_MOST_ATTENDED = 3
_FAINT = 0.005  # attention below half a percent is shown as a dot


def explanation_page(view: ExplanationView) -> str:
    """Return a page with the headline, the shaded text, the origins and all attention weights.

    Text is escaped, and the content security policy allows only the script of the page.
    """
    style, script = (_part(f"page.{kind}") for kind in ("css", "js"))
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'">
<title>{escape(view.summary)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<section aria-label="Headline">
<p class="title">Headline by the model {escape(view.model)}</p>
<h1 dir="auto">{"".join(_headline(view))}</h1>
<p class="key">{_origins_key(view)}</p>
<p class="note" id="description" aria-live="polite">Point at a word, or move to it with Tab, to
see its attention; press it to keep that shown, Escape to clear it.</p>
</section>
<section aria-label="Text">
<h2>Text</h2>
<p class="text" dir="auto">{"".join(_text(view))}</p>
{_importance_key(view)}
</section>
<section>
<h2>Origin of each word</h2>
{_origins_table(view)}
</section>
<section>
<h2>Attention of each word</h2>
{_attention_table(view)}
</section>
</main>
<script>{script}</script>
</body>
</html>
"""


def _part(name: str) -> str:
    return files("readagain.explain").joinpath(name).read_text(encoding="utf-8")


def _headline(view: ExplanationView) -> Iterator[str]:
    """Yield a button per printed word, and the spaces between them."""
    end = 0
    for word in view.words:
        if not word.surface:
            continue
        yield escape(view.summary[end : word.start])
        attention = json.dumps([round(weight, 4) for weight in word.attention])
        source = "" if word.source is None else str(word.source)
        yield (
            f'<button type="button" class="{word.origin}" aria-pressed="false" '
            f'data-source="{source}" data-attention="{attention}" '
            f'data-description="{escape(_description(word, view))}">{escape(word.surface)}</button>'
        )
        end = word.end


def _description(word: ExplainedToken, view: ExplanationView) -> str:
    """Return the description of a word: its origin and the most attended source words."""
    attended = ", ".join(
        f"{_isolated(view.source[index].surface)} {_percent(word.attention[index])}"
        for index in word.most_attended(_MOST_ATTENDED)
    )
    return f"“{_isolated(word.surface)}”: {ORIGINS[word.origin]}; most attention to {attended}."


def _text(view: ExplanationView) -> Iterator[str]:
    """Yield the text: words that were read are shaded, the rest of a long text is grey."""
    end = 0
    for word in view.source:
        yield escape(view.text[end : word.start])
        title = _percent(word.importance) if word.importance is not None else ""
        yield (
            f'<span class="word" style="--i:{word.shade:.3f}" title="{title}">'
            f"{escape(word.surface)}</span>"
        )
        end = word.end
    rest = view.text[end:]
    if view.truncated and rest.strip():
        cut = rest[:_UNREAD_CHARACTERS]
        yield f'<span class="unread">{escape(cut)}{"…" if len(rest) > len(cut) else ""}</span>'
    else:
        yield escape(rest.rstrip())


def _origins_key(view: ExplanationView) -> str:
    """Return the legend of the origins; "given" only if the summary has a prefix."""
    has_prefix = any(word.origin == "given" for word in view.words)
    return "".join(
        f'<span><span class="{o}">word</span> {meaning}</span>'
        for o, meaning in ORIGINS.items()
        if o != "given" or has_prefix
    )


def _importance_key(view: ExplanationView) -> str:
    if view.importance_kind is None:
        key = '<p class="note">This model has no second pass, so no word is shaded.</p>'
    else:
        what = IMPORTANCE[view.importance_kind]
        key = (
            f'<p class="note weighed">Shaded by importance, {what}:<br>least '
            '<span class="scale" role="img" aria-label="to"></span> most of this text</p>'
        )
    if view.truncated:
        key += '<p class="note">The model did not read the end of the text.</p>'
    return key


def _origins_table(view: ExplanationView) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_label(word)}</th>'
        f'<td><span class="{word.origin}">{ORIGINS[word.origin]}</span></td>'
        f'<td class="context">{_origin_context(word, view)}</td>'
        f'<td class="number">{_percent(word.probability)}</td></tr>'
        for word in view.words
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Origin of each word">'
        '<table><thead><tr><th scope="col">headline</th><th scope="col">origin</th>'
        '<th scope="col">in the text</th><th scope="col" class="number">probability</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _origin_context(word: ExplainedToken, view: ExplanationView) -> str:
    """Return the source word that a word was taken from, with its neighbours."""
    if not word.surface:
        return '<span class="small">no such number, so it is left out</span>'
    if word.source is None:
        return '<span class="small">–</span>'
    before, after = (
        " ".join(each.surface for each in view.source[max(0, start) : stop])
        for start, stop in ((word.source - 2, word.source), (word.source + 1, word.source + 3))
    )
    here = escape(view.source[word.source].surface)
    return (
        f'<bdi><span class="small">{escape(before)}</span> <b>{here}</b> '
        f'<span class="small">{escape(after)}</span></bdi>'
    )


def _attention_table(view: ExplanationView) -> str:
    """Return a table with a row per source word and a column per word of the headline."""
    head = "".join(f'<th scope="col">{_label(word)}</th>' for word in view.words)
    weight = ""
    if view.importance_kind is not None:
        weight = '<th scope="col" class="number">importance</th>'
    rows = "".join(_attention_row(index, word, view) for index, word in enumerate(view.source))
    return (
        '<p class="note" id="about">Each column is a word of the headline: its attention '
        "to the words of the text, in percent. The word it was taken from is framed "
        'and marked ×.</p><div class="scroll" role="region" tabindex="0" '
        'aria-label="Attention of each word"><table class="attention" aria-describedby="about">'
        '<thead><tr><th scope="col">text</th>'
        f"{weight}{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _attention_row(index: int, word: SourceToken, view: ExplanationView) -> str:
    cells = [f'<tr><th scope="row"><bdi>{escape(_shortened(word.surface))}</bdi></th>']
    if word.importance is not None:
        cells.append(
            f'<td class="number weight" style="--i:{word.shade:.3f}">{word.importance:.2f}</td>'
        )
    for token in view.words:
        share = token.attention[index]
        taken = token.source == index
        kind = "number taken" if taken else "number"
        shown = f"{100 * share:.0f}" if share >= _FAINT else '<span class="small">·</span>'
        mark = "× " if taken else ""
        cells.append(f'<td class="{kind}" style="--a:{share**0.5:.3f}">{mark}{shown}</td>')
    return "".join(cells) + "</tr>"


def _label(word: ExplainedToken) -> str:
    """Return a word of the headline, or its norm if it is not printed."""
    if word.surface:
        return f"<bdi>{escape(_shortened(word.surface))}</bdi>"
    return f"<s>{escape(word.form)}</s>"


def _shortened(word: str) -> str:
    """Return a word cut to the width of a column, such as a long URL."""
    return word if len(word) <= _COLUMN_CHARACTERS else f"{word[: _COLUMN_CHARACTERS - 1]}…"


def _isolated(word: str) -> str:
    """Return a word isolated from its neighbours, for right-to-left scripts."""
    return f"\N{FIRST STRONG ISOLATE}{word}\N{POP DIRECTIONAL ISOLATE}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
