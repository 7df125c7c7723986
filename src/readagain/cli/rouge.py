"""`readagain rouge`: score summaries as ROUGE-1.5.5 does, without Perl."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.cli import options
from readagain.errors import ArgumentError, ConfigError
from readagain.rouge.options import RougeOptions
from readagain.rouge.protocol import PROTOCOLS, Protocol, find_protocol

if TYPE_CHECKING:
    from readagain.rouge.report import Report
    from readagain.rouge.significance import Comparison

_DEFAULT = RougeOptions()


def _free(*flags: str, help: str, default: object = "off", metavar: str | None = None) -> Any:
    """Describe an option that a protocol would fix; unset is None, whatever the default."""
    return typer.Option(
        *flags,
        help=help,
        metavar=metavar,
        show_default=str(default),
        rich_help_panel="Without a protocol",
    )


def command(
    summaries: Annotated[
        Path, typer.Argument(metavar="HYP", help="Summaries, one a line.", show_default=False)
    ],
    references: Annotated[
        list[Path],
        typer.Argument(metavar="REF", help="References; line n is for line n of HYP."),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"One of {', '.join(PROTOCOLS)}; fixes all the options below."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    compare: Annotated[
        Path | None, typer.Option(metavar="OTHER_HYP", help="Test against another system.")
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            metavar="N", help="Processes to share the work.", callback=options.check_workers
        ),
    ] = 1,
    sentence_break: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What separates sentences in a line, as '<q>'."),
    ] = None,
    ngrams: Annotated[
        int | None,
        _free(help="ROUGE-1 up to ROUGE-N.", default=_DEFAULT.max_ngram, metavar="N"),
    ] = None,
    lcs: Annotated[bool | None, _free("--lcs/--no-lcs", help="ROUGE-L.", default="on")] = None,
    wlcs: Annotated[float | None, _free(help="ROUGE-W, as 1.2.", metavar="WEIGHT")] = None,
    skip: Annotated[
        int | None,
        _free(help="ROUGE-S with at most GAP words between two; -1: any number.", metavar="GAP"),
    ] = None,
    skip_unigrams: Annotated[
        str | None,
        _free(
            help="ROUGE-S, ROUGE-SU or both.",
            default=_DEFAULT.skip_unigrams,
            metavar="without|with|both",
        ),
    ] = None,
    stem: Annotated[bool | None, _free("--stem/--no-stem", help="Compare stems.")] = None,
    stop_words: Annotated[
        Path | None, _free(help="Words to leave out, one a line.", metavar="FILE")
    ] = None,
    max_bytes: Annotated[
        int | None, _free("--bytes", help="Read only so many bytes of a text.", metavar="N")
    ] = None,
    max_words: Annotated[
        int | None, _free("--words", help="Read only so many words of a text.", metavar="N")
    ] = None,
    pooling: Annotated[
        str | None,
        _free(
            help="What to do with several references.",
            default=_DEFAULT.pooling,
            metavar="sum|best|jackknife",
        ),
    ] = None,
    alpha: Annotated[
        float | None, _free(help="Weight of precision in F.", default=_DEFAULT.alpha)
    ] = None,
    unit: Annotated[
        str | None,
        _free(help="What to average over.", default=_DEFAULT.unit, metavar="item|token"),
    ] = None,
    samples: Annotated[
        int | None, _free(help="Bootstrap samples.", default=_DEFAULT.samples, metavar="N")
    ] = None,
    confidence: Annotated[
        float | None,
        _free(help="Of the interval.", default=_DEFAULT.confidence, metavar="PERCENT"),
    ] = None,
    headline: Annotated[
        str | None,
        _free(
            help="The figure to quote and to compare.",
            default=Protocol().headline,
            metavar="recall|precision|f1",
        ),
    ] = None,
) -> None:
    """Score summaries against references as ROUGE-1.5.5 does, to the last digit."""
    from readagain.rouge.corpus import score_corpus
    from readagain.rouge.files import read_texts
    from readagain.rouge.significance import compare_reports

    stop_list = None if stop_words is None else frozenset(read_texts(stop_words))
    settings = {
        "--ngrams": ("max_ngram", ngrams),
        "--lcs/--no-lcs": ("rouge_l", lcs),
        "--wlcs": ("wlcs_weight", wlcs),
        "--skip": ("skip_gap", skip),
        "--skip-unigrams": ("skip_unigrams", skip_unigrams),
        "--stem/--no-stem": ("stem", stem),
        "--stop-words": ("stop_words", stop_list),
        "--bytes": ("max_bytes", max_bytes),
        "--words": ("max_words", max_words),
        "--pooling": ("pooling", pooling),
        "--alpha": ("alpha", alpha),
        "--unit": ("unit", unit),
        "--samples": ("samples", samples),
        "--confidence": ("confidence", confidence),
        "--headline": ("headline", headline),
    }
    how = _choose_protocol(protocol, settings)
    systems = [summaries] if compare is None else [summaries, compare]
    texts, shared_references = _read(systems, references, sentence_break)
    reports = [score_corpus(system, shared_references, how, workers=workers) for system in texts]
    comparison = compare_reports(*reports) if compare is not None else {}
    if as_json:
        _print_json(reports, comparison)
    else:
        _print_tables(reports, comparison, systems)


def _choose_protocol(name: str | None, settings: dict[str, tuple[str, Any]]) -> Protocol:
    """Find the protocol, or make one of the options that were given.

    Args:
        name: of a protocol.
        settings: for each option, what a protocol calls it, and its value; None unless given.

    Raises:
        ConfigError: for options that cannot be honoured, as the command line calls them.
    """
    given = {flag: setting for flag, setting in settings.items() if setting[1] is not None}
    if name is not None:
        found = find_protocol(name)
        if given:
            raise ConfigError(
                f"protocol '{name}' fixes every option, but {', '.join(given)} was given too; "
                "leave out one or the other"
            )
        return found
    chosen = dict(given.values())
    headline = chosen.pop("headline", Protocol().headline)
    flags = {argument: flag for flag, (argument, _) in settings.items()}
    try:
        return Protocol(options=RougeOptions(**chosen), headline=headline)
    except ArgumentError as error:
        raise ConfigError(error.told(flags.__getitem__)) from error


def _read(
    systems: list[Path], references: list[Path], sentence_break: str | None
) -> tuple[list[list[str]], list[list[str]]]:
    """Read all files, and split lines into sentences where a mark for that was given."""
    from readagain.rouge.files import read_references, read_texts, require_equal_lengths

    texts = [read_texts(path) for path in systems]
    grouped = read_references(references)
    lengths = dict(zip(systems, map(len, texts), strict=True))
    require_equal_lengths(lengths | {references[0]: len(grouped)})
    if sentence_break:
        texts = [[line.replace(sentence_break, "\n") for line in system] for system in texts]
        grouped = [[line.replace(sentence_break, "\n") for line in item] for item in grouped]
    return texts, grouped


def _print_json(reports: "list[Report]", comparison: "dict[str, Comparison]") -> None:
    import json
    from dataclasses import asdict

    content = reports[0].as_json()
    if comparison:
        content["other"] = reports[1].as_json()
        content["comparison"] = {name: asdict(each) for name, each in comparison.items()}
    print(json.dumps(content, indent=2))


def _print_tables(
    reports: "list[Report]", comparison: "dict[str, Comparison]", systems: list[Path]
) -> None:
    from rich.console import Console

    console = Console()
    for report, path in zip(reports, systems, strict=True):
        console.print(_score_table(report, str(path)))
    if comparison:
        console.print(_comparison_table(reports[0], comparison, systems))
    first = reports[0]
    # Not wrapped, so that they can be copied.
    console.print(f"options      {first.protocol.options.flags()}", soft_wrap=True)
    console.print(f"items        {len(first.item_scores)}", highlight=False)
    for report in reports:
        console.print(f"fingerprint  {report.fingerprint}", highlight=False, soft_wrap=True)


def _score_table(report: "Report", title: str) -> Any:
    from rich.table import Table

    headline = report.protocol.headline
    table = Table(title=title, caption=f"in percent; the interval is that of {headline}")
    table.add_column("measure")
    for figure in ("recall", "precision", "f1"):
        table.add_column(figure, justify="right", style="bold" if figure == headline else None)
    table.add_column(f"{report.protocol.options.confidence:g}% interval", justify="right")
    for name, score in report.scores.items():
        quoted = report.headline(name)
        figures = (score.recall.value, score.precision.value, score.f1.value)
        interval = f"{100 * quoted.low:.3f} to {100 * quoted.high:.3f}"
        table.add_row(name, *(f"{100 * figure:.3f}" for figure in figures), interval)
    return table


def _comparison_table(
    report: "Report", comparison: "dict[str, Comparison]", systems: list[Path]
) -> Any:
    from rich.table import Table

    table = Table(
        title=f"{report.protocol.headline}: {systems[0]} minus {systems[1]}",
        caption="in percent; two-sided p-values",
    )
    headings = ("measure", "difference", "95% interval", "p, bootstrap", "p, randomization")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for name, each in comparison.items():
        table.add_row(
            name,
            f"{100 * each.difference:+.3f}",
            f"{100 * each.low:+.3f} to {100 * each.high:+.3f}",
            f"{each.p_bootstrap:.4f}",
            f"{each.p_randomization:.4f}",
        )
    return table
