from math import log

from readagain.classic import topics
from readagain.classic.topics import Topics

COMMON = ["the", "said", "people", "bridge"]


def test_a_word_scores_by_its_rank_and_by_how_often_it_stands_here():
    assert Topics(COMMON).score("people", 1) == log(4)
    assert Topics(COMMON).score("people", 3) == 3 * log(4)


def test_rare_words_all_score_the_same(monkeypatch):
    monkeypatch.setattr(topics, "LEAST_COMMON", 3)
    assert Topics(COMMON).score("bridge", 1) == Topics(COMMON).score("zeppelin", 1) == log(4)


def test_the_rarest_come_first_and_equals_in_the_order_of_the_text():
    forms = ["people", "saw", "zeppelin", "over", "ghent"]
    assert Topics(COMMON).ranked(forms, {1: "v-d"}) == [2, 4, 0]


def test_a_word_that_stands_twice_is_named_once_and_counts_double():
    forms = ["zeppelin", "bridge", "people", "bridge"]
    common = ["people", "bridge", "1", "2", "3", "4", "zeppelin"]
    assert Topics(common).ranked(forms, {}) == [1, 0, 2]  # 2 log 3, log 8, log 2


def test_small_words_signs_and_numbers_are_no_topics():
    assert Topics(COMMON).ranked(["the", "of", ",", "1987", "##"], {}) == []


def test_what_is_excluded_is_no_topic():
    assert Topics(COMMON, excluded=["UNK"]).ranked(["UNK", "ferry"], {}) == [1]


def test_words_that_the_parser_takes_for_verbs_or_adjectives_are_no_topics():
    assert Topics(COMMON).ranked(["ferry", "sank", "old"], {0: "n", 1: "v-d", 2: "a"}) == [0]
