"""A minute of the long run: no reader of strangers' bytes breaks a promise, and breaking shows."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from fuzzing.mutate import MAX_BYTES, mutated
from fuzzing.targets import TARGETS
from fuzzing.watch import watched

from readagain.corpus.readers.formats import FORMATS

INPUTS = 150  # of each target, times its weight


@pytest.mark.slow
@pytest.mark.distributed
def test_no_reader_breaks_a_promise():
    def feed(name):
        return watched(name, seed=1, first=0, inputs=INPUTS * min(TARGETS[name].weight, 2))

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(feed, TARGETS))
    assert [each for outcome in outcomes for each in outcome.broken] == []
    assert [each.target for each in outcomes if each.inputs == each.refused] == []  # all refused


def test_every_format_is_fed():
    short = {"csv": "csv", "jsonl": "jsonl", "huggingface": "huggingface"}
    assert {f"reader-{short.get(name, name)}" for name in FORMATS} <= TARGETS.keys()


def test_an_input_is_the_same_whenever_it_is_made():
    seeds = [b'{"a": 1}', b"words"]
    first = [mutated(seeds, "any", 1, index) for index in range(50)]
    assert first == [mutated(seeds, "any", 1, index) for index in range(50)]
    assert first[:2] == seeds
    assert len(set(first)) > 40
    assert max(map(len, first)) <= MAX_BYTES


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize(
    ("careless", "told"),
    [
        ("raises", "KeyError: 'a traceback nobody asked for'"),
        ("talks", "no line for a person"),
        ("lingers", " s for 3 bytes"),
        ("hoards", "MemoryError"),
        ("dies", "the process ended with -9"),
    ],
)
def test_a_broken_promise_is_noticed_and_the_rest_is_fed(careless, told):
    outcome = watched(careless, seed=1, first=0, inputs=3)
    (broken,) = outcome.broken
    assert (broken.index, outcome.inputs) == (1, 3)
    assert told in broken.what


@pytest.mark.distributed
def test_a_refusal_is_no_broken_promise():
    outcome = watched("refuses", seed=1, first=0, inputs=5)
    assert (outcome.refused, outcome.broken) == (5, ())
