"""Compare two systems by ROUGE, with confidence intervals and significance tests.

    python examples/compare_systems.py

The scores equal those of the Perl script ROUGE-1.5.5. The base install is enough. For files, use
`readagain rouge ours.txt references.txt --protocol gigaword --compare theirs.txt`.
"""

from readagain.rouge.corpus import score_corpus
from readagain.rouge.significance import compare_reports

REFERENCES = [
    "harbour bridge closes for repairs",
    "storm cuts power to thousands",
    "council votes to keep the library open",
    "ferry crew rescued off the coast",
    "museum buys lost painting",
    "farmers ask for rain insurance",
    "schools reopen after the flood",
    "new tram line opens in spring",
]
OURS = [
    "old harbour bridge closes for repairs",
    "storm cuts power to homes",
    "council votes to keep library open",
    "crew rescued off the coast",
    "museum buys painting",
    "farmers ask for insurance",
    "schools reopen after flood",
    "tram line opens in spring",
]
THEIRS = [
    "the council of ostwick said on monday",
    "a storm cuts off homes",
    "the library of the council",
    "a ferry crew off the coast",
    "the museum said that it buys",
    "farmers in the north said",
    "schools said on friday",
    "the new tram line opens",
]


def main() -> None:
    """Print the scores of both systems and the p-values of their difference."""
    # Each item may have several references, so each has a list.
    references = [[reference] for reference in REFERENCES]
    ours = score_corpus(OURS, references, "gigaword")
    theirs = score_corpus(THEIRS, references, "gigaword")
    print(f"ROUGE-1.5.5 {ours.protocol.options.flags()}, F1 with its 95% interval")
    for name, report in (("ours", ours), ("theirs", theirs)):
        for measure in report.scores:
            f1 = report.main_score(measure)
            print(f"{name:<7} {measure}  {f1.value:.5f}  ({f1.low:.5f} to {f1.high:.5f})")
    for measure, comparison in compare_reports(ours, theirs).items():
        print(
            f"{measure}: better by {comparison.difference:.5f}, "
            f"p = {comparison.p_bootstrap:.4f} by paired bootstrap, "
            f"{comparison.p_randomization:.4f} by approximate randomization"
        )


if __name__ == "__main__":
    main()
