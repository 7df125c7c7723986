"""A story as one HTML page that loads nothing: it can be mailed, archived and opened anywhere."""

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

_UNREAD_CHARACTERS = 600  # of the rest of a long text; the page is about what was read
_COLUMN_CHARACTERS = 24
_MOST_ATTENDED = 3
_FAINT = 0.005  # attention below half a percent is shown as a dot


def explanation_page(story: ExplanationView) -> str:
    """Write a page: the headline, the shaded text, where words come from, and all attention.

    Everything that comes from the text is escaped, and the page's own policy lets no script run but
    the one that it holds.
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
<title>{escape(story.summary)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<section aria-label="Headline">
<p class="title">Headline by the model {escape(story.model)}</p>
<h1 dir="auto">{"".join(_headline(story))}</h1>
<p class="key">{_origins_key(story)}</p>
<p class="note" id="said" aria-live="polite">Point at a word, or move to it with Tab, to see what
it looked at; press it to keep that shown, Escape to let go.</p>
</section>
<section aria-label="Text">
<h2>Text</h2>
<p class="text" dir="auto">{"".join(_text(story))}</p>
{_importance_key(story)}
</section>
<section>
<h2>Where each word comes from</h2>
{_origins_table(story)}
</section>
<section>
<h2>What each word looked at</h2>
{_attention_table(story)}
</section>
</main>
<script>{script}</script>
</body>
</html>
"""


def _part(name: str) -> str:
    return files("readagain.explain").joinpath(name).read_text(encoding="utf-8")


def _headline(story: ExplanationView) -> Iterator[str]:
    """Write a button for each printed word, with the spaces between them."""
    end = 0
    for word in story.words:
        if not word.surface:
            continue
        yield escape(story.summary[end : word.start])
        attention = json.dumps([round(weight, 4) for weight in word.attention])
        source = "" if word.source is None else str(word.source)
        yield (
            f'<button type="button" class="{word.origin}" aria-pressed="false" '
            f'data-source="{source}" data-attention="{attention}" '
            f'data-said="{escape(_said(word, story))}">{escape(word.surface)}</button>'
        )
        end = word.end


def _said(word: ExplainedToken, story: ExplanationView) -> str:
    """Say about a word of the headline what its colours show."""
    looks = ", ".join(
        f"{_isolated(story.source[place].surface)} {_percent(word.attention[place])}"
        for place in word.most_attended(_MOST_ATTENDED)
    )
    return f"“{_isolated(word.surface)}”: {ORIGINS[word.origin]}; looked most at {looks}."


def _text(story: ExplanationView) -> Iterator[str]:
    """Write the text: each word that was read shaded, the rest of a long text quietly."""
    end = 0
    for word in story.source:
        yield escape(story.text[end : word.start])
        title = _percent(word.importance) if word.importance is not None else ""
        yield (
            f'<span class="word" style="--i:{word.shade:.3f}" title="{title}">'
            f"{escape(word.surface)}</span>"
        )
        end = word.end
    rest = story.text[end:]
    if story.truncated and rest.strip():
        cut = rest[:_UNREAD_CHARACTERS]
        yield f'<span class="unread">{escape(cut)}{"…" if len(rest) > len(cut) else ""}</span>'
    else:
        yield escape(rest.rstrip())


def _origins_key(story: ExplanationView) -> str:
    """Explain the three origins that there always may be, and the fourth where it was asked for."""
    is_begun = any(word.origin == "given" for word in story.words)
    return "".join(
        f'<span><span class="{o}">word</span> {said}</span>'
        for o, said in ORIGINS.items()
        if o != "given" or is_begun
    )


def _importance_key(story: ExplanationView) -> str:
    if story.importance_kind is None:
        key = '<p class="note">This model reads once, so no word is shaded.</p>'
    else:
        what = IMPORTANCE[story.importance_kind]
        key = (
            f'<p class="note weighed">Shaded by importance, {what}:<br>least '
            '<span class="scale" role="img" aria-label="to"></span> most of this text</p>'
        )
    if story.truncated:
        key += '<p class="note">The model did not read the end of the text.</p>'
    return key


def _origins_table(story: ExplanationView) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_spelled(word)}</th>'
        f'<td><span class="{word.origin}">{ORIGINS[word.origin]}</span></td>'
        f'<td class="context">{_taken_from(word, story)}</td>'
        f'<td class="number">{_percent(word.probability)}</td></tr>'
        for word in story.words
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Where each word comes from">'
        '<table><thead><tr><th scope="col">headline</th><th scope="col">origin</th>'
        '<th scope="col">in the text</th><th scope="col" class="number">chance</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _taken_from(word: ExplainedToken, story: ExplanationView) -> str:
    """Show the place in the text a word was taken from, with its neighbours."""
    if not word.surface:
        return '<span class="small">no such number, so it is left out</span>'
    if word.source is None:
        return '<span class="small">–</span>'
    before, after = (
        " ".join(each.surface for each in story.source[max(0, start) : stop])
        for start, stop in ((word.source - 2, word.source), (word.source + 1, word.source + 3))
    )
    here = escape(story.source[word.source].surface)
    return (
        f'<bdi><span class="small">{escape(before)}</span> <b>{here}</b> '
        f'<span class="small">{escape(after)}</span></bdi>'
    )


def _attention_table(story: ExplanationView) -> str:
    """Write a row for each word of the text, a column for each word of the headline."""
    head = "".join(f'<th scope="col">{_spelled(word)}</th>' for word in story.words)
    weight = ""
    if story.importance_kind is not None:
        weight = '<th scope="col" class="number">importance</th>'
    rows = "".join(_attention_row(place, word, story) for place, word in enumerate(story.source))
    return (
        '<p class="note" id="about">A column for each word of the headline: how it shared its '
        "attention among the words of the text, in percent. The word it was taken from is framed "
        'and marked ×.</p><div class="scroll" role="region" tabindex="0" '
        'aria-label="What each word looked at"><table class="attention" aria-describedby="about">'
        '<thead><tr><th scope="col">text</th>'
        f"{weight}{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _attention_row(place: int, word: SourceToken, story: ExplanationView) -> str:
    cells = [f'<tr><th scope="row"><bdi>{escape(_shortened(word.surface))}</bdi></th>']
    if word.importance is not None:
        cells.append(
            f'<td class="number weight" style="--i:{word.shade:.3f}">{word.importance:.2f}</td>'
        )
    for told in story.words:
        share = told.attention[place]
        taken = told.source == place
        kind = "number taken" if taken else "number"
        shown = f"{100 * share:.0f}" if share >= _FAINT else '<span class="small">·</span>'
        mark = "× " if taken else ""
        cells.append(f'<td class="{kind}" style="--a:{share**0.5:.3f}">{mark}{shown}</td>')
    return "".join(cells) + "</tr>"


def _spelled(word: ExplainedToken) -> str:
    """Spell a word of the headline; one that is left out, as the model knows it."""
    if word.surface:
        return f"<bdi>{escape(_shortened(word.surface))}</bdi>"
    return f"<s>{escape(word.form)}</s>"


def _shortened(word: str) -> str:
    """Cut an address on the web and the like to what a column has room for."""
    return word if len(word) <= _COLUMN_CHARACTERS else f"{word[: _COLUMN_CHARACTERS - 1]}…"


def _isolated(word: str) -> str:
    """Keep a word that runs from right to left from turning its neighbours around."""
    return f"\N{FIRST STRONG ISOLATE}{word}\N{POP DIRECTIONAL ISOLATE}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
