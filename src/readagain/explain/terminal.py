"""Explanation in a terminal, with colors if the terminal supports them."""

from collections.abc import Iterable

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from readagain.engine.warnings import percent
from readagain.errors import for_terminal
from readagain.explain.view import ORIGIN_NAMES, ExplainedToken, ExplanationView, SourceToken
from readagain.text.detokenization import Origin

_STYLES: dict[Origin, Style] = {
    "copied": Style(bold=True, color="blue"),
    "generated": Style(bold=True),
    "digits": Style(bold=True, color="green"),
    "given": Style(italic=True),
}
_LEAST_COLOR, _MOST_COLOR = (255, 246, 230), (255, 159, 28)  # background of shade 0 and of shade 1
_MIN_BOLD_SHADE = 0.66  # darker words are bold if the terminal has too few colors for shades
_NUM_ATTENDED_PER_WORD = 3  # source words listed for each word of the headline
_NUM_ATTENDED_OF_TEXT = 5  # source words listed for the whole headline


def print_explanation(view: ExplanationView, console: Console) -> None:
    """Print the headline, the shaded text, and a line per word of the headline."""
    has_shades = console.color_system in ("256", "truecolor")
    headline = _style_words(view.summary, 0, [(word, _STYLES[word.origin]) for word in view.words])
    # The text that the model read, with the words shaded by attention. Without shades, the most
    # attended words are bold.
    shades = [
        _shade_style(word.shade) if has_shades else Style(bold=word.shade > _MIN_BOLD_SHADE)
        for word in view.source
    ]
    words = list(zip(view.source, shades, strict=True))
    lines = [headline, Text(), _style_words(view.text, view.source[0].start, words)]
    attended = ", ".join(
        for_terminal(word.surface) for word in view.most_attended(_NUM_ATTENDED_OF_TEXT)
    )
    notes = [
        f"Most attended: {attended}",
        f"The model read {percent(view.read_share)} of the text.",
    ]
    if view.confidence is not None:
        notes.append(f"Confidence: {percent(view.confidence)}")
    notes += (f"Warning: {warning.message}" for warning in view.warnings)
    lines += (Text(note, style="dim") for note in notes)
    console.print(Group(*lines, Text(), _word_table(view)))


def _style_words(
    text: str, start: int, words: Iterable[tuple[SourceToken | ExplainedToken, Style]]
) -> Text:
    """Return a text from `start` to the end of its last word, with a style for each word."""
    styled = Text()
    for word, style in words:
        styled.append(for_terminal(text[start : word.start]))
        styled.append(for_terminal(word.surface), style=style)
        start = word.end
    return styled


def _shade_style(shade: float) -> Style:
    color = [
        round(least + shade * (most - least))
        for least, most in zip(_LEAST_COLOR, _MOST_COLOR, strict=True)
    ]
    return Style(color="black", bgcolor=f"rgb({','.join(map(str, color))})")


def _word_table(view: ExplanationView) -> Table:
    """Return a table of the headline's words with their origin and attention."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("word", "origin", "most attended"):
        table.add_column(column)
    for word in view.words:
        label = word.surface or f"({word.form} left out)"
        table.add_row(
            Text(for_terminal(label), style=_STYLES[word.origin]),
            Text(ORIGIN_NAMES[word.origin]),
            Text(_format_attention(word, view)),
        )
    return table


def _format_attention(word: ExplainedToken, view: ExplanationView) -> str:
    """Return the most attended source words with their attention in percent."""
    return ", ".join(
        f"{for_terminal(view.source[index].surface)} {100 * word.attention[index]:.0f}%"
        for index in word.most_attended(_NUM_ATTENDED_PER_WORD)
    )
