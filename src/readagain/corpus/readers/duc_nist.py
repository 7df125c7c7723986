"""DUC 2003 and 2004, task 1, as NIST distributes them: SGML documents and four references each.

The documents are in a folder for each set, such as `docs/d30001t/APW19981016.0240`. The references
are files named after set, length, author and document, such as
`eval/models/1/D30001.P.10.T.A.APW19981016.0240`. The input is made as in the published scripts of
Rush, Chopra and Weston 2015: the first sentence without its dateline, and the second one with it
if the first is short, tokenized as in Gigaword but with real digits.
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
from readagain.text.normalization import normalize_tokens

NUM_REFERENCES = 4
MAX_SENTENCES = 5
"""Maximum number of sentences of a text."""
MIN_FIRST_CHARS = 130
"""A first sentence that is shorter is joined with the second."""
_SET_FOLDER = re.compile(r"(d[0-9]+)[a-z]?", re.IGNORECASE)
_REFERENCE = re.compile(
    r"(?P<name>(?P<set>d[0-9]+)\.[a-z]+\.[0-9]+\.[a-z]+\.[a-z0-9]+\.(?P<document>.+?))(\.html)?",
    re.IGNORECASE,
)
_FOLDER_2003 = "duc2003_testdata"
_TASK_LENGTH = "10"  # words; references of other lengths belong to other tasks
_TEXT = re.compile(r"<TEXT>(.*?)(</TEXT>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_DATELINE_END = re.compile(r" (?:--|-|_) ")
_UNPACK = (
    "unpack the references beside them: duc2004_results.tgz and in it "
    "ROUGE/duc2004.task1.ROUGE.models.tar.gz, or detagged.duc2003.abstracts.tar.gz"
)

Key = tuple[str, str]
"""Set and document in upper case."""


def find_documents(folder: Path) -> dict[Path, list[Path]]:
    """Return the documents below a folder with their references, both sorted; {} for none.

    Raises:
        DataError: for documents without references, references without documents, or several
            collections.
    """
    references: defaultdict[Key, dict[str, Path]] = defaultdict(dict)
    collections: defaultdict[Path, dict[Key, Path]] = defaultdict(dict)
    # A reference may occur several times; the one without tags is preferred.
    for path in sorted(walk_files(folder), key=lambda path: ("detagged" not in str(path), path)):
        if path.name.startswith("."):
            continue
        if reference := _REFERENCE.fullmatch(path.name):
            key = (reference["set"].upper(), reference["document"].upper())
            references[key].setdefault(reference["name"].upper(), path)
        elif document_set := _SET_FOLDER.fullmatch(path.parent.name):
            key = (document_set[1].upper(), path.name.upper())
            collections[path.parent.parent][key] = path
    # For each collection the keys of the documents that have references.
    keys = {root: documents.keys() & references.keys() for root, documents in collections.items()}
    keys = {root: with_references for root, with_references in keys.items() if with_references}
    if not keys:
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
    # DUC 2003 has the same documents with and without headlines.
    best = max(
        keys, key=lambda root: ("without.headlines" in root.name, len(keys[root]), str(root))
    )
    for root in keys:
        if not keys[root] <= keys[best]:
            raise DataError(
                f"{folder}: documents of DUC in {best} and {root}; give the folder of one year"
            )
    # A document without references stays, so that it is reported.
    return {
        path: _of_task(references[key])
        for key, path in sorted(collections[best].items(), key=lambda item: item[1])
    }


def _of_task(references: Mapping[str, Path]) -> list[Path]:
    """Return the references with the length of task 1, or else all references, sorted by name."""
    of_task = [name for name in references if f".{_TASK_LENGTH}." in name]
    return [references[name] for name in sorted(of_task or references)]


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
        path = document
        try:
            text = _read(path, source.encoding)
            references = []
            for path in reference_files:
                references.append(" ".join(_TAG.sub(" ", _read(path, source.encoding)).split()))
        except UnicodeDecodeError as error:
            yield InvalidRecord(str(path), describe_decode_error(error))
            continue
        sentences = _input_sentences(text, is_2003=_FOLDER_2003 in document.parts)
        yield Example("\n".join(sentences), references[0], tuple(references))


def _read(path: Path, encoding: str) -> str:
    with open_bytes(path) as (stream, _):
        return stream.read(MAX_RECORD_BYTES).decode(encoding)


def _input_sentences(content: str, *, is_2003: bool) -> list[str]:
    """Return the first sentences of an SGML document, tokenized as in Gigaword but with digits."""
    body = _TEXT.search(content)
    words = _TAG.sub(" ", body[1] if body else "").split()
    # A word that starts with & is an entity for typesetting, such as &UR;.
    text = html.unescape(" ".join(word for word in words if not word.startswith("&")))
    document = read_document(text, max_sentences=MAX_SENTENCES + 1)
    sentences = [text[each[0].start : each[-1].end] for each in document.sentences if each]
    if len(sentences) > 1 and len(sentences[0]) < MIN_FIRST_CHARS:
        sentences[:2] = [f"{sentences[0][:-1]} , {sentences[1]}"]
    if sentences and (")" in sentences[0] or ("_" in sentences[0] and is_2003)):
        sentences[0] = _DATELINE_END.split(sentences[0], maxsplit=1)[-1]
    return [" ".join(_tokens(sentence)) for sentence in sentences[:MAX_SENTENCES]]


def _tokens(sentence: str) -> list[str]:
    """Return normalized words, but with digits."""
    tokens = headline_tokens(sentence)
    norms = normalize_tokens(tokens)
    words = (
        token.lower() if "#" in norm else norm for token, norm in zip(tokens, norms, strict=True)
    )
    return ["," if word == "_" else word for word in words]


FORMAT = CorpusFormat(
    read_blocks=_read_blocks,
    parse_block=_parse_block,
    is_text_tokenized=True,
)
