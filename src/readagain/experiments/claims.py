"""The paper's claims, tested as claims: each with its evidence and a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from readagain.experiments.board import ResultStore
from readagain.experiments.evidence import (
    WORDS,
    Evidence,
    Verdict,
    alike,
    as_good,
    better,
    better_on_duc,
    faster,
    larger_loss,
    small_loss,
    weighed,
)

RIVALS = (
    "topiary",
    "abs_69k",
    "abs_plus_69k",
    "ras_lstm",
    "ras_elman",
    "lvt2k_1sent",
    "lvt5k_1sent",
)
"""The earlier systems of Table 2."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper with everything that was found about it."""

    name: str
    text: str
    evidence: Sequence[Evidence]

    @property
    def verdict(self) -> Verdict:
        """Sum the evidence up; what was not measured does not count."""
        found = {each.verdict for each in self.evidence} - {"not measured"}
        if not found:
            return "not measured"
        if len(found) == 1:
            return found.pop()
        if "supported" in found or "partly supported" in found:
            return "partly supported"
        return "contradicted" if "contradicted" in found else "not supported"


def claims_of(board: ResultStore, timing: dict[str, Any] | None, recipe: str) -> list[Claim]:
    """Test every claim on the rows of one recipe."""

    def all_better(*pairs: tuple[str, str]) -> list[Evidence]:
        return [better(board, recipe, first, second) for first, second in pairs]

    ours = "read_again_lstm_copy_15k"
    return [
        Claim(
            "re-reading",
            "Reading again helps: Read-Again beats one reading at 15K and at 69K.",
            all_better(
                ("read_again_gru_15k", "gru_15k"),
                ("read_again_lstm_15k", "gru_15k"),
                ("read_again_gru_69k", "gru_69k"),
                ("read_again_lstm_69k", "gru_69k"),
            ),
        ),
        Claim(
            "re-reading at equal size",
            "Reading again helps beyond its parameters: it beats one reading with as many. (Ours; "
            "the paper has no such control.)",
            all_better(
                ("read_again_gru_15k", "wide_gru_15k"),
                ("read_again_lstm_15k", "wide_lstm_15k"),
                ("read_again_lstm_15k", "lstm_15k"),
            ),
        ),
        Claim(
            "re-reading with copying",
            "Reading again helps a network that copies, beyond its parameters, too. (Ours; the "
            "paper copies only after two readings.)",
            all_better((ours, "lstm_copy_15k"), (ours, "wide_lstm_copy_15k")),
        ),
        Claim(
            "re-reading with other weights",
            "Reading again helps when the weights begin at a half instead of zero: a sigmoid in "
            "the place of tanh. (Ours.)",
            all_better(("sigmoid_importance", "gru_15k"), ("sigmoid_importance", "wide_gru_15k")),
        ),
        Claim(
            "copying",
            "Copying helps at 15K.",
            all_better(
                ("read_again_gru_copy_15k", "read_again_gru_15k"),
                (ours, "read_again_lstm_15k"),
            ),
        ),
        Claim(
            "15K with copying matches 69K",
            "With copying, 15K does as well as 69K without, and better than the baselines at 69K.",
            [
                as_good(board, recipe, ours, "read_again_lstm_69k"),
                *all_better((ours, "gru_69k"), (ours, "abs_69k")),
            ],
        ),
        Claim(
            "2K with copying",
            "With copying, 2K loses two to three points; without, the model collapses.",
            [small_loss(board, recipe), larger_loss(board, recipe)],
        ),
        Claim(
            "decoding time", "Decoding time falls with the decoder's vocabulary.", faster(timing)
        ),
        Claim(
            "two sentences",
            "Reading two sentences helps, with either option.",
            all_better(
                ("two_sentences_option1_copy_15k", "one_sentence_copy_15k"),
                ("two_sentences_option2_copy_15k", "one_sentence_copy_15k"),
            ),
        ),
        Claim(
            "options alike",
            "Both ways to handle two sentences perform similarly.",
            [
                alike(
                    board,
                    recipe,
                    "two_sentences_option1_copy_15k",
                    "two_sentences_option2_copy_15k",
                )
            ],
        ),
        Claim(
            "important words",
            "The second reading gives larger weights to words that carry information.",
            [
                weighed(board, recipe, row, words)
                for row in (
                    "read_again_gru_15k",
                    "read_again_gru_copy_15k",
                    "read_again_gru_69k",
                    "sigmoid_importance",
                )
                for words in WORDS
            ],
        ),
        Claim(
            "vector weights",
            "A vector of weights is better than a single one.",
            all_better(("read_again_gru_15k", "scalar_importance")),
        ),
        Claim(
            "embeddings of copied words",
            "Embedding copied words by their context is better than one UNK embedding.",
            all_better(
                (ours, "copied_as_unknown_15k"),
                (
                    "read_again_lstm_copy_2k",
                    "copied_as_unknown_2k",
                ),
            ),
        ),
        Claim(
            "best on DUC",
            "Read-Again LSTM with copying beats earlier systems by the DUC protocol.",
            [better_on_duc(board, recipe, ours, rival) for rival in RIVALS],
        ),
    ]


def claims_markdown(claims: Sequence[Claim], *, level: int = 2) -> str:
    """Write claims with their verdicts, then the evidence for each that there is some for."""
    lines = ["| claim | verdict |", "|---|---|"]
    lines += [f"| {claim.text} | **{claim.verdict}**{_by_how_much(claim)} |" for claim in claims]
    for claim in claims:
        if claim.verdict == "not measured":
            continue
        lines += ["", f"{'#' * (level + 1)} {claim.name}", "", claim.text, ""]
        lines += ["| test | statistics | says |", "|---|---|---|"]
        lines += [
            f"| {each.statement} | {each.statistics} | {each.verdict} |" for each in claim.evidence
        ]
    return "\n".join(lines) + "\n"


def _by_how_much(claim: Claim) -> str:
    measured = sum(each.verdict != "not measured" for each in claim.evidence)
    is_whole = measured in (0, len(claim.evidence))
    return "" if is_whole else f" by the {measured} of {len(claim.evidence)} tests that were run"
