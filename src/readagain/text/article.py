"""Sentences of an article copied from a web page, without boilerplate.

Boilerplate is text that belongs to the page: bylines, dates, captions, buttons. In a text of
several lines, whole lines are left out. In a text without line breaks, only a byline, a date or a
dateline at the start is left out.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise

from readagain.text.language import ENGLISH, Language
from readagain.text.sentences import (
    BULLET,
    REPORTING_VERB_PATTERN,
    iter_sentence_spans,
    sentence_spans,
)

Span = tuple[int, int]

_MIN_WRAP_WIDTH = 60  # characters; lines of a narrower block are not wrapped text
# Scene-setting sentences, such as "It was a cold morning.", do not have the news yet.
_MAX_SCENE_SENTENCES = 3
_MAX_SCENE_WORDS = 21  # per sentence
_MAX_BOILERPLATE_CHARS = 200

_NAME = r"(?:[A-Z][\w'.-]*|(?:al|bin|da|de|del|der|di|du|el|la|le|van|von)(?=\s))"
_NAMES = rf"{_NAME}(?:\s+{_NAME}){{0,4}}"
_AGENCY = (
    r"(?:Reuters|AP|AFP|UPI|APP|ANI|PTI|IANS|DPA|dpa|EFE|ANSA|TASS|RIA|PA|CNN|BBC|CBS|ABC|NBC"
    r"|Xinhua|Kyodo|Yonhap|Interfax|Anadolu|Bloomberg|Associated\ Press|Press\ Association"
    r"|BUSINESS\ WIRE|GLOBE\ NEWSWIRE|PRNewswire)"
)
_ROLE = (
    r"(?:[Ee]ditor|[Cc]orrespondent|[Rr]eporter|[Ww]riter|[Cc]olumnist|[Cc]ontributor|[Jj]ournalist"
    r"|[Aa]nalyst|[Pp]roducer|[Dd]esk|[Bb]ureau(?:\s[Cc]hief)?|[Ss]taff|[Nn]ews|[Pp]ress|[Mm]edia)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = rf"(?:(?i:{_MONTH})\.?\s\d{{1,2}}|\d{{1,2}}\.?\s(?i:{_MONTH})\.?)(?:,?\s\d{{4}})?"
_DAY = r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?"
_DATE_WORD = (
    rf"(?:\d{{1,4}}(?:st|nd|rd|th)?|\d{{1,4}}T\d\d|{_MONTH}|{_DAY}|[ap]\.?m|gmt|utc|bst|cet|cest|eet|e[sd]?t"
    r"|c[sd]?t|p[sd]?t|ist|pkt|z|an?|at|on|of|ago|now|just|today|yesterday|hours?|hrs?|minutes?"
    r"|mins?|days?|weeks?|months?|read)"
)
_TIMESTAMP_LABEL = (
    r"(?:(?:first|last|originally)\s+)?(?:published|updated|posted|modified|created|date)"
)
_BUTTON = (
    r"(?:share|tweet|facebook|twitter|x|instagram|youtube|whatsapp|telegram|linkedin|reddit"
    r"|pinterest|messenger|bluesky|threads|flipboard|e-?mail|print|save|bookmark|listen|follow"
    r"|subscribe|comments?|\d+\s(?:comments?|shares?)|copy\slink|link\scopied|gift|menu|home"
    r"|search|sign\sin|log\sin)"
)

# Boilerplate sentences, in texts with and without line breaks.
_BOILERPLATE_SENTENCE = re.compile(
    rf"""
    # A byline with a role: "By Jo Roe, Political Editor".
    (?:[Bb]y|BY|(?:Words|Written|Reported|Reporting|Story|Text)\s[Bb]y)\s+{_NAMES}
        (?:\s*(?:,|\||-|―)\s*|\s+)(?:[\w&'.-]+\s+){{0,4}}{_ROLE}(?:\s(?:in|at|for)\s{_NAMES})?
    # A date of publication: "Updated 3 hours ago".
    | (?i: {_TIMESTAMP_LABEL}\b[\s:,|·•/()-]*(?:{_DATE_WORD}\b[\s.,:|·•/()―–+-]*)+ )
    """,
    re.VERBOSE,
)

# A sentence end without a space, as in "in years.Will", but not in a name such as "Medical.Net".
_MISSING_SPACE = re.compile(
    r"(?<=[a-z]{3}[.!?])(?<!www\.)(?=(?!Net\b|Com\b|Org\b|Js\b)[A-Z][a-z]+\b)"
)

# Boilerplate lines. A sentence of an article may match too, so the pattern is only for whole lines.
_BOILERPLATE_LINE = re.compile(
    rf"""
    # A byline, a role, an agency, a date.
    (?:[Bb]y|BY|(?:Words|Written|Reported|Reporting|Story|Text)\s[Bb]y)\s+{_NAMES}
        (?:\s*(?:,|and|&|\||/)\s*{_NAMES}){{0,4}}
    | (?:[A-Z][\w&'-]*\s+){{0,4}}{_ROLE}(?:,?\s(?:in|at|for)?\s?{_NAMES})?
    | {_AGENCY}(?:\s(?:News|Sport|Staff))?
    | (?i: (?:{_TIMESTAMP_LABEL}[\s:,|·•/-]+)?(?=[^a-z]*\d|.*\b(?:ago|today|yesterday|now)\b)
        (?:{_DATE_WORD}\b[\s.,:|·•/()―–+-]*)+ )
    # A caption or a credit.
    | (?i: [(\[]?(?:file\s)?(?:photo(?:graph)?|image|picture|pic|video|graphic|illustration)s?
        (?:\s(?:caption|source|credit|copyright|by|courtesy|via|from))*\s*(?:[:/|―–,-]|\sby\s).* )
    | (?i: (?:image|photo|picture)\s(?:caption|source|credit|copyright)\b.* )
    | (?i: (?:caption|credit|pictured|watch|listen|read\smore|read\snext|see\salso|related
        |recommended|copyright|source)\s*:.* )
    | (?:\(c\)|©).* | (?i: (?:ap|getty|reuters|afp|epa|pa|alamy)\s(?:photo|images?|file)\b.* )
    # Buttons, advertisements, notices of the page.
    | (?i: (?:{_BUTTON}[\s|·•/,!-]*)+ )
    | (?i: share\s(?:this|on|via|with)\b.{{0,40}} | follow\s(?:us|me)\b.{{0,40}}
        | (?:subscribe|sign\sup|register|log\sin|click\shere|tap\shere|download)\b.{{0,80}}[^.]
        | (?:listen\sto|save|read|print|bookmark)\s(?:this|the)\s(?:article|story|page).{{0,30}}
        | read\smore | advertise?ment | advert | sponsored(?:\scontent)? | promoted | loading\W*
        | skip\sto\s(?:main\s)?content | (?:this\sarticle\sis\s)?more\sthan\s\d+\s\w+\sold
        | \d+\smin(?:ute)?s?\sread | key\spoints | (?:story\s)?highlights | in\sbrief
        | at\sa\sglance | breaking(?:\snews)? | live | exclusive | .{{0,40}}\bcookies?\b.{{0,60}} )
    # The head of a press release or of an e-mail: its kind, contacts, place and date.
    | (?i: for\s(?:immediate\s)?release(?:\s*:.*)? | embargo(?:ed)?\b.{{0,80}}[^.]
        | (?:press|media|news)\s(?:release|statement|advisory)
            (?:,?\s(?:no\.?\s?)?[\d#].* | \s*[:|–-].*)?
        | (?:(?:press|media|news)\s)?(?:contacts?|enquiries|inquiries)\s*:.*
        | (?:phone|tel(?:ephone)?|mobile|fax|e-?mail|web(?:site)?)\b\.?\s*:.*
        | (?:from|to|cc|subject|sent|date|reply-to)\s*:.*
        | [\w.+-]+@[\w.-]+ | (?:https?://|www\.)\S+ | [+(]?\d[\d\s().+/-]{{5,}}\d )
    | {_NAMES}(?:,\s{_NAMES}){{0,2}},\s{_DATE}
    # A navigation path: "Home > News > Politics".
    | \w[\w\s&]{{0,30}}(?:\s[>›]\s[\w\s&]{{1,30}})+
    """,
    re.VERBOSE,
)

# "LONDON (Reuters) - ", "NORRVIK, Nov 16 (AFP) - ", "NORRVIK, Eltor - ", "Norrvik, 16 Nov 2026 - "
_DATELINE = re.compile(
    rf"""
    (?: {_NAMES}(?:[,/]\s?{_NAMES}){{0,2}}(?:,?\s{_DATE})?,?(?:\s|--)
        (?:\((?:{_AGENCY})(?:[/,]\s?[\w\s]+)?\)|/PRNewswire[^/]{{0,40}}/)
      | [A-Z][A-Z.'-]+(?:\s[A-Z][A-Z.'-]+){{0,3}}(?:,\s{_NAMES})?(?:,?\s{_DATE})?
      | {_NAMES}(?:,\s{_NAMES}){{0,2}},\s{_DATE}
    )
    \s*(?:--|\s-|[―—–])\s*(?=["'`]?[A-Z\d])
    """,
    re.VERBOSE,
)

_FINAL_PUNCTUATION = re.compile(r"""[.!?…⋯。！？:;,―—–-]["')\]}»”’]*\Z""")
_SCENE_START = re.compile(r"(?:It (?:was|is)|There (?:was|were|is|are)|Imagine|Picture)\b")
_CAPITALIZED_WORD_INSIDE = re.compile(r"\s[\"'`(\[]?(?!I\b)[A-Z]")
# Verbs of sentences that have the news.
_NEWS_VERB = re.compile(
    rf"\b(?:{REPORTING_VERB_PATTERN}|announced?|will|plans?|agreed|approved|ordered"
    r"|confirmed|warned|revealed|reported|published|rejected|launched|killed|arrested|died|won"
    r"|decided|ruled|according\sto)\b"
)
# Quotations, numbers and words that do not occur in scene-setting sentences.
_NOT_SCENE = re.compile(r"[\"`\d]|\b(?:has|have|today|yesterday|tomorrow|this|last|next|I|we)\b")


def article_spans(
    text: str, *, max_sentences: int | None = None, language: Language = ENGLISH
) -> tuple[list[Span], bool]:
    r"""Return the spans of an article's sentences, and whether scene-setting sentences are skipped.

    Boilerplate is left out. Scene-setting English sentences at the start are skipped if they are
    all, or all but one, of the first `max_sentences` sentences. A text that has only boilerplate is
    split by `sentence_spans`.

    >>> text = "By Jo Roe, Editor\n3 May 2026\n\nOSTHAM (AP) - It rained.\n- Sales up\n- Costs fell"
    >>> spans, _ = article_spans(text)
    >>> [text[start:end] for start, end in spans]
    ['It rained.', 'Sales up', 'Costs fell']
    """
    max_spans = None if max_sentences is None else max_sentences + _MAX_SCENE_SENTENCES
    spans = list(islice(_body_spans(text, language), max_spans))
    num_skipped = 0
    if max_sentences is not None and language.has_english_rules and len(spans) >= max_sentences:
        num_scene = _count_scene_sentences([text[start:end] for start, end in spans])
        num_skipped = num_scene if num_scene >= max_sentences - 1 else 0
    spans = spans[num_skipped:][:max_sentences]
    if not spans:
        spans = sentence_spans(text, max_sentences=max_sentences, language=language)
    return spans, num_skipped > 0


def ends_with_punctuation(line: str) -> bool:
    """Return whether a line ends with punctuation, perhaps before closing quotes and brackets."""
    return _FINAL_PUNCTUATION.search(line) is not None


def _body_spans(text: str, language: Language) -> Iterator[Span]:
    """Yield the spans of the sentences without boilerplate that have a letter or a digit."""
    is_first = True
    has_lines = "\n" in text
    paragraphs = _paragraph_spans(text) if has_lines else [(0, len(text))]
    for paragraph_start, paragraph_end in paragraphs:
        paragraph = text[paragraph_start:paragraph_end]
        if has_lines:
            if bullet := BULLET.match(paragraph):
                paragraph_start += bullet.end()
                paragraph = paragraph[bullet.end() :]
            if _is_boilerplate_line(paragraph):
                continue
        spans = iter_sentence_spans(paragraph, language)
        for start, end in _split_at_missing_spaces(paragraph, spans):
            if is_first:
                if _is_boilerplate_sentence(paragraph[start:end].rstrip(".")):
                    continue
                if dateline := _DATELINE.match(paragraph, start, end):
                    start = dateline.end()
                is_first = False
            if any(map(str.isalnum, paragraph[start:end])):
                yield paragraph_start + start, paragraph_start + end


def _split_at_missing_spaces(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield sentence spans, split where a space is missing after the end of a sentence."""
    for start, end in spans:
        for missing_space in _MISSING_SPACE.finditer(text, start, end):
            yield start, missing_space.start()
            start = missing_space.start()
        yield start, end


def _paragraph_spans(text: str) -> Iterator[Span]:
    """Yield the spans of paragraphs: single lines, and wrapped lines that belong together."""
    lines: list[Span] = []  # consecutive lines that are not empty
    start = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            first = start + line.index(stripped)
            lines.append((first, first + len(stripped)))
        elif lines:
            yield from _join_wrapped_lines(text, lines)
            lines = []
        start += len(line) + 1
    if lines:
        yield from _join_wrapped_lines(text, lines)


def _join_wrapped_lines(text: str, lines: list[Span]) -> Iterator[Span]:
    """Yield the spans of the paragraphs in consecutive lines that are not empty."""
    width = max(end - start for start, end in lines)
    contents = [text[start:end] for start, end in lines]
    is_list = (
        len(lines) > 2
        and not any(line[:1].islower() for line in contents[1:])
        and not any(map(ends_with_punctuation, contents))
    )
    paragraph_start = lines[0][0]
    for (start, end), (next_start, next_end) in pairwise(lines):
        if is_list or not _is_wrapped(text[start:end], text[next_start:next_end], width):
            yield paragraph_start, end
            paragraph_start = next_start
    yield paragraph_start, lines[-1][1]


def _is_wrapped(line: str, next_line: str, width: int) -> bool:
    """Return whether the next line continues the paragraph of a line.

    It does if it starts in lower case, if the line ends with punctuation, or if its first word did
    not fit into the `width` characters of the line. Bullets and boilerplate are no continuation.
    """
    if BULLET.match(next_line) or _is_boilerplate_line(line) or _is_boilerplate_line(next_line):
        return False
    if next_line[:1].islower() or ends_with_punctuation(line):
        return True
    has_room = len(line) + 1 + len(next_line.split(None, 1)[0]) <= width
    return not has_room and width >= _MIN_WRAP_WIDTH


def _is_boilerplate_line(line: str) -> bool:
    """Return whether a line is boilerplate, such as a byline, a date, a caption or a button."""
    if len(line) > _MAX_BOILERPLATE_CHARS:
        return False
    return _BOILERPLATE_LINE.fullmatch(line) is not None or _is_boilerplate_sentence(line)


def _is_boilerplate_sentence(sentence: str) -> bool:
    """Return whether a sentence is a byline with a role, or a date of publication."""
    return (
        len(sentence) <= _MAX_BOILERPLATE_CHARS
        and _BOILERPLATE_SENTENCE.fullmatch(sentence) is not None
    )


def _count_scene_sentences(sentences: list[str]) -> int:
    """Count the scene-setting sentences before the first sentence with a name and a news verb.

    A scene-setting sentence is short and has no number, quotation, time expression or news verb. It
    has a name only after an opening such as "It was". Return 0 if any other sentence comes first.
    """
    for index, sentence in enumerate(sentences[: _MAX_SCENE_SENTENCES + 1]):
        has_name = _CAPITALIZED_WORD_INSIDE.search(sentence) is not None
        has_news_verb = _NEWS_VERB.search(sentence) is not None
        if has_name and has_news_verb:
            return index
        if has_news_verb or (has_name and not _SCENE_START.match(sentence)):
            return 0
        if _NOT_SCENE.search(sentence) or sentence.count(" ") + 1 > _MAX_SCENE_WORDS:
            return 0
    return 0
