"""`readagain rouge`: score summaries like ROUGE-1.5.5 without Perl, or over Unicode words."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.cli import options
from readagain.cli.options import as_option
from readagain.errors import ConfigError
from readagain.rouge.options import PROTOCOLS, SCORE_KINDS, Protocol, RougeOptions, find_protocol

if TYPE_CHECKING:
    from readagain.rouge.corpus import Report
    from readagain.rouge.significance import Comparison

_PANEL = "ROUGE options, not allowed with --protocol (in brackets: flag of the Perl script)"
EXAMPLES = (
    "readagain rouge summaries.txt references.txt --protocol gigaword",
    "readagain rouge summaries.txt references.txt --unicode --compare other.txt",
)


@options.spec_options(RougeOptions(), panel=_PANEL)
def command(
    ctx: typer.Context,
    summaries: Annotated[
        Path,
        typer.Argument(metavar="HYP", help="File of summaries, one per line.", show_default=False),
    ],
    references: Annotated[
        list[Path],
        typer.Argument(metavar="REF", help="Files of references; line n belongs to line n of HYP."),
    ],
    *,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Protocol, which sets all ROUGE options: {', '.join(PROTOCOLS)}.",
        ),
    ] = None,
    as_json: options.AsJson = False,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER_HYP",
            help="Summaries of another system, to test whether the scores differ.",
        ),
    ] = None,
    sentence_break: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Separator of sentences in a line, such as '<q>'."),
    ] = None,
    main_score: Annotated[
        str,
        typer.Option(
            metavar="|".join(SCORE_KINDS),
            help="Score that gets a confidence interval.",
            rich_help_panel=_PANEL,
        ),
    ] = Protocol().main_score,
    **rouge_options: Any,
) -> None:
    """Score summaries against references, exactly as the Perl script ROUGE-1.5.5 does.

    The script ignores all characters except ASCII letters and digits; use --unicode for languages
    other than English.
    """
    from readagain.rouge.corpus import score_corpus
    from readagain.rouge.significance import compare_reports
    from readagain.rouge.tokens import lost_letters_warning

    if protocol is not None:
        _check_conflicts(ctx)
        settings = find_protocol(protocol)
    else:
        settings = Protocol(
            options=RougeOptions(**rouge_options),
            main_score=main_score,  # type: ignore[arg-type]
        )
    systems = [summaries] if compare is None else [summaries, compare]
    texts, reference_groups = _read_files(systems, references, sentence_break)
    if not settings.options.unicode and (warning := lost_letters_warning(reference_groups)):
        print(f"warning: {warning}", file=sys.stderr)
    reports = [score_corpus(system_texts, reference_groups, settings) for system_texts in texts]
    comparison = compare_reports(*reports) if compare is not None else {}
    if as_json:
        content = reports[0].as_json()
        if comparison:
            content["other"] = reports[1].as_json()
            content["comparison"] = {name: asdict(test) for name, test in comparison.items()}
        print(json.dumps(content, indent=2))
    else:
        _print_tables(reports, comparison, systems)


def _check_conflicts(ctx: typer.Context) -> None:
    """Raise `ConfigError` if an option is given that the protocol sets."""
    conflicts = [
        as_option(str(param.name))
        for param in ctx.command.params
        if getattr(param, "rich_help_panel", None) == _PANEL
        and (source := ctx.get_parameter_source(str(param.name))) is not None
        and source.name == "COMMANDLINE"
    ]
    if conflicts:
        raise ConfigError(
            f"--protocol: conflicts with {', '.join(conflicts)}; use one or the other"
        )


def _read_files(
    systems: list[Path], references: list[Path], sentence_break: str | None
) -> tuple[list[list[str]], list[list[str]]]:
    """Read all files, and replace `sentence_break` by line breaks.

    Returns:
        The summaries of each system, and the references of each summary.
    """
    from readagain.rouge.files import read_references, read_text_lines, require_equal_lengths

    texts = [read_text_lines(path) for path in systems]
    reference_groups = read_references(references)
    lengths = dict(zip(systems, map(len, texts), strict=True))
    require_equal_lengths(lengths | {references[0]: len(reference_groups)})
    if sentence_break:
        texts, reference_groups = (
            [[line.replace(sentence_break, "\n") for line in lines] for lines in groups]
            for groups in (texts, reference_groups)
        )
    return texts, reference_groups


def _print_tables(
    reports: "list[Report]", comparison: "dict[str, Comparison]", systems: list[Path]
) -> None:
    from rich.console import Console

    console = Console()
    for report, path in zip(reports, systems, strict=True):
        console.print(score_table(report, str(path)))
    if comparison:
        console.print(_comparison_table(reports[0], comparison, systems))
    first = reports[0]
    # Long lines are not wrapped, since users copy them.
    console.print(f"options      {first.protocol.options.flags()}", soft_wrap=True)
    console.print(f"items        {len(first.item_scores)}", highlight=False)
    for report in reports:
        console.print(f"fingerprint  {report.fingerprint}", highlight=False, soft_wrap=True)


def score_table(report: "Report", title: str) -> Any:
    """Return a table of all scores, with the interval of the main score."""
    from rich.table import Table

    main_score = report.protocol.main_score
    table = Table(title=title, caption=f"in percent; interval of {main_score}")
    table.add_column("measure")
    for kind in SCORE_KINDS:
        table.add_column(kind, justify="right", style="bold" if kind == main_score else None)
    table.add_column(f"{report.protocol.options.confidence:g}% interval", justify="right")
    for name, score in report.scores.items():
        main = report.main_score(name)
        values = (getattr(score, kind).value for kind in SCORE_KINDS)
        interval = f"{100 * main.low:.3f} to {100 * main.high:.3f}"
        table.add_row(name.upper(), *(f"{100 * value:.3f}" for value in values), interval)
    return table


def _comparison_table(
    report: "Report", comparison: "dict[str, Comparison]", systems: list[Path]
) -> Any:
    from rich.table import Table

    table = Table(
        title=f"{report.protocol.main_score}: {systems[0]} minus {systems[1]}",
        caption="in percent; two-sided p-values",
    )
    headings = ("measure", "difference", "95% interval", "p, bootstrap", "p, randomization")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for name, test in comparison.items():
        table.add_row(
            name,
            f"{100 * test.difference:+.3f}",
            f"{100 * test.low:+.3f} to {100 * test.high:+.3f}",
            f"{test.p_bootstrap:.4f}",
            f"{test.p_randomization:.4f}",
        )
    return table
