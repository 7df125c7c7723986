"""Reader of task 1 of DUC 2003 and 2004 as NIST distributes them.

A document is an SGML file in the folder of a document set, such as
`docs/d30001t/APW19981016.0240`. It has four references, which are files named after document set,
length, author and document, such as `eval/models/1/D30001.P.10.T.A.APW19981016.0240`.

Texts are made as in the published scripts of Rush, Chopra and Weston 2015: a short first sentence
is joined with the second, its dateline is removed, and the words are tokenized as in Gigaword, but
keep their digits.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from readagain.corpus.inputs import CorpusFormat, CorpusInput, Example
from readagain.errors import DataError
from readagain.formats.files import open_bytes, walk_files
from readagain.formats.lines import describe_decode_error
from readagain.formats.records import MAX_RECORD_BYTES, Block, InvalidRecord
from readagain.text.document import headline_tokens, read_document
from readagain.text.normalization import normalize_tokens, restore_digits

NUM_REFERENCES = 4
MAX_SENTENCES = 5
"""Maximum number of sentences of a text."""
MIN_FIRST_CHARS = 130
"""A shorter first sentence is joined with the second."""
_SET_FOLDER = re.compile(r"(d[0-9]+)[a-z]?", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?P<name>(?P<set>d[0-9]+)\.[a-z]+\.[0-9]+\.[a-z]+\.[a-z]+\.(?P<document>.+?))(\.html)?",
    re.IGNORECASE,
)
_FOLDER_2003 = "duc2003_testdata"
_TASK_WORDS = "10"  # length of the references of task 1 in their file names
_TEXT = re.compile(r"<TEXT>(.*?)(</TEXT>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_DATELINE_END = re.compile(r" (?:--|-|_) ")
_UNDERSCORE = re.compile(r"(?<!\S)_(?!\S)")
_UNPACK = (
    "unpack the references beside them: duc2004_results.tgz and in it "
    "ROUGE/duc2004.task1.ROUGE.models.tar.gz, or detagged.duc2003.abstracts.tar.gz"
)

DocumentKey = tuple[str, str]
"""Names of the document set and of the document, in upper case."""


def find_documents(folder: Path) -> dict[Path, list[Path]]:
    """Return the documents below a folder in sorted order, each with its sorted references.

    Returns:
        The reference files of each document file; empty if there are neither documents nor
        references.

    Raises:
        DataError: when no document has references, references have no documents, or there are
            documents of several years.
    """
    references: defaultdict[DocumentKey, dict[str, Path]] = defaultdict(dict)
    # Documents by the folder that contains the folders of their document sets.
    collections: defaultdict[Path, dict[DocumentKey, Path]] = defaultdict(dict)
    # If a reference occurs several times, the first one is used, so files without tags are first.
    for path in sorted(walk_files(folder), key=lambda path: ("detagged" not in str(path), path)):
        if path.name.startswith("."):
            continue
        if reference := _REFERENCE.fullmatch(path.name):
            key = (reference["set"].upper(), reference["document"].upper())
            references[key].setdefault(reference["name"].upper(), path)
        elif document_set := _SET_FOLDER.fullmatch(path.parent.name):
            key = (document_set[1].upper(), path.name.upper())
            collections[path.parent.parent][key] = path
    # The keys of the documents with references, for each collection that has such documents.
    keys_of = {
        root: keys
        for root, documents in collections.items()
        if (keys := documents.keys() & references.keys())
    }
    if not keys_of:
        if collections:
            names = ", ".join(map(str, sorted(collections)))
            raise DataError(f"{folder}: no reference for the documents in {names}; {_UNPACK}")
        if references:
            raise DataError(
                f"{folder}: references of DUC without their documents; unpack "
                "DUC2003_Summarization_Documents.tgz or DUC2004_Summarization_Documents.tgz beside "
                "them"
            )
        return {}
    # DUC 2003 has the same documents with and without headlines; use those without.
    best = max(
        keys_of, key=lambda root: ("without.headlines" in root.name, len(keys_of[root]), str(root))
    )
    for root, keys in keys_of.items():
        if not keys <= keys_of[best]:
            raise DataError(
                f"{folder}: documents of DUC in {best} and {root}; give the folder of one year"
            )
    # Keep documents without references, because `_parse_block` reports them.
    return {
        path: _references_of_task(references[key])
        for key, path in sorted(collections[best].items(), key=lambda item: item[1])
    }


def _references_of_task(references: Mapping[str, Path]) -> list[Path]:
    """Return the references with the length of task 1, sorted by name; all if none has it."""
    names = [name for name in references if f".{_TASK_WORDS}." in name] or references
    return [references[name] for name in sorted(names)]


def document_files(folder: Path) -> list[Path]:
    """Return all documents and references below a folder."""
    documents = find_documents(folder)
    return [*documents, *(path for references in documents.values() for path in references)]


def _read_blocks(source: CorpusInput) -> Iterator[Block]:
    documents = find_documents(source.path)
    size = sum(path.stat().st_size for path in documents)
    yield Block(first=1, payload=list(documents.items()), position=size)


def _parse_block(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    for document, reference_files in block.payload:
        if len(reference_files) != NUM_REFERENCES:
            yield InvalidRecord(
                str(document), f"{len(reference_files)} references; expected {NUM_REFERENCES}"
            )
            continue
        path = document  # the file that is being read
        try:
            content = _read(path, source.encoding)
            references = []
            for path in reference_files:
                reference = _TAG.sub(" ", _read(path, source.encoding))
                references.append(" ".join(reference.split()))
        except UnicodeDecodeError as error:
            yield InvalidRecord(str(path), describe_decode_error(error))
            continue
        sentences = _first_sentences(content, is_2003=_FOLDER_2003 in document.parts)
        yield Example("\n".join(sentences), references[0], tuple(references))


def _read(path: Path, encoding: str) -> str:
    with open_bytes(path) as (stream, _):
        return stream.read(MAX_RECORD_BYTES).decode(encoding)


def _first_sentences(content: str, *, is_2003: bool) -> list[str]:
    """Return the first sentences of an SGML document, tokenized as in Gigaword but with digits."""
    body = _TEXT.search(content)
    words = _TAG.sub(" ", body[1] if body else "").split()
    # Omit words that start with &, which are entities for typesetting such as &UR;.
    text = html.unescape(" ".join(word for word in words if not word.startswith("&")))
    document = read_document(text, max_sentences=MAX_SENTENCES + 1)
    sentences = [
        text[sentence[0].start : sentence[-1].end] for sentence in document.sentences if sentence
    ]
    if len(sentences) > 1 and len(sentences[0]) < MIN_FIRST_CHARS:
        sentences[:2] = [f"{sentences[0][:-1]} , {sentences[1]}"]
    tokenized = [" ".join(_tokenize(sentence)) for sentence in sentences[:MAX_SENTENCES]]
    # Remove a dateline, such as "TARN (AP) _". It is searched in the words, as in the published
    # script, since there may be no space around the dash, as in "TARN (AP)--It rained".
    if tokenized and ("-rrb-" in tokenized[0] or ("_" in tokenized[0] and is_2003)):
        tokenized[0] = _DATELINE_END.split(tokenized[0], maxsplit=1)[-1]
    return [_UNDERSCORE.sub(",", sentence) for sentence in tokenized]


def _tokenize(sentence: str) -> list[str]:
    """Return normalized words, but with digits instead of #."""
    tokens = headline_tokens(sentence)
    return restore_digits(tokens, normalize_tokens(tokens))


FORMAT = CorpusFormat(read_blocks=_read_blocks, parse_block=_parse_block, is_text_tokenized=True)
