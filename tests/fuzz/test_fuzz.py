"""Every reader of untrusted bytes accepts or refuses mutated inputs; the fuzzer finds errors."""

import resource
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import pytest
from fuzzing.mutate import MAX_BYTES, mutated
from fuzzing.targets import TARGETS
from fuzzing.watch import feed, watched

from readagain.corpus.readers.formats import FORMATS

FEW_INPUTS = 12  # of each target
MANY_INPUTS = 600  # of each target, times its weight


def check_outcomes(outcomes):
    assert [each for outcome in outcomes for each in outcome.broken] == []
    assert [each.target for each in outcomes if each.inputs == each.refused] == []


@pytest.mark.slow
@pytest.mark.distributed
def test_all_targets_handle_a_few_mutated_inputs():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        check_outcomes(list(pool.map(partial(feed, seed=1, inputs=FEW_INPUTS), TARGETS)))


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.stress
def test_all_targets_handle_many_mutated_inputs():
    def watch(name):
        return watched(name, seed=1, first=0, inputs=MANY_INPUTS * TARGETS[name].weight)

    with ThreadPoolExecutor(2) as pool:
        check_outcomes(list(pool.map(watch, TARGETS)))


def test_every_corpus_format_has_a_target():
    short = {"csv": "csv", "jsonl": "jsonl", "huggingface": "huggingface"}
    assert {f"reader-{short.get(name, name)}" for name in FORMATS} <= TARGETS.keys()


def test_mutated_inputs_are_reproducible():
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
def test_error_of_a_target_is_found_and_feeding_continues(careless, told):
    outcome = watched(careless, seed=1, first=0, inputs=3)
    (broken,) = outcome.broken
    assert (broken.index, outcome.inputs) == (1, 3)
    assert told in broken.what


def test_memory_limit_ends_with_its_target():
    before = resource.getrlimit(resource.RLIMIT_AS)
    feed("refuses", seed=1, inputs=1)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.mark.distributed
def test_refused_inputs_are_not_errors():
    outcome = watched("refuses", seed=1, first=0, inputs=5)
    assert (outcome.refused, outcome.broken) == (5, ())
