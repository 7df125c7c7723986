"""Reader of Annotated Gigaword (LDC2012T21): headlines and first sentences.

A file has one month of a newswire. Each tag is on its own line. `<HEADLINE>` and `<P>` (paragraph)
contain one parse tree per line. The tokens, dependencies and coreferences that follow in
`<sentences>` are skipped. Words are taken from the parse trees as in the published preprocessing of
Rush, Chopra and Weston 2015 (the repository NAMAS): the first sentence ends with the first full
stop of the first paragraph, digits become #, escapes such as &amp; stay, and headlines lose their
punctuation.
"""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

from readagain.corpus.inputs import CorpusFormat, CorpusInput, Example, SplitName
from readagain.errors import DataError
from readagain.formats.files import BUFFER_BYTES, open_bytes, walk_files
from readagain.formats.lines import describe_decode_error
from readagain.formats.records import MAX_RECORD_BYTES, Block, InvalidRecord

MAX_SENTENCES = 5
"""Maximum number of sentences of a text."""
_MONTH_FILE = re.compile(r"([a-z]{3})_eng_([0-9]{6})\.xml")
_DIGIT = re.compile("[0-9]")
_DOCUMENT, _DOCUMENT_END, _SENTENCES = b"<DOC ", b"</DOC>", b"<sentences>"
_TAG = re.compile(b"\n(%b|%b|%b)" % (_DOCUMENT, _DOCUMENT_END, _SENTENCES))
_FULL_STOP = "(. .)"
# Words that the published preprocessing removes from headlines.
_PUNCTUATION = """ " ' '' ! = - -- , ? . `` ` -rrb- -llb- \\/ """
_HEADLINE_PUNCTUATION = frozenset(_PUNCTUATION.split())

# The months of the published dev and test sets, by newswire. The other months are for training.
_MONTHS: dict[SplitName, dict[str, str]] = {
    "dev": {
        "afp": "199406 199502 199702 200308 200506 200601 200703",
        "apw": "199606 199708 199807 200204 200205 200210 200309 200608 200907",
        "cna": "200003 200102 200504 200710 200803 200912 201005",
        "ltw": "199503 199509 199803 200310 200407 200512",
        "nyt": "199512 199704 199709 200003 200203 200205 200306 200307 201011",
        "xin": "199510 199901 199904 199908 200212 200306 200406 200407 200702",
    },
    "test": {
        "afp": "199511 199604 199703 200606 200701 200704 200811",
        "apw": "199605 199608 199707 199808 200305 200412 200506 200708 200908",
        "cna": "200103 200112 200308 200904 200910 201007 201012",
        "ltw": "200312 200605 200606 200608 200805 200906",
        "nyt": "199612 199809 199910 200305 200505 200601 200808 201004 201005",
        "xin": "199704 199802 200106 200310 200411 200511 200711 200804 200902",
    },
}
SPLIT_OF_MONTH: dict[tuple[str, str], SplitName] = {
    (newswire, month): split
    for split, newswires in _MONTHS.items()
    for newswire, months in newswires.items()
    for month in months.split()
}


def find_month_files(folder: Path) -> list[Path]:
    """Return the files of Annotated Gigaword below a folder, in sorted order."""
    return sorted(path for path in walk_files(folder) if _MONTH_FILE.match(path.name))


def split_from_month(path: Path) -> SplitName:
    """Return the split of a file of Annotated Gigaword in Rush et al. 2015."""
    match = _MONTH_FILE.match(path.name.lower())
    if match is None:
        raise DataError(
            f"{path}: no month of Annotated Gigaword in this name; expected a name such as "
            "afp_eng_199405.xml.gz"
        )
    return SPLIT_OF_MONTH.get((match[1], match[2]), "train")


def _read_blocks(source: CorpusInput) -> Iterator[Block]:
    """Yield a single block without content; the worker opens and decompresses the whole file.

    Decompression takes longer than parsing, and a corpus has enough files to keep all workers busy.
    """
    yield Block(first=1, payload=None, position=source.path.stat().st_size)


