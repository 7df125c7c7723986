"""Fixtures that write invented pairs to a JSONL file, and prepare them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.shards import PreparedCorpus

PAIRS = [
    ("The harbour of Norrvik opened on Monday. Ships came at dawn.", "Norrvik opens its harbour"),
    ("A storm closed 12 schools in Eastmoor, officials said.", "Storm closes 12 Eastmoor schools"),
    ("The mayor of Tarn will not stand again next year.", "Mayor of Tarn will not stand again"),
]


@pytest.fixture
def jsonl(tmp_path) -> Callable[..., Path]:
    """Function that writes (text, headline) pairs to a JSONL file."""

    def write(pairs=PAIRS, name="pairs.jsonl") -> Path:
        path = tmp_path / name
        lines = [json.dumps({"text": text, "headline": headline}) for text, headline in pairs]
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


@pytest.fixture
def prepared(tmp_path) -> Callable[..., PreparedCorpus]:
    """Function that prepares inputs and opens the prepared corpus."""

    def run(
        *inputs,
        dev_files=(),
        test_files=(),
        out="out",
        num_workers=1,
        overwrite=False,
        read=None,
        **settings,
    ):
        options = CorpusReadOptions(**(read or {}))
        sources = [
            source
            for split, arguments in (("train", inputs), ("dev", dev_files), ("test", test_files))
            if arguments
            for source in find_inputs([str(path) for path in arguments], options, split=split)
        ]
        prepare(
            sources,
            tmp_path / out,
            PrepareSettings(**settings),
            num_workers=num_workers,
            overwrite=overwrite,
        )
        return PreparedCorpus.open(tmp_path / out, checksums=True)

    return run
