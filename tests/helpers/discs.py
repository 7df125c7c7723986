"""Invented files in the layout of Annotated Gigaword (LDC2012T21) and of DUC as NIST sends it."""

import gzip
from collections.abc import Iterable
from pathlib import Path

AUTHORS = ("A", "B", "C", "D")


def parse_of(sentence: str) -> str:
    """Return a flat parse of a sentence whose words are separated by spaces."""
    words = [f"({'.' if word == '.' else 'NN'} {word})" for word in sentence.split()]
    return f"(ROOT (S {' '.join(words)}))"


def agiga_document(
    number: int, headline: str | None, *paragraphs: Iterable[str], id: str = "AFP_ENG_19940512"
) -> str:
    """Return a document; a paragraph is a list of sentences with spaces between the words."""
    lines = [f'<DOC id="{id}.{number:04d}" type="story" >']
    if headline is not None:
        lines += ["<HEADLINE>", parse_of(headline), "</HEADLINE>"]
    lines += ["<DATELINE>", parse_of("Tarn , May 12 -LRB- AFP -RRB-"), "</DATELINE>", "<TEXT>"]
    for paragraph in paragraphs:
        lines += ["<P>", *map(parse_of, paragraph), "</P>"]
    lines += ["</TEXT>", "<sentences>", '<sentence id="1">', "<tokens>", '<token id="1">']
    lines += ["<word>Tarn</word>", "</token>", "</tokens>", f"<parse>{parse_of('Tarn')}</parse>"]
    lines += ["</sentence>", "</sentences>", "<coreferences>", "</coreferences>", "</DOC>"]
    return "".join(f"{line}\n" for line in lines)


def write_month(folder: Path, name: str, *documents: str) -> Path:
    """Write one month of a newswire, such as `afp_eng_199405`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.xml.gz"
    content = f'<FILE id="{name}">\n{"".join(documents)}</FILE>\n'
    path.write_bytes(gzip.compress(content.encode(), mtime=0))
    return path


def write_annotated_gigaword(folder: Path, num_documents: int = 20) -> Path:
    """Write a disc with months of the train, dev and test splits."""
    towns = ("Norrvik", "Eastmoor", "Tarn", "Hallby")
    months = {
        "afp_eng_199405": "Monday",
        "xin_eng_200101": "Tuesday",
        "afp_eng_199406": "Wednesday",
        "nyt_eng_201005": "Thursday",
    }
    for name, day in months.items():
        documents = [
            agiga_document(
                number,
                f"{town} opens new harbour {letter} , officials say",
                [f"The town of {town} opened its new harbour {letter} on {day} , officials said ."],
                [f"Ships will come to {town} in {number + 2} days ."],
            )
            for number in range(num_documents)
            for town in [towns[number % len(towns)]]
            for letter in [
                "abcdefghjklmnopqrstuvwxyz"[number]
            ]  # digits are masked, " i " is filtered
        ]
        documents.append(agiga_document(num_documents, None, ["A text without a headline ."]))
        write_month(folder / "data" / "xml", name, *documents)
    return folder


def write_duc(
    folder: Path, year: int, num_documents: int = 3, *, references: bool = True
) -> list[Path]:
    """Write the documents of task 1 and their references; return the documents."""
    if year == 2003:
        docs = folder / "DUC2003_Summarization_Documents/duc2003_testdata/task1"
        docs /= "docs.without.headlines"
        models = folder / "detagged.duc2003.abstracts/models"
    else:
        docs = folder / "DUC2004_Summarization_Documents/duc2004_testdata/tasks1and2"
        docs = docs / "duc2004_tasks1and2_docs" / "docs"
        models = folder / "duc2004_results/ROUGE/eval/models/1"
    written = []
    for number in range(num_documents):
        name = f"APW19981016.{number:04d}"
        path = docs / "d30001t" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TEXT>\n&UR; TARN, Eastmoor (AP) _ The council "
            f"of\nTarn opened bridge {number} on Friday, 12 years after it was planned by the "
            "town, and the region paid for most of it, according to officials.\n<P>\nTraffic "
            "starts on Monday.\n</TEXT>\n</DOC>\n"
        )
        written.append(path)
        for author in AUTHORS if references else ():
            models.mkdir(parents=True, exist_ok=True)
            reference = models / f"D30001.P.10.T.{author}.{name}"
            reference.write_text(f"Tarn opens bridge {number}, \nwrites {author}\n")
    return written
