"""Every function that reads untrusted bytes accepts or rejects mutated inputs without failures."""

import resource
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import pytest
from fuzzing.mutate import MAX_BYTES, make_input
from fuzzing.runner import fuzz_in_child, fuzz_in_process
from fuzzing.targets import TARGETS

from readagain.corpus.readers.formats import FORMATS

FEW_INPUTS = 12  # of each target
MANY_INPUTS = 600  # of each target, times its weight


def check_results(results):
    assert [failure for result in results for failure in result.failures] == []
    # A target that rejects every input does not read far enough to find anything.
    assert [each.target for each in results if each.num_inputs == each.num_rejected] == []


@pytest.mark.slow
@pytest.mark.distributed
def test_all_targets_handle_a_few_mutated_inputs():
    fuzz_target = partial(fuzz_in_process, seed=1, num_inputs=FEW_INPUTS)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        check_results(list(pool.map(fuzz_target, TARGETS)))


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.stress
def test_all_targets_handle_many_mutated_inputs():
    def fuzz_target(name):
        num_inputs = MANY_INPUTS * TARGETS[name].weight
        return fuzz_in_child(name, seed=1, first=0, num_inputs=num_inputs)

    with ThreadPoolExecutor(2) as pool:
        check_results(list(pool.map(fuzz_target, TARGETS)))


def test_every_corpus_format_has_a_target():
    assert {f"reader-{name}" for name in FORMATS} <= TARGETS.keys()


def test_mutated_inputs_are_reproducible():
    seed_inputs = [b'{"a": 1}', b"words"]
    inputs = [make_input(seed_inputs, "any", 1, index) for index in range(50)]
    assert inputs == [make_input(seed_inputs, "any", 1, index) for index in range(50)]
    assert inputs[:2] == seed_inputs
    assert len(set(inputs)) > 40
    assert max(map(len, inputs)) <= MAX_BYTES


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize(
    ("faulty_target", "reason"),
    [
        ("exception", "KeyError: 'not a ReadAgainError'"),
        ("long-message", "invalid error message"),
        ("slow", " s for 3 bytes"),
        ("memory", "MemoryError"),
        ("crash", "the process exited with -9"),
    ],
)
def test_failure_is_detected_and_fuzzing_continues(faulty_target, reason):
    result = fuzz_in_child(faulty_target, seed=1, first=0, num_inputs=3)
    (failure,) = result.failures
    assert (failure.index, result.num_inputs) == (1, 3)
    assert reason in failure.reason


def test_memory_limit_ends_with_its_target():
    limit = resource.getrlimit(resource.RLIMIT_AS)
    fuzz_in_process("rejects-all", seed=1, num_inputs=1)
    assert resource.getrlimit(resource.RLIMIT_AS) == limit


@pytest.mark.distributed
def test_rejected_inputs_are_not_failures():
    result = fuzz_in_child("rejects-all", seed=1, first=0, num_inputs=5)
    assert (result.num_rejected, result.failures) == (5, ())
