"""Sentences of articles copied from web pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.text.article import article_spans, ends_with_punctuation
from readagain.text.sentences import sentence_spans

BODY = "The council of Norrvik closed two schools on Monday."


def sentences(text, max_sentences=None):
    """Return the sentences of an article."""
    spans, _ = article_spans(text, max_sentences=max_sentences)
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    "line",
    [
        "By Jo Roe",
        "By Jo Roe, Political Editor",
        "BY JO ROE AND KIM DOE",
        "Written by Jo van Roe and Kim Doe",
        "By Reuters Staff",
        "Political Correspondent",
        "BBC News",
        "Published 16 November 2026",
        "Updated 3 hours ago",
        "Last updated: Monday, 16 Nov 2026, 10:45 am GMT",
        "16 November 2026",
        "2026-11-16",
        "5 min read",
        "Photo: The mayor at the harbour in May",
        "Image caption, The mayor at the harbour",
        "(Photo by Jo Roe/Getty Images)",
        "Getty Images",
        "Share",
        "Share | Tweet | Email",
        "Share this article",
        "Facebook Twitter WhatsApp",
        "12 comments",
        "Advertisement",
        "Sign up to our newsletter",
        "Home > News > Politics",
        "Skip to main content",
        "We use cookies to improve this page",
        "Read more: Schools to close",
        "© Norrvik Times",
        "FOR IMMEDIATE RELEASE",
        "For release: 9 June 2026",
        "MEDIA RELEASE",
        "Press release no. 12",
        "News release, 9 June 2026",
        "EMBARGOED UNTIL 00:01 ON MONDAY",
        "Contact: Jo Roe, press@norrvik.example, +1 555 0199",
        "Media contacts:",
        "jo.roe@norrvik.example",
        "+1 (555) 010-0199",
        "Tel.: 555 0199",
        "https://norrvik.example/news",
        "From: Jo Roe <jo.roe@norrvik.example>",
        "To: press@norrvik.example",
        "Subject: Schools of Norrvik",
        "Norrvik, 14 January 2026",
        "NORRVIK, Eltor, January 14, 2026",
        "Story highlights",
    ],
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_boilerplate_lines_are_skipped(line, gap):
    assert sentences(f"{line}{gap}{BODY}") == [BODY]
    assert sentences(f"{BODY}{gap}{line}{gap}It rained.") == [BODY, "It rained."]


@pytest.mark.parametrize(
    "line",
    [
        "By Monday the ferry had sunk",
        "Photo shows the lost ferry of Norrvik",
        "Published poems are rare in Norrvik",
        "Share prices fell in Norrvik",
        "Home sales fell in May",
        "News of the fire reached Norrvik on Monday",
        "Updated rules come into force on 3 May",
        "Press releases are rare in Norrvik",
        "For release of the ferry, the owners paid a million",
        "Contact sports are banned in Norrvik",
        "Norrvik, 14 January 2026, a cold day",
        "555 people left Norrvik",
    ],
)
def test_lines_of_the_article_are_read(line):
    assert sentences(f"{line}\n{BODY}") == [line, BODY]


def test_byline_and_date_in_one_line_are_skipped():
    text = f"By Jo Roe, Political Editor. Published 16 November 2026. {BODY} Updated 3 hours ago."
    assert sentences(text) == [BODY, "Updated 3 hours ago."]


@pytest.mark.parametrize(
    "dateline",
    [
        "OSTHAM (Reuters) - ",
        "OSTHAM, Nov 16 (AFP) — ",
        "Ostham, Eltor (AP) -- ",
        "NEW OSTHAM — ",
        "OSTHAM, Eltor, Nov. 16 – ",
        "OSTHAM, Eltor, November 16, 2026 -- ",
        "OSTHAM, Nov. 16, 2026 /PRNewswire/ -- ",
        "OSTHAM, Eltor--(BUSINESS WIRE)--",
        "Ostham, Eltor, 16 November 2026 – ",
        "Ostham, Nov. 16, 2026 (GLOBE NEWSWIRE) -- ",
    ],
)
def test_dateline_is_removed(dateline):
    assert sentences(f"{dateline}{BODY}") == [BODY]


@pytest.mark.parametrize(
    "text",
    [
        "The Ostham Ferry Line (OFL) - the oldest of Eltor - has closed.",
        "COVID-19 closed the school.",
        "OSTHAM UNITED - a team of amateurs - won on Monday.",
        "Of the towns in the north, Ostham lost most in May 2025 - Norrvik lost least.",
    ],
)
def test_dash_of_a_sentence_is_not_a_dateline(text):
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is the best in years.Will it sell?", ["It is the best in years.", "Will it sell?"]),
        ("He won!Now he rests.Some doubt it.", ["He won!", "Now he rests.", "Some doubt it."]),
    ],
)
def test_sentences_without_a_space_between_are_split(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "News of Medical.Net came at 3 p.m. on Monday.",
        "The U.S.Army and J.K.Rowling met in Washington D.C.",
        "Use node.Js or www.Example.com today.",
    ],
)
def test_names_with_full_stops_are_not_split(text):
    assert sentences(text) == [text]


def test_lines_without_punctuation_are_sentences():
    assert sentences("Revenue up 12% to $4.5bn\nProfit down 3%") == [
        "Revenue up 12% to $4.5bn",
        "Profit down 3%",
    ]
    assert sentences("Results:\n• Revenue up\n• Profit down\n1. Costs up") == [
        "Results:",
        "Revenue up",
        "Profit down",
        "Costs up",
    ]
    long = "The revenue of the harbour rose by 12% to $4.5bn in the first three months"
    assert sentences(f"{long}\nProfit down\nCosts up") == [long, "Profit down", "Costs up"]


def test_wrapped_paragraphs_are_joined():
    wrapped = (
        "The council of the old town of Norrvik will close two of its nine schools in\n"
        "May, a speaker said on Monday. Parents had protested against it in front of\n"
        "Norrvik Castle."
    )
    assert sentences(wrapped) == [
        "The council of the old town of Norrvik will close two of its nine schools in\n"
        "May, a speaker said on Monday.",
        "Parents had protested against it in front of\nNorrvik Castle.",
    ]
    assert sentences("Eltor is an old\ntown.") == ["Eltor is an old\ntown."]


def test_windows_line_ends_are_lines():
    assert sentences(f"By Jo Roe\r\n16 November 2026\r\n\r\n{BODY}\r\n") == [BODY]


SCENE = "It was dark in Ostham. Some people had brought blankets."
NEWS = "The council of Norrvik will sell its ferry, the mayor announced."


def test_scene_setting_sentences_are_skipped():
    assert sentences(f"{SCENE} {NEWS}", 3) == [NEWS]
    assert article_spans(f"{SCENE} {NEWS}", max_sentences=3)[1]
    assert sentences(f"{SCENE} {NEWS} It rained. It snowed.", 2) == [NEWS, "It rained."]


@pytest.mark.parametrize(
    ("text", "max_sentences"),
    [
        (f"{SCENE} {NEWS}", 4),  # the news is read anyway
        (f"{SCENE} {NEWS}", None),
        (f"{SCENE} The rain went on.", 3),  # no news follows
        (f"The Ostham ferry sank. {SCENE} {NEWS}", 3),  # begins with a name
        (f"It cost 5 crowns. {SCENE} {NEWS}", 3),
    ],
)
def test_other_first_sentences_are_read(text, max_sentences):
    expected = sentence_spans(text, max_sentences=max_sentences)
    assert article_spans(text, max_sentences=max_sentences) == (expected, False)


def test_headings_of_markdown_are_sentences():
    text = f"# Schools close\n\n{BODY}\n### Reactions\nIt rained."
    assert sentences(text) == ["Schools close", BODY, "Reactions", "It rained."]


def test_text_with_only_boilerplate_is_read():
    assert sentences("By Jo Roe\n16 November 2026") == sentences("By Jo Roe\n16 November 2026", 5)
    assert sentences("By Jo Roe") == ["By Jo Roe"]
    assert sentences("Share\n\nTweet", 1) == ["Share"]
    assert sentences(" \n ") == sentences("") == []


LINES = st.lists(
    st.sampled_from(
        ["By Jo Roe", "3 May 2026", "- Sales up", BODY, "It rained.", "", "Photo: X", "***", " a"]
    )
    | st.text(max_size=20),
    max_size=12,
)


@given(LINES.map("\n".join), st.none() | st.integers(1, 4))
def test_spans_are_ordered_and_trimmed(text, max_sentences):
    spans, _ = article_spans(text, max_sentences=max_sentences)
    bounds = [0, *(bound for span in spans for bound in span), len(text)]
    assert bounds == sorted(bounds)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert bool(spans) == bool(text.strip())


@given(st.text(alphabet=st.characters(exclude_characters="\n"), max_size=80))
def test_one_line_keeps_its_sentences_with_words(text):
    with_words = [
        (start, end)
        for start, end in sentence_spans(text)
        if any(c.isalnum() for c in text[start:end])
    ]
    assert article_spans(text)[0] == (with_words or sentence_spans(text))


def test_closing_quotes_may_follow_the_last_mark():
    assert ends_with_punctuation("“It rained.”")
    assert not ends_with_punctuation("“Rain”")
