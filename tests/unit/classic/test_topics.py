from math import log

from readagain.classic import topiary
from readagain.classic.topiary import Topics

VOCABULARY = ["the", "said", "people", "bridge"]


def test_topic_score_is_tf_idf():
    assert Topics(VOCABULARY).score("people", 1) == log(4)
    assert Topics(VOCABULARY).score("people", 3) == 3 * log(4)


def test_words_beyond_max_rank_have_equal_idf(monkeypatch):
    monkeypatch.setattr(topiary, "MAX_RANK", 3)
    assert (
        Topics(VOCABULARY).score("bridge", 1) == Topics(VOCABULARY).score("zeppelin", 1) == log(4)
    )


def test_topics_are_ranked_by_score_then_position():
    norms = ["people", "saw", "zeppelin", "over", "ghent"]
    assert Topics(VOCABULARY).rank(norms, {1: "v-d"}) == [2, 4, 0]


def test_repeated_topic_is_ranked_once():
    norms = ["zeppelin", "bridge", "people", "bridge"]
    vocabulary = ["people", "bridge", "1", "2", "3", "4", "zeppelin"]
    assert Topics(vocabulary).rank(norms, {}) == [1, 0, 2]  # 2 log 3, log 8, log 2


def test_stop_words_and_numbers_are_not_topics():
    assert Topics(VOCABULARY).rank(["the", "of", ",", "1987", "##"], {}) == []


def test_unk_is_not_a_topic():
    assert Topics(VOCABULARY).rank(["UNK", "ferry"], {}) == [1]


def test_words_tagged_as_verbs_are_not_topics():
    assert Topics(VOCABULARY).rank(["ferry", "sank", "old"], {0: "n", 1: "v-d", 2: "a"}) == [0]
