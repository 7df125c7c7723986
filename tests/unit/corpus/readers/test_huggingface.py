import sys
from types import ModuleType

import pytest

from readagain.corpus.inputs import Example
from readagain.corpus.readers import huggingface
from readagain.errors import DataError, MissingExtraError


@pytest.fixture
def calls(monkeypatch):
    """Stand in for the `datasets` package; gather what it was asked for."""
    asked = []

    def load_dataset(name, config, *, split, streaming):
        asked.append((name, config, split, streaming))
        if name == "absent/set":
            raise ValueError("Dataset 'absent/set' does not exist.\nmore")
        if name == "empty/set":
            return []
        return [{"document": f"text {n}", "summary": f"head {n}", "id": n} for n in range(5)]

    module = ModuleType("datasets")
    module.load_dataset = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", module)
    return asked


def test_a_dataset_is_streamed_by_its_name(calls, read_records, monkeypatch):
    monkeypatch.setattr(huggingface, "BLOCK_RECORDS", 2)
    assert read_records("hf:some/news") == [Example(f"text {n}", f"head {n}") for n in range(5)]
    assert set(calls) == {("some/news", None, "train", True)}


@pytest.mark.parametrize(
    ("argument", "asked"),
    [
        ("hf:news:validation", ("news", None, "validation", True)),
        ("hf:cnn:3.0.0:test", ("cnn", "3.0.0", "test", True)),
    ],
)
def test_split_and_config_follow_the_name(calls, read_records, argument, asked):
    read_records(argument)
    assert calls[0] == asked


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("hf:absent/set", "hf:absent/set: the dataset cannot be opened: Dataset 'absent/set' does"),
        ("hf:empty/set", "hf:empty/set: the dataset has no rows"),
        ("hf:a:b:c:d", "expected hf:NAME, hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT"),
    ],
)
def test_what_cannot_be_opened_is_named(calls, read_records, argument, message):
    with pytest.raises(DataError, match=message):
        read_records(argument)


def test_without_the_package_the_pip_line_is_told(monkeypatch, read_records):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match="hf:news: .* type: pip install datasets"):
        read_records("hf:news")
