from math import log

from readagain.classic import topics
from readagain.classic.topics import Topics

COMMON = ["the", "said", "people", "bridge"]


def test_topic_score_is_tf_idf():
    assert Topics(COMMON).score("people", 1) == log(4)
    assert Topics(COMMON).score("people", 3) == 3 * log(4)


def test_rare_words_have_equal_idf(monkeypatch):
    monkeypatch.setattr(topics, "MAX_RANK", 3)
    assert Topics(COMMON).score("bridge", 1) == Topics(COMMON).score("zeppelin", 1) == log(4)


def test_topics_are_ranked_by_score_then_position():
    norms = ["people", "saw", "zeppelin", "over", "ghent"]
    assert Topics(COMMON).ranked(norms, {1: "v-d"}) == [2, 4, 0]


def test_repeated_topic_is_ranked_once():
    norms = ["zeppelin", "bridge", "people", "bridge"]
    common = ["people", "bridge", "1", "2", "3", "4", "zeppelin"]
    assert Topics(common).ranked(norms, {}) == [1, 0, 2]  # 2 log 3, log 8, log 2


def test_stop_words_and_numbers_are_not_topics():
    assert Topics(COMMON).ranked(["the", "of", ",", "1987", "##"], {}) == []


def test_excluded_words_are_not_topics():
    assert Topics(COMMON, excluded=["UNK"]).ranked(["UNK", "ferry"], {}) == [1]


def test_words_tagged_as_verbs_are_not_topics():
    assert Topics(COMMON).ranked(["ferry", "sank", "old"], {0: "n", 1: "v-d", 2: "a"}) == [0]
