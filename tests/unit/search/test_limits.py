import re

import numpy as np
import pytest

from readagain.errors import ConfigError, ShapeError
from readagain.search.beam import beam_search
from readagain.search.limits import ByteLengthConstraint, PrintedBytes, cut_to_bytes
from readagain.search.prefix import ForcedPrefix
from readagain.search.rules import LengthConstraint
from readagain.search.scoring import Scoring
from readagain.text.vocab import UNK

CHAIN = {2: {4: 0.9}, 4: {5: 0.9}, 5: {6: 0.9}, 6: {7: 0.9}}  # START, then 4 5 6 7


def printed(lengths, sources):
    generated = np.zeros(8, dtype=int)
    for word, length in lengths.items():
        generated[word] = length
    return PrintedBytes(generated=generated, copied=np.full(sources.source_ext_ids.shape, 3))


def search(model, sources, *rules, maximum=9, **options):
    words = LengthConstraint(maximum=maximum)
    return beam_search(model, sources, beam_size=3, words=words, rules=rules, **options)


@pytest.mark.parametrize(
    ("maximum", "words"), [(11, [4, 5, 6]), (10, [4, 5]), (3, [4]), (7, [4, 5])]
)
def test_a_maximum_counts_the_spaces_between_words(table_model, sources_of, maximum, words):
    sources = sources_of([4])
    limit = ByteLengthConstraint(printed({4: 3, 5: 3, 6: 3, 7: 3}, sources), maximum=maximum)
    ((best,),) = search(table_model(CHAIN), sources, limit, scoring=Scoring(length_exponent=1.0))
    assert best.ids.tolist() == words


def test_a_copied_word_is_measured_where_it_stands(sources_of):
    sizes = PrintedBytes(generated=np.arange(8), copied=np.array([[19, 18], [17, 16]]))
    found = sizes.of(np.array([0, 1]), np.array([[4, 30], [31, 5]]), np.array([[-1, 1], [0, -1]]))
    assert found.tolist() == [[4, 18], [17, 5]]


@pytest.mark.parametrize(("maximum", "words"), [(13, [UNK, 4, 5]), (12, [UNK, 4]), (8, [UNK])])
def test_forced_words_are_measured_as_the_caller_says(table_model, sources_of, maximum, words):
    sources = sources_of([4])
    model = table_model({UNK: {4: 0.9}, 4: {5: 0.6}})
    limits = ByteLengthConstraint(printed({4: 2, 5: 3}, sources), maximum=maximum, forced=[6])
    ((best,),) = search(model, sources, ForcedPrefix([[UNK]], [[-1]]), limits)
    assert best.ids.tolist() == words


def test_a_minimum_counts_no_spaces(table_model, sources_of):
    sources = sources_of([4])
    ends_soon = {2: {4: 0.9}, 4: {5: 0.2}, 5: {6: 0.2}, 6: {7: 0.2}}
    sizes = printed({4: 3, 5: 3, 6: 3, 7: 3}, sources)
    for minimum, num_words in [(3, 1), (4, 2), (6, 2), (7, 3)]:
        ((best,),) = search(
            table_model(ends_soon), sources, ByteLengthConstraint(sizes, minimum=minimum)
        )
        assert len(best) == num_words


def test_a_maximum_goes_before_a_minimum_and_says_so(table_model, sources_of):
    sources = sources_of([4])
    limit = ByteLengthConstraint(printed({4: 3, 5: 30}, sources), minimum=5, maximum=12)
    only_long = {2: {4: 1.0}, 4: {5: 0.5}}
    ((best,),) = search(table_model(only_long), sources, limit)
    assert best.ids.tolist() == [4]
    assert not best.keeps_minimum


def test_what_keeps_its_minimum_comes_first(table_model, sources_of):
    sources = sources_of([4])
    limit = ByteLengthConstraint(printed({4: 3, 5: 30, 6: 3, 7: 3}, sources), minimum=6, maximum=12)
    # 4 is likelier but leads nowhere; 6 7 is long enough.
    model = table_model({2: {4: 0.9, 6: 0.1}, 4: {5: 0.1}, 6: {7: 0.1}})
    (found,) = search(model, sources, limit, n_best=3)
    assert [(h.ids.tolist(), h.keeps_minimum) for h in found] == [([6, 7], True), ([4], False)]


def test_no_word_that_fits_leaves_an_empty_summary(table_model, sources_of):
    sources = sources_of([4])
    limit = ByteLengthConstraint(printed({4: 30}, sources), maximum=12)
    model = table_model({2: {4: 0.9}})
    ((best,),) = search(model, sources, limit)
    assert len(best) == 0


def test_limits_that_contradict_each_other_are_refused(sources_of):
    sizes = printed({}, sources_of([4]))
    with pytest.raises(ConfigError, match="at least 80 bytes and at most 75; expected 0 <= min"):
        ByteLengthConstraint(sizes, minimum=80, maximum=75)
    with pytest.raises(ConfigError, match="at least -1 bytes and at most None; expected 0 <= min"):
        ByteLengthConstraint(sizes, minimum=-1)


@pytest.mark.parametrize(("generated", "copied"), [((2, 2), (1, 3)), ((2,), (3,))])
def test_tables_of_another_shape_are_refused(generated, copied):
    message = f"shape {generated}, of copied words {copied}; expected (V,) and (B, S)"
    with pytest.raises(ShapeError, match=re.escape(message)):
        PrintedBytes(generated=np.zeros(generated, int), copied=np.zeros(copied, int))


def test_words_are_dropped_until_the_print_fits():
    assert cut_to_bytes(["düne", "wandert"], " ".join, 5) == ["düne"]
    assert cut_to_bytes(["düne", "wandert"], " ".join, 4) == []
    assert cut_to_bytes(["düne", "wandert"], " ".join, 13) == ["düne", "wandert"]


def test_half_a_surrogate_pair_counts_as_the_three_bytes_it_is_written_with():
    assert cut_to_bytes(["\ud800", "b"], " ".join, 4) == ["\ud800"]
