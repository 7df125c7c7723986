"""Words on shortlists, their logits and their gradients."""

import pytest
import torch

from readagain.networks.outputs import target_log_probs
from readagain.networks.shortlist import (
    ShortlistOutput,
    group_rows,
    select_shortlists,
    ungroup_rows,
)
from readagain.text.vocab import EOS, PAD, UNK

V, H = 20, 3


@pytest.fixture
def output():
    """Return an output layer that scores 10 of 20 words; two sources share a shortlist."""
    torch.manual_seed(5)
    return ShortlistOutput(hidden_size=H, vocab_size=V, shortlist_size=10, num_sources=2).double()


def shortlist_ids(*source_ids, size=10):
    return select_shortlists(torch.tensor([source_ids]), vocab_size=V, size=size)[0].tolist()


def test_shortlist_has_source_words_and_most_frequent():
    assert shortlist_ids(15, 4, 15, 12) == [0, 1, 2, 3, 4, 5, 6, 7, 12, 15]


def test_shortlist_ignores_oov_words_and_padding():
    assert shortlist_ids(V, V + 7, PAD, 9) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_full_shortlist_keeps_most_frequent_source_words():
    assert shortlist_ids(19, 18, 17, 16, 15, size=7) == [0, 1, 2, 3, 15, 16, 17]


def test_shortlist_of_vocab_size_has_every_word():
    assert shortlist_ids(15, size=V) == list(range(V))


def test_columns_are_ids_of_smaller_vocabulary(output):
    shortlists = output.build_shared_shortlists(torch.tensor([[15, 12], [V + 1, 18], [16, PAD]]))
    assert shortlists.tolist() == [
        [0, 1, 2, 3, 4, 5, 6, 12, 15, 18],  # for the first two sources
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 16],  # for the third source
    ]
    ids = torch.tensor([[15, EOS, 7], [18, V + 1, 16], [16, 18, 8]])
    expected = [[8, EOS, UNK], [9, 11, UNK], [9, UNK, 8]]
    assert output.to_columns(ids, shortlists, default=UNK).tolist() == expected


def test_ungroup_rows_undoes_group_rows():
    rows = torch.arange(5 * 3 * 2).view(5, 3, 2)
    groups = group_rows(rows, num_groups=3)
    assert groups.shape == (3, 2 * 3, 2)
    assert torch.equal(ungroup_rows(groups, num_rows=5, length=3), rows)


def test_shared_logits_match_full_logits(output):
    hidden = torch.randn(3, 4, H, dtype=torch.float64)
    shortlists = output.build_shared_shortlists(torch.tensor([[15, 12], [V + 1, 18], [16, PAD]]))
    logits = output.score_shared(hidden, shortlists)  # (3, 4, 10)
    full_logits = output(hidden)  # (3, 4, V)
    for row, group in enumerate([0, 0, 1]):
        torch.testing.assert_close(logits[row], full_logits[row][:, shortlists[group]])


def test_shortlist_of_all_words_gives_full_softmax():
    torch.manual_seed(6)
    output = ShortlistOutput(
        hidden_size=H, vocab_size=V, shortlist_size=V + 5, num_sources=2
    ).double()
    hidden = torch.randn(3, 4, H, dtype=torch.float64)
    target_ids = torch.randint(V, (3, 4))
    shortlists = output.build_shared_shortlists(torch.randint(V + 5, (3, 6)))
    logits = output.score_shared(hidden, shortlists)
    columns = output.to_columns(target_ids, shortlists, default=UNK)
    expected = target_log_probs(output(hidden), target_ids)
    torch.testing.assert_close(target_log_probs(logits, columns), expected)


def test_words_off_the_shortlist_have_no_gradient(output):
    hidden = torch.randn(2, 4, H, dtype=torch.float64)
    shortlists = output.build_shared_shortlists(torch.tensor([[15, 12], [V + 1, 18]]))
    logits = output.score_shared(hidden, shortlists)
    target_log_probs(logits, torch.tensor([[8, 3, 1, 1], [9, 3, 0, 0]])).sum().backward()
    has_gradient = output.project.weight.grad.any(dim=1)
    assert has_gradient.nonzero().flatten().tolist() == shortlists[0].tolist()
    assert output.project.bias.grad.nonzero().flatten().tolist() == shortlists[0].tolist()


def test_each_word_of_the_shortlist_has_one_column(output):
    ext_ids = torch.tensor([[15, 4, 15, V + 3, 11], [5, 5, PAD, PAD, PAD]])
    shortlist = output.build_source_shortlists(ext_ids)
    columns = torch.arange(10 + 5).expand(2, -1)
    words = shortlist.to_ext_ids(columns, ext_ids)
    on_shortlist = [words[row][shortlist.on_shortlist[row]].tolist() for row in range(2)]
    assert on_shortlist == [[0, 1, 2, 3, 4, 5, 6, 7, 15, 11], list(range(10))]
    # Word 15 occurs twice and has the column of its first position; an OOV word occurs once.
    assert shortlist.source_columns.tolist() == [[10, 4, 10, 13, 14], [5, 5, 0, 0, 0]]


def test_decoding_logits_match_training_logits(output):
    ext_ids = torch.tensor([[15, 4, 15, V + 3, 11]])
    hidden = torch.randn(1, 1, H, dtype=torch.float64)
    shortlist = output.build_source_shortlists(ext_ids)
    on_shortlist = shortlist.on_shortlist[0]
    logits = output.score_by_source(hidden[:, 0], shortlist)[0]
    assert torch.equal(logits.isfinite(), on_shortlist)
    ids = shortlist.to_ext_ids(torch.arange(15).unsqueeze(0), ext_ids)[0]
    ascending = ids[on_shortlist].argsort()
    training_logits = output.score_shared(hidden, output.build_shared_shortlists(ext_ids))[0, 0]
    torch.testing.assert_close(logits[on_shortlist][ascending], training_logits)


def test_rarest_words_of_long_source_are_masked():
    output = ShortlistOutput(hidden_size=H, vocab_size=V, shortlist_size=7, num_sources=1)
    ext_ids = torch.tensor([[19, 18, 17, 16, 15]])
    shortlist = output.build_source_shortlists(ext_ids)
    words = shortlist.to_ext_ids(torch.arange(7 + 5).unsqueeze(0), ext_ids)[0]
    assert words[shortlist.on_shortlist[0]].tolist() == [0, 1, 2, 3, 17, 16, 15]
