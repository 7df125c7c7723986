"""UNK in references: kept, stripped or dropped."""

import pytest

from readagain.errors import ConfigError, DataError
from readagain.evaluation.evaluate import apply_unk_policy

SUMMARIES = ["UNK opens", "storm", "museum"]
REFERENCES = [["UNK opens on friday"], ["storm", "a <unk> storm"], ["museum closes"]]


def test_unk_keep_changes_nothing():
    found = apply_unk_policy("keep", SUMMARIES, REFERENCES)
    assert found.rows == (0, 1, 2)
    assert list(found.summaries) == SUMMARIES
    assert [list(texts) for texts in found.references] == REFERENCES


def test_unk_strip_removes_the_word():
    found = apply_unk_policy("strip", SUMMARIES, REFERENCES)
    assert found.summaries == ("opens", "storm", "museum")
    assert found.references == (("opens on friday",), ("storm", "a storm"), ("museum closes",))


def test_unk_strip_drops_references_of_unk_alone():
    found = apply_unk_policy("strip", ["a", "b", "c"], [["UNK"], ["UNK", "b"], ["c"]])
    assert found.rows == (1, 2)
    assert found.references == (("b",), ("c",))


def test_unk_drop_removes_rows():
    found = apply_unk_policy("drop", SUMMARIES, REFERENCES)
    assert found.rows == (2,)
    assert found.summaries == ("museum",)


def test_unk_is_matched_as_a_word():
    found = apply_unk_policy("drop", ["a", "b"], [["UNK's or UNKIND"], ["drunk"]])
    assert found.rows == (0, 1)


@pytest.mark.parametrize("spelling", ["UNK", "unk", "<UNK>", "<unk>"])
def test_unk_spellings(spelling):
    found = apply_unk_policy("strip", ["a"], [[f"{spelling} opens"]])
    assert found.references == (("opens",),)


def test_sentence_marks_are_not_unk():
    assert apply_unk_policy("drop", ["a"], [["<s> museum opens </s>"]]).rows == (0,)


@pytest.mark.parametrize(
    ("policy", "references", "why"),
    [
        ("strip", ["UNK", "UNK UNK"], "references of UNK alone"),
        ("drop", ["UNK a", "b"], "with UNK"),
    ],
)
def test_unk_policy_that_leaves_nothing_is_an_error(policy, references, why):
    with pytest.raises(
        DataError, match=f"policy '{policy}' for UNK: nothing left to score; every row .*{why}"
    ):
        apply_unk_policy(policy, ["a"], [references])


def test_unknown_policy_is_an_error():
    with pytest.raises(ConfigError, match="unk is 'ignore'; expected keep, strip, drop"):
        apply_unk_policy("ignore", ["a"], [["a"]])
