"""Explanation in a terminal, with colors if the terminal supports them."""

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from readagain.engine.warnings import percent
from readagain.errors import for_terminal
from readagain.explain.view import ORIGINS, ExplainedToken, ExplanationView
from readagain.text.detokenization import Origin

_STYLES: dict[Origin, Style] = {
    "copied": Style(bold=True, color="blue"),
    "generated": Style(bold=True),
    "digits": Style(bold=True, color="green"),
    "given": Style(italic=True),
}
_LIGHT, _STRONG = (255, 246, 230), (255, 159, 28)  # colors of the least and the most attended word
_BOLD_FROM = 0.66  # words with a larger shade are bold if the terminal has too few colors
_NUM_ATTENDED_PER_WORD = 3  # source words listed for each word of the headline
_NUM_ATTENDED_OF_TEXT = 5  # source words listed for the whole headline


def print_explanation(view: ExplanationView, console: Console) -> None:
    """Print the headline, the shaded text, and a line per word of the headline."""
    has_shades = console.color_system in ("256", "truecolor")
    lines = [_headline(view), Text(), _text(view, has_shades=has_shades)]
    names = ", ".join(
        for_terminal(word.surface) for word in view.most_attended(_NUM_ATTENDED_OF_TEXT)
    )
    notes = [f"Most attended: {names}", f"The model read {percent(view.read_share)} of the text."]
    if view.confidence is not None:
        notes.append(f"Confidence: {percent(view.confidence)}")
    notes += (f"Warning: {warning.message}" for warning in view.warnings)
    lines += (Text(note, style="dim") for note in notes)
    console.print(Group(*lines, Text(), _words(view)))


def _headline(view: ExplanationView) -> Text:
    headline = Text()
    end = 0
    for word in view.words:
        headline.append(for_terminal(view.summary[end : word.start]))
        headline.append(for_terminal(word.surface), style=_STYLES[word.origin])
        end = word.end
    return headline


def _text(view: ExplanationView, *, has_shades: bool) -> Text:
    """Return the text that was read, shaded by attention, or bold if there are too few colors."""
    text = Text()
    end = view.source[0].start
    for word in view.source:
        text.append(for_terminal(view.text[end : word.start]))
        style = _shade_style(word.shade) if has_shades else Style(bold=word.shade > _BOLD_FROM)
        text.append(for_terminal(word.surface), style=style)
        end = word.end
    return text


def _shade_style(shade: float) -> Style:
    mixed = (round(low + shade * (high - low)) for low, high in zip(_LIGHT, _STRONG, strict=True))
    return Style(color="black", bgcolor=f"rgb({','.join(map(str, mixed))})")


def _words(view: ExplanationView) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("word", "origin", "most attended"):
        table.add_column(column)
    for word in view.words:
        shown = word.surface or f"({word.form} left out)"
        table.add_row(
            Text(for_terminal(shown), style=_STYLES[word.origin]),
            Text(ORIGINS[word.origin]),
            Text(_most_attended(word, view)),
        )
    return table


def _most_attended(word: ExplainedToken, view: ExplanationView) -> str:
    return ", ".join(
        f"{for_terminal(view.source[index].surface)} {100 * word.attention[index]:.0f} %"
        for index in word.most_attended(_NUM_ATTENDED_PER_WORD)
    )
