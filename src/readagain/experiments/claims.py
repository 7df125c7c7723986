"""Claims of the paper, each with its tests and a verdict.

`catalog.toml` lists the tests of each claim: the name of a method of `ClaimTests` and its
arguments. Most tests compute a difference of ROUGE-1 between experiments. The claim is supported if
the whole confidence interval of the difference is within certain bounds.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from readagain.experiments.catalog import CLAIMS, UNTRAINED
from readagain.experiments.claim_tests import NO_VALUE, ClaimTests, Evidence
from readagain.experiments.store import ResultStore
from readagain.experiments.table import markdown_table


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or a claim that we added as a control, with its evidence.

    `tests` has the evidence of each test, one for each recipe; the first one decides.
    """

    name: str
    text: str
    tests: Sequence[Sequence[Evidence]]

    @property
    def verdict(self) -> str:
        """The verdict in Markdown, for example "2 **supported**, 1 **contradicted**".

        Tests that are decided by a recipe with short training have a verdict of their own.
        """
        deciding = [evidence[0] for evidence in self.tests]
        verdicts = [
            _combine_verdicts(evidence for evidence in deciding if not evidence.has_short_training)
        ]
        short_recipes = [evidence.recipe for evidence in deciding if evidence.has_short_training]
        for recipe in dict.fromkeys(short_recipes):
            combined = _combine_verdicts(
                evidence for evidence in deciding if evidence.recipe == recipe
            )
            verdicts.append(f"{combined} after the short training of recipe `{recipe}`")
        return "; ".join(filter(None, verdicts)) or "not measured"


def _combine_verdicts(evidence: Iterable[Evidence]) -> str:
    """Return the common verdict, or the number of tests with each verdict; "" if none was run."""
    counts = Counter(test.verdict for test in evidence)
    del counts["not measured"]
    if len(counts) == 1:
        return f"**{next(iter(counts))}**"
    return ", ".join(f"{count} **{verdict}**" for verdict, count in counts.most_common())


def judge_claims(store: ResultStore, timing: Mapping[str, Any] | None) -> list[Claim]:
    """Return every claim, tested on the results of every recipe.

    A test is decided by the first recipe that has all its results. If no recipe has them, the test
    has one evidence, which names the missing result.
    """
    tests_by_recipe = [ClaimTests(store, timing, recipe) for recipe in store.recipes]
    claims = []
    for claim in CLAIMS:
        claim_evidence = []
        for method, *arguments in claim["tests"]:
            evidence = [getattr(tests, method)(*arguments) for tests in tests_by_recipe]
            measured = [result for result in evidence if result.verdict != "not measured"]
            # `dict.fromkeys`: a test that does not depend on training has the same evidence for all
            # recipes.
            claim_evidence.append(list(dict.fromkeys(measured)) or evidence[:1])
        claims.append(Claim(claim["name"], claim["text"], claim_evidence))
    return claims


def claims_markdown(claims: Sequence[Claim]) -> str:
    """Return a table of the verdicts, then a table with the evidence of each measured claim."""
    verdict_rows, paragraphs = [], []
    for claim in claims:
        num_run = sum(evidence[0].verdict != "not measured" for evidence in claim.tests)
        verdict_rows.append((claim.text, claim.verdict, f"{num_run} of {len(claim.tests)}"))
        if not num_run:
            continue
        evidence_rows = []
        for evidence in claim.tests:
            for result in evidence:
                recipe = NO_VALUE if result.recipe in ("", UNTRAINED) else result.recipe
                is_deciding = result is evidence[0] and result.verdict != "not measured"
                verdict = f"**{result.verdict}**" if is_deciding else result.verdict
                evidence_rows.append((result.statement, recipe, result.paper, result.ours, verdict))
        table = markdown_table(("test", "recipe", "paper", "ours", "verdict"), evidence_rows)
        paragraphs += [f"### {claim.name}", claim.text, table]
    verdict_table = markdown_table(("claim", "verdict", "tests run"), verdict_rows)
    return "\n\n".join([verdict_table, *paragraphs]) + "\n"
