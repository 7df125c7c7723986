"""A story in a terminal: coloured where there are colours, plain where there are none."""

import unicodedata

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from readagain.explain.view import IMPORTANCE, ORIGINS, ExplainedToken, ExplanationView
from readagain.text.surface import Origin

_STYLES: dict[Origin, Style] = {
    "copied": Style(bold=True, color="blue"),
    "generated": Style(bold=True),
    "digits": Style(bold=True, color="green"),
    "given": Style(italic=True),
}
_LIGHT, _STRONG = (255, 246, 230), (255, 159, 28)  # shades of the least and most important word
_BOLD_FROM = 0.66  # shade from which a word is bold where a terminal has too few colours
_MOST_ATTENDED = 3
_MOST_IMPORTANT = 5


def print_explanation(story: ExplanationView, console: Console) -> None:
    """Print the headline, the shaded text, and a line for each word of the headline."""
    has_shades = console.color_system in ("256", "truecolor")
    lines = [_headline(story), Text(), _text(story, has_shades=has_shades)]
    if story.importance_kind is not None:
        names = ", ".join(_harmless(word.surface) for word in story.most_important(_MOST_IMPORTANT))
        what = IMPORTANCE[story.importance_kind]
        lines.append(Text(f"Most important ({what}): {names}", style="dim"))
    if story.truncated:
        lines.append(Text("The model did not read the end of the text.", style="dim"))
    console.print(Group(*lines, Text(), _words(story)))


def _headline(story: ExplanationView) -> Text:
    headline = Text()
    end = 0
    for word in story.words:
        headline.append(_harmless(story.summary[end : word.start]))
        headline.append(_harmless(word.surface), style=_STYLES[word.origin])
        end = word.end
    return headline


def _text(story: ExplanationView, *, has_shades: bool) -> Text:
    """Write what was read of the text, each word on its shade, or the most important ones bold."""
    text = Text()
    end = story.source[0].start
    for word in story.source:
        text.append(_harmless(story.text[end : word.start]))
        style = _shade(word.shade) if has_shades else Style(bold=word.shade > _BOLD_FROM)
        text.append(_harmless(word.surface), style=Style() if word.importance is None else style)
        end = word.end
    return text


def _shade(share: float) -> Style:
    mixed = (round(low + share * (high - low)) for low, high in zip(_LIGHT, _STRONG, strict=True))
    return Style(color="black", bgcolor=f"rgb({','.join(map(str, mixed))})")


def _words(story: ExplanationView) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("word", "origin", "looked most at"):
        table.add_column(column)
    for word in story.words:
        spelled = word.surface or f"({word.form} left out)"
        table.add_row(
            Text(_harmless(spelled), style=_STYLES[word.origin]),
            Text(ORIGINS[word.origin]),
            Text(_looks(word, story)),
        )
    return table


def _looks(word: ExplainedToken, story: ExplanationView) -> str:
    return ", ".join(
        f"{_harmless(story.source[place].surface)} {100 * word.attention[place]:.0f} %"
        for place in word.most_attended(_MOST_ATTENDED)
    )


def _harmless(text: str) -> str:
    """Replace what would steer a terminal, or cannot be encoded; line breaks stay."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cs")
        else c
        for c in text
    )