def _parse_block(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    with open_bytes(source.path) as (stream, _):
        for line_number, head in _read_documents(stream):
            where = f"{source.path}:{line_number}"
            if head is None:
                yield InvalidRecord(
                    where, "no </DOC> at the end of the document; copy the file again"
                )
                continue
            try:
                yield _parse_document(head.decode(source.encoding).split("\n"))
            except UnicodeDecodeError as error:
                yield InvalidRecord(where, describe_decode_error(error))
            except DataError as error:
                yield InvalidRecord(where, str(error))


def _read_documents(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield the line number and the head of each document.

    The head has the lines before `<sentences>`, which contain the headline and the paragraphs. The
    head is None for a document without `</DOC>`. It is truncated to `MAX_RECORD_BYTES`; the first
    sentences are well within this limit. This function searches large buffers for the tags, which
    is five times as fast as reading all lines, because most lines are skipped.
    """
    start, num_lines = 0, 0  # line number of the current document, and lines of earlier buffers
    head = b""
    is_in_document = is_in_head = False
    while content := stream.read(BUFFER_BYTES):
        # Complete the last line. A tag is at the start of a line, so `_TAG` needs a \n before it.
        content = b"\n" + content + stream.readline(MAX_RECORD_BYTES)
        position = 0
        for match in _TAG.finditer(content):
            if is_in_head:
                head = (head + content[position : match.start()])[:MAX_RECORD_BYTES]
            position, tag = match.end(), match[1]
            if tag == _SENTENCES:
                is_in_head = False
                continue
            if is_in_document:
                yield start, head if tag == _DOCUMENT_END else None
            is_in_document = is_in_head = tag == _DOCUMENT
            if is_in_document:
                start = num_lines + content.count(b"\n", 0, position)
                head = b""
        if is_in_head:
            head = (head + content[position:])[:MAX_RECORD_BYTES]
        num_lines += content.count(b"\n") - 1
    if is_in_document:
        yield start, None


def _parse_document(lines: list[str]) -> Example:
    """Return the first sentences and the headline of a document; both may be empty."""
    headline, paragraphs = "", list[list[str]]()  # parse trees
    tag = ""  # the tag that contains the current line
    for line in map(str.strip, lines):
        if line == "<P>":
            paragraphs.append([])
            tag = line
        elif line == "<HEADLINE>":
            tag = line
        elif line.startswith("<"):
            tag = ""
        elif tag == "<P>" and line:
            paragraphs[-1].append(line)
        elif tag and line and not headline:
            headline = line
    _check_parse(headline, "<HEADLINE>")
    headline_words = _words_of(headline)
    return Example(
        "\n".join(" ".join(words) for words in _first_sentences(paragraphs)),
        " ".join(word for word in headline_words if word not in _HEADLINE_PUNCTUATION),
        full_headline=" ".join(headline_words),
    )


def _check_parse(line: str, tag: str) -> None:
    """Raise a DataError if a line is neither empty nor a parse tree."""
    if line and not _is_parse(line):
        raise DataError(
            f"{tag} has no parse; expected Annotated Gigaword (LDC2012T21), not the plain text of "
            "Gigaword"
        )


def _is_parse(line: str) -> bool:
    return line.startswith("(")


def _first_sentences(paragraphs: list[list[str]]) -> list[list[str]]:
    """Return the words of the first sentences; `paragraphs` has the parse trees of each paragraph.

    The corpus may split a sentence after an abbreviation, so the first sentence has all parse trees
    up to the first full stop. The text ends before the first of the following lines that is not a
    parse tree; the published preprocessing reads only the first sentence.
    """
    first, *others = paragraphs or [[]]
    end = next((i for i, tree in enumerate(first, start=1) if _FULL_STOP in tree), len(first))
    for line in first[:end]:
        _check_parse(line, "<P>")
    lines = [*first[end:], *(line for paragraph in others for line in paragraph)]
    following = list(takewhile(_is_parse, lines))
    sentences = [_words_of(" ".join(first[:end])), *map(_words_of, following[: MAX_SENTENCES - 1])]
    return [words for words in sentences if words]


def _words_of(tree: str) -> list[str]:
    """Return the words of a parse tree up to the first full stop, in lower case, with # for digits.

    >>> _words_of("(S (NP (NNP Tarn)) (VP (VBZ pays) (NP (CD 12))) (. .))")
    ['tarn', 'pays', '##', '.']
    """
    words = []
    for token in tree.split():
        # Only words end with brackets, as in "Tarn))"; a label such as "(NP" does not.
        if token.endswith(")") and (word := token.strip(")")):
            words.append(_DIGIT.sub("#", word.lower()))
            if word == ".":
                break
    return words


FORMAT = CorpusFormat(
    read_blocks=_read_blocks,
    parse_block=_parse_block,
    is_text_tokenized=True,
    is_headline_tokenized=True,
)
