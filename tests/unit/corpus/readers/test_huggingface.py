import sys
from types import ModuleType

import pytest
from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.corpus.readers import huggingface
from readagain.errors import DataError, MissingExtraError


@pytest.fixture
def calls(monkeypatch):
    """Replace the package `datasets`; return the list of the arguments of its calls."""
    calls = []

    def load_dataset(name, config, *, split, streaming):
        calls.append((name, config, split, streaming))
        if name == "absent/set":
            raise ValueError("Dataset 'absent/set' does not exist.\nmore")
        if name == "empty/set":
            return []
        return [{"document": f"text {n}", "summary": f"head {n}", "id": n} for n in range(5)]

    module = ModuleType("datasets")
    module.load_dataset = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", module)
    return calls


def test_dataset_is_streamed_by_name(calls, monkeypatch):
    monkeypatch.setattr(huggingface, "BLOCK_RECORDS", 2)
    assert read_records("hf:some/news") == [Example(f"text {n}", f"head {n}") for n in range(5)]
    assert set(calls) == {("some/news", None, "train", True)}


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("hf:news:validation", ("news", None, "validation", True)),
        ("hf:cnn:3.0.0:test", ("cnn", "3.0.0", "test", True)),
    ],
)
def test_dataset_name_has_split_and_config(calls, argument, call):
    read_records(argument)
    assert calls[0] == call


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("hf:absent/set", "hf:absent/set: the dataset cannot be opened: Dataset 'absent/set' does"),
        ("hf:empty/set", "hf:empty/set: the dataset has no rows"),
        ("hf:a:b:c:d", "expected hf:NAME, hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT"),
    ],
)
def test_missing_dataset_is_rejected(calls, argument, message):
    with pytest.raises(DataError, match=message):
        read_records(argument)


def test_missing_datasets_error_has_pip_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match="hf:news: .* type: pip install datasets"):
        read_records("hf:news")
