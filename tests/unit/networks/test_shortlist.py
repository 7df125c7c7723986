"""Words on a shortlist, their logits and their gradients."""

import pytest
import torch

from readagain.networks.outputs import target_log_probs
from readagain.networks.shortlist import ShortlistOutput, select_shortlists
from readagain.text.vocab import EOS, PAD, UNK

V, H = 20, 3


@pytest.fixture
def output():
    """Score ten of twenty words; two sources share a shortlist."""
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
    shortlists = output.shared_shortlists(torch.tensor([[15, 12], [V + 1, 18], [16, PAD]]))
    assert shortlists.ids.tolist() == [
        [0, 1, 2, 3, 4, 5, 6, 12, 15, 18],  # of the first two sources
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 16],
    ]
    ids = torch.tensor([[15, EOS, 7], [18, V + 1, 16], [16, 18, 8]])
    expected = [[8, EOS, UNK], [9, 11, UNK], [9, UNK, 8]]
    assert shortlists.to_columns(ids, absent=UNK).tolist() == expected


def test_ungroup_undoes_group(output):
    shortlists = output.shared_shortlists(torch.zeros((5, 4), dtype=torch.long))
    rows = torch.arange(5 * 3 * 2).view(5, 3, 2)
    assert shortlists.group(rows).shape == (3, 2 * 3, 2)
    assert torch.equal(shortlists.ungroup(shortlists.group(rows), 3), rows)


def test_shared_logits_match_full_logits(output):
    hidden = torch.randn(3, 4, H, dtype=torch.float64)
    shortlists = output.shared_shortlists(torch.tensor([[15, 12], [V + 1, 18], [16, PAD]]))
    found = output.score_shared(hidden, shortlists)
    full = output(hidden)  # (3, 4, V)
    for row, group in enumerate([0, 0, 1]):
        torch.testing.assert_close(found[row], full[row][:, shortlists.ids[group]])


def test_shortlist_of_all_words_gives_full_softmax():
    torch.manual_seed(6)
    output = ShortlistOutput(
        hidden_size=H, vocab_size=V, shortlist_size=V + 5, num_sources=2
    ).double()
    hidden = torch.randn(3, 4, H, dtype=torch.float64)
    target_ids = torch.randint(V, (3, 4))
    shortlists = output.shared_shortlists(torch.randint(V + 5, (3, 6)))
    found = target_log_probs(
        output.score_shared(hidden, shortlists), shortlists.to_columns(target_ids, absent=UNK)
    )
    torch.testing.assert_close(found, target_log_probs(output(hidden), target_ids))


def test_words_off_the_shortlist_have_no_gradient(output):
    hidden = torch.randn(2, 4, H, dtype=torch.float64)
    shortlists = output.shared_shortlists(torch.tensor([[15, 12], [V + 1, 18]]))
    logits = output.score_shared(hidden, shortlists)
    target_log_probs(logits, torch.tensor([[8, 3, 1, 1], [9, 3, 0, 0]])).sum().backward()
    has_gradient = output.project.weight.grad.any(dim=1)
    assert has_gradient.nonzero().flatten().tolist() == shortlists.ids[0].tolist()
    assert output.project.bias.grad.nonzero().flatten().tolist() == shortlists.ids[0].tolist()


def test_columns_contain_each_shortlist_word_once(output):
    ext_ids = torch.tensor([[15, 4, 15, V + 3, 11], [5, 5, PAD, PAD, PAD]])
    shortlist = output.prepare(ext_ids)
    columns = torch.arange(10 + 5).expand(2, -1)
    words = shortlist.to_ext_ids(columns, ext_ids)
    on_shortlist = [words[row][shortlist.on_shortlist[row]].tolist() for row in range(2)]
    assert on_shortlist == [[0, 1, 2, 3, 4, 5, 6, 7, 15, 11], list(range(10))]
    # 15 has the column of its first position, the OOV word that of its own position.
    assert shortlist.columns.tolist() == [[10, 4, 10, 13, 14], [5, 5, 0, 0, 0]]


def test_decoding_scores_match_training_scores(output):
    ext_ids = torch.tensor([[15, 4, 15, V + 3, 11]])
    hidden = torch.randn(1, 1, H, dtype=torch.float64)
    shortlist = output.prepare(ext_ids)
    columns = output.score(hidden[:, 0], shortlist)[0]
    assert torch.equal(columns.isfinite(), shortlist.on_shortlist[0])
    trained = output.score_shared(hidden, output.shared_shortlists(ext_ids))[0, 0]
    torch.testing.assert_close(columns.logsumexp(0), trained.logsumexp(0))
    ids = shortlist.to_ext_ids(torch.arange(15).unsqueeze(0), ext_ids)[0][shortlist.on_shortlist[0]]
    order = ids.argsort()
    torch.testing.assert_close(columns[shortlist.on_shortlist[0]][order], trained)


def test_rarest_words_of_long_source_are_masked():
    output = ShortlistOutput(hidden_size=H, vocab_size=V, shortlist_size=7, num_sources=1)
    ext_ids = torch.tensor([[19, 18, 17, 16, 15]])
    shortlist = output.prepare(ext_ids)
    words = shortlist.to_ext_ids(torch.arange(7 + 5).unsqueeze(0), ext_ids)[0]
    assert words[shortlist.on_shortlist[0]].tolist() == [0, 1, 2, 3, 17, 16, 15]
