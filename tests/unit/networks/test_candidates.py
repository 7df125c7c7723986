import torch

from readagain.networks.network import SourceMemory, StepLogits
from readagain.networks.step_model import top_candidates
from readagain.text.vocab import BOS, EOS, PAD, UNK

V = 6  # ids 4 and 5 are words


def find_candidates(vocab_logits, copy_logits, ext_ids, k=10, **options):
    """Return the candidates of one hypothesis; `copy_logits` may be None."""
    copy = None if copy_logits is None else torch.tensor([copy_logits])
    valid, states = torch.ones(1, len(ext_ids), dtype=torch.bool), torch.zeros(1, len(ext_ids), 1)
    memory = SourceMemory(states=states, valid=valid, keys=states, ext_ids=torch.tensor([ext_ids]))
    logits = StepLogits(torch.tensor([vocab_logits]), copy, attention=states.squeeze(2))
    return top_candidates(logits, memory, k, **options)


def test_special_tokens_are_never_candidates():
    for copy_logits in (None, [0.0, 0.0]):
        best = find_candidates([9.0, 9.0, 9.0, 9.0, 1.0, 0.0], copy_logits, [PAD, UNK])
        assert not {PAD, UNK, BOS, EOS} & set(best.ids[0].tolist())
        assert best.ids[0, :2].tolist() == [4, 5]


def test_unk_is_a_candidate_if_allowed():
    logits = [9.0, 5.0, 9.0, 9.0, 4.0, 6.0]
    for k, expected in (2, [5, UNK]), (10, [5, UNK, 4]):
        best = find_candidates(logits, None, [4], k, allow_unk=True)
        assert best.ids.tolist() == [expected]
        log_probs = torch.tensor([logits]).log_softmax(1)
        torch.testing.assert_close(best.log_probs, log_probs[:, expected])


def test_candidates_include_eos_log_prob():
    best = find_candidates([0.0] * V, [0.0, 0.0], [4, V + 1])
    torch.testing.assert_close(best.end_log_probs.exp(), torch.tensor([1 / 8]))
    best = find_candidates([0.0] * V, None, [4, V + 1])
    torch.testing.assert_close(best.end_log_probs.exp(), torch.tensor([1 / 6]))


def test_copied_from_is_most_probable_position():
    best = find_candidates([0.0] * 5 + [3.0], [1.0, 2.0, 1.0, 0.0], [V, V, 4, 5])
    copied_from = dict(zip(best.ids[0].tolist(), best.copied_from[0].tolist(), strict=True))
    assert copied_from[V] == 1  # position 1 has the larger share
    assert copied_from[4] == 2  # copying at e¹ beats generating at e⁰
    assert copied_from[5] == -1  # generating at e³ beats copying at e⁰


def test_copy_probabilities_of_a_word_are_summed():
    best = find_candidates([0.0, 0.0, 0.0, 0.0, 0.5, 0.0], [0.0, 0.1, 0.0], [4, 4, 5])
    copied_from = dict(zip(best.ids[0].tolist(), best.copied_from[0].tolist(), strict=True))
    assert copied_from[4] == 1  # generating at e^0.5 beats each position, but not both together


def test_unused_ids_come_last():
    best = find_candidates([0.0] * V, [0.0, 0.0], [4, V + 1], k=4)
    assert best.log_probs[0, -1] == -torch.inf
    assert set(best.ids[0, :3].tolist()) == {4, 5, V + 1}


def test_large_k_returns_all_words():
    assert find_candidates([0.0] * V, None, [4], k=50).ids.shape == (1, 2)


def test_candidates_are_sorted_by_probability():
    best = find_candidates([0.0, 0.0, 0.0, 0.0, 1.0, 2.0], None, [4])
    assert best.ids[0].tolist() == [5, 4]
    expected = torch.tensor([0.0, 0.0, 0.0, 0.0, 1.0, 2.0]).log_softmax(0)[[5, 4]]
    torch.testing.assert_close(best.log_probs[0], expected)
