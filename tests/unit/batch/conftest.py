"""Fixtures: batch jobs with the toy model on an invented file."""

import json
from pathlib import Path

import pytest

from readagain.batch.job import BatchJob, group_inputs
from readagain.batch.locations import find_files
from readagain.batch.shard_worker import ShardConfig
from readagain.batch.shards import SplitOptions
from readagain.engine.summarizer import Summarizer
from readagain.formats.texts import TextReadOptions

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"
TEXTS = (
    "Police in Ghent said on Monday that 12 people crossed the old bridge.",
    "A storm hit the harbour, and the ferry was late by 30 percent.",
    "The council of Ghent closed the old market.",
    "Twelve people saw the ferry on Monday.",
    "The bridge was late.",
)


@pytest.fixture
def news(tmp_path):
    """JSONL file with five valid rows and an invalid one."""
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(TEXTS)]
    path = tmp_path / "news.jsonl"
    path.write_text("\n".join([*lines[:2], "not json", *lines[2:]]) + "\n")
    return path


@pytest.fixture
def make_job(tmp_path):
    """Function that returns a job that writes into the folder 'out'."""

    def make(*inputs, out=None, shard_rows=2, read=None, overwrite=False, update=False, **options):
        read = read or TextReadOptions()
        config = ShardConfig(out=str(out or tmp_path / "out"), model=str(TOY), **options)
        return BatchJob(
            inputs=tuple(group_inputs(find_files(list(map(str, inputs))), read)),
            split=SplitOptions(read=read, shard_rows=shard_rows, added_fields=config.added_fields),
            config=config,
            overwrite=overwrite,
            update=update,
        )

    return make


@pytest.fixture
def contents():
    """Function that returns the bytes of every file in a folder, by name."""

    def read(folder):
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    return read


@pytest.fixture
def texts():
    return TEXTS


@pytest.fixture(scope="session")
def headlines():
    """Headlines of the toy model for the five texts."""
    return [summary.text for summary in Summarizer.load(TOY, threads=1).summarize(list(TEXTS))]
