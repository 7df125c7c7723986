"""Tables 1 to 5, importance by word class and ablations, with the paper's values and ours."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from statistics import mean
from typing import Any

from readagain.experiments.catalog import EXPERIMENTS, RECIPE_SETTINGS, TABLES, paper_table
from readagain.experiments.importance import WORD_CLASSES
from readagain.experiments.results import BATCH_SIZES, DatasetResult, milliseconds
from readagain.experiments.store import ResultStore, SeedResults
from readagain.experiments.table import MarkedEstimate, Table, TableCell, TableRow, TableSection
from readagain.model_dir import PRECISIONS

_MEASURE_TITLES = {"rouge-1": "R-1", "rouge-2": "R-2", "rouge-l": "R-L"}
_SCORE_COLUMNS = (*_MEASURE_TITLES.values(), "words")
_PAPER_NAME, _PAPER_SCORES = "paper's name", "paper R-1 / R-2 / R-L"
_TRAINING_COLUMNS = (
    "train pairs", "parameters", "updates", "selection loss", "ended by", "minutes",
)  # fmt: skip
_OWN_COLUMNS = ("R-1 own decoding", "words own decoding")


def build_tables(store: ResultStore, timing: Mapping[str, Any] | None) -> list[Table]:
    """Return every table, in the order of the paper."""
    builders = {
        "table4": lambda: timing_table(timing),
        "table5": lambda: _oov_table(store),
        "importance": lambda: _importance_table(store),
    }
    return [builders[name]() if name in builders else _rouge_table(store, name) for name in TABLES]


def _build_table(
    store: ResultStore,
    table: str,
    columns: Callable[[str], Sequence[str]],
    rows: Callable[[str, str, SeedResults | None], Iterable[TableRow]],
) -> Table:
    """Return a table with one section for each recipe.

    `columns` takes a recipe and returns the columns after the title of the row. `rows` takes the
    name of an experiment, a recipe and its results, and returns its rows without the title.
    """
    spec = TABLES[table]
    names_with_results = {
        name for name in spec.rows if any(store.find(name, recipe) for recipe in store.recipes)
    }
    sections = []
    for recipe in store.recipes:
        # Experiments that were not run with any recipe are shown in the first section.
        shown = {name for name in spec.rows if store.find(name, recipe)}
        if recipe == store.recipes[0]:
            shown |= spec.rows.keys() - names_with_results
        names = [name for name in spec.rows if name in shown]
        other_names = [name for name in spec.rows if name in names_with_results - shown]
        sections.append(
            TableSection(
                heading=RECIPE_SETTINGS[recipe]["heading"],
                columns=["row", *columns(recipe)],
                rows=[
                    {"row": EXPERIMENTS[name].title, **row}
                    for name in names
                    for row in rows(name, recipe, store.find(name, recipe))
                ],
                other_recipe=[EXPERIMENTS[name].title for name in other_names],
            )
        )
    return Table(
        name=table,
        title=spec.title,
        sections=sections,
        notes=spec.notes,
        sources=_describe_sources(store, table),
    )


def _rouge_table(store: ResultStore, name: str) -> Table:
    """Return a table with the scores and the summary length on each data set."""
    paper_rows = {row.experiment: row for row in paper_table(name)}
    paper_columns = [_PAPER_NAME, _PAPER_SCORES] if paper_rows else []

    def columns(recipe: str) -> list[str]:
        own_columns = _OWN_COLUMNS if _has_own_decoding(store, name, recipe) else ()
        score_columns = [
            f"{dataset} {column}"
            for dataset in _dataset_columns(store, name, recipe)
            for column in (*_SCORE_COLUMNS, *own_columns)
        ]
        return [*paper_columns, *score_columns, "compared with", "seeds", *_TRAINING_COLUMNS]

    def rows(experiment: str, recipe: str, results: SeedResults | None) -> list[TableRow]:
        base = TABLES[name].rows[experiment]  # the experiment that this one is compared with
        row: dict[str, TableCell] = {
            "compared with": EXPERIMENTS[base].title if base else "nothing"
        }
        if experiment in paper_rows:
            paper_row = paper_rows[experiment]
            row[_PAPER_NAME] = f"{paper_row.label} {paper_row.size}".rstrip("- ")
            row[_PAPER_SCORES] = " / ".join(f"{value:.2f}" for value in paper_row.rouge)
        elif paper_rows:
            row |= {_PAPER_NAME: "not in the paper", _PAPER_SCORES: "none"}
        if results is not None:
            for prefix, datasets in _dataset_columns(store, name, recipe).items():
                cells = _score_cells(store, experiment, base, recipe, results, datasets)
                row |= {f"{prefix} {column}": value for column, value in cells.items()}
            row |= _training_cells(results)
        return [row]

    return _build_table(store, name, columns, rows)


def _has_own_decoding(store: ResultStore, table: str, recipe: str) -> bool:
    """Return whether a row of a table was also scored with the decoding of its own paper."""
    return any(
        dataset_result.own
        for name in TABLES[table].rows
        if (results := store.find(name, recipe))
        for run in results.runs
        for dataset_result in run.sets.values()
    )


def _dataset_columns(store: ResultStore, table: str, recipe: str) -> dict[str, list[str]]:
    """Return the data sets of a table by the prefix of their columns.

    A corpus and its subset of longer texts share their columns, since every experiment uses only
    one of them.
    """
    columns: dict[str, list[str]] = {}
    for name in TABLES[table].rows:
        results = store.find(name, recipe)
        for dataset, dataset_result in results.runs[0].sets.items() if results else ():
            if dataset_result.figure == TABLES[table].main_score:
                datasets = columns.setdefault(dataset.partition(",")[0], [])
                if dataset not in datasets:
                    datasets.append(dataset)
    return columns


def _score_cells(
    store: ResultStore,
    name: str,
    base: str,
    recipe: str,
    results: SeedResults,
    datasets: Sequence[str],
) -> dict[str, TableCell]:
    """Return the cells with the scores of an experiment, marked by the comparison with `base`.

    The scores are those on the first of `datasets` on which the experiment was scored.
    """
    dataset = next((dataset for dataset in datasets if dataset in results.datasets), None)
    if dataset is None:
        return dict.fromkeys((*_SCORE_COLUMNS, *_OWN_COLUMNS), "not scored")
    effects = store.contrast((name, base), recipe, dataset) if base else None
    return {
        **{
            _MEASURE_TITLES[measure]: MarkedEstimate(
                **vars(score), mark="" if effects is None else effects[measure].mark
            )
            for measure, score in results.scores(dataset).items()
        },
        "words": f"{_mean_words(results.on(dataset)):.1f}",
        **dict(zip(_OWN_COLUMNS, _own_cells(name, results, dataset), strict=True)),
    }


def _own_cells(name: str, results: SeedResults, dataset: str) -> list[TableCell]:
    """Return the ROUGE-1 and the length with the decoding of the system's own paper.

    In brackets are the values of the same runs with the decoding that all experiments share.
    """
    own_runs = results.with_own_decoding(dataset).on(dataset)
    if not own_runs:
        can_copy = results.runs[0].can_copy
        has_own = EXPERIMENTS[name].has_own_decoding(can_copy=can_copy)
        return [None if has_own else "the same"] * len(_OWN_COLUMNS)
    own = [run.own for run in own_runs if run.own]
    score = 100 * mean(result["rouge"]["rouge-1"][0] for result in own)
    same_runs_score = 100 * mean(run.rouge["rouge-1"][0] for run in own_runs)
    words = mean(result["words"] for result in own)
    return [
        f"{score:.2f} (same runs: {same_runs_score:.2f}; seeds: {len(own)})",
        f"{words:.1f} (same runs: {_mean_words(own_runs):.1f})",
    ]


def _mean_words(results: Sequence[DatasetResult]) -> float:
    """Return the mean length of summaries over seeds."""
    return mean(float(result.habits["words"]) for result in results)


def _training_cells(results: SeedResults) -> dict[str, TableCell]:
    """Return the cells about the training, averaged over seeds."""
    runs = results.runs
    if not runs[0].training:
        cells = dict.fromkeys(_TRAINING_COLUMNS, "none")
        return {"seeds": len(runs), **cells, "minutes": "untrained"}
    losses = [run.training["best"]["dev_loss"] for run in runs if run.training["best"]]
    return {
        "seeds": len(runs),
        "train pairs": runs[0].corpus["train_pairs"],
        "parameters": runs[0].parameters,
        "updates": round(mean(run.training["updates"] for run in runs)),
        "selection loss": f"{mean(losses):.3f}" if losses else "none",
        "ended by": " or ".join(sorted({run.training.get("ended_by", "epochs") for run in runs})),
        "minutes": mean(run.training["minutes"] for run in runs),
    }


def _describe_sources(store: ResultStore, table: str) -> list[str]:
    """Return the corpora, data sets, machines and versions of the results in a table."""
    results = [result for result in store.results if result.row in TABLES[table].rows]
    corpora = {
        f"{result.corpus['name']} ({result.corpus['train_pairs']:,} pairs, fingerprint "
        f"{result.corpus['fingerprint'][:12]})"
        for result in results
        if result.run is not None
    }
    datasets = {
        f"{name} ({len(dataset_result.text_scores()):,} texts, {dataset_result.protocol}, "
        f"fingerprint {dataset_result.fingerprint[:12]})"
        for result in results
        for name, dataset_result in result.sets.items()
    }
    machines = {
        f"{result.machine['device']}, torch {result.machine['torch']}, readagain "
        f"{result.machine['readagain']}"
        for result in results
    }
    return [
        f"Scale: {', '.join(sorted({result.scale for result in results})) or 'nothing run'}.",
        f"Trained on: {'; '.join(sorted(corpora)) or 'nothing'}.",
        f"Scored on: {'; '.join(sorted(datasets)) or 'nothing'}.",
        f"Machines: {'; '.join(sorted(machines)) or 'none'}.",
    ]


def timing_table(timing: Mapping[str, Any] | None) -> Table:
    """Return Table 4: decoding time by size of the decoder vocabulary."""
    sizes = list(paper_table("table4")[0].seconds)
    smallest, largest = sizes[0], sizes[-1]
    ratio_column = f"{largest} / {smallest}"
    rows: list[TableRow] = []
    for paper_row in paper_table("table4"):
        seconds = paper_row.seconds
        rows.append(
            {
                "system": paper_row.label,
                "where": "paper, NVIDIA Titan X",
                **{size: f"{1e3 * seconds[size]:.0f}" for size in sizes},
                ratio_column: seconds[largest] / seconds[smallest],
            }
        )
        system = f"ours: {paper_row.experiment}"
        if timing is None:
            rows.append({"system": system, "where": "CPU"})
            continue
        for precision, batch_size in product(PRECISIONS, BATCH_SIZES):
            times = milliseconds(timing, paper_row.experiment, precision, batch_size)
            batch = "alone" if batch_size == 1 else f"{batch_size} together"
            rows.append(
                {
                    "system": system,
                    "where": f"CPU, {precision}, {batch}",
                    **{size: f"{times[size]:.1f}" for size in sizes},
                    ratio_column: times[largest] / times[smallest],
                }
            )
    source = (
        "Not measured yet."
        if timing is None
        else f"{timing['machine']}, threads: {timing['threads']}, beam {timing['beam']}, "
        f"{timing['texts']} invented sentences, summaries of {timing['summary_words']} words; "
        f"scale {timing['scale']}."
    )
    section = TableSection("", ["system", "where", *sizes, ratio_column], rows)
    spec = TABLES["table4"]
    return Table(
        name="table4", title=spec.title, sections=[section], notes=spec.notes, sources=[source]
    )


def _oov_table(store: ResultStore) -> Table:
    """Return Table 5: how many out-of-vocabulary words of the references were generated.

    Counts are means over seeds.
    """
    # The key of each column in the result of `copying.count_oov`.
    count_columns = {
        "reference words outside the common vocabulary": "words",
        "of these in the text": "in_source",
        "of these generated": "written",
        "such words in summaries": "summary_words",
        "of these in no reference": "wrong",
    }
    columns = ["data set", "words per summary", *count_columns]
    columns.insert(columns.index("of these generated") + 1, "share generated, %")

    def rows(name: str, recipe: str, results: SeedResults | None) -> Iterable[TableRow]:
        if results is None:
            yield {"data set": "all"}
            return
        for dataset in results.datasets:
            dataset_results = results.on(dataset)
            means = {
                key: mean(result.unknown["common"][key] for result in dataset_results)
                for key in count_columns.values()
            }
            yield {
                "data set": dataset,
                "words per summary": _mean_words(dataset_results),
                **{column: round(means[key]) for column, key in count_columns.items()},
                "share generated, %": 100 * means["written"] / max(means["words"], 1),
            }

    return _build_table(store, "table5", lambda _: columns, rows)


def _importance_table(store: ResultStore) -> Table:
    """Return the table of the mean importance by word class."""
    # The keys of each column in the result of `importance.measure_importance`.
    mean_columns = {
        **{f"{name} words": ("classes", name) for name in WORD_CLASSES if name != "sign"},
        "punctuation": ("classes", "sign"),
        "nouns": ("parts", "noun"),
        "verbs": ("parts", "verb"),
    }
    difference_columns = {
        f"{name} minus function (95% interval)": f"{name}_over_function"
        for name in ("content", "noun", "verb")
    }
    share_column = "texts where content weighs more, %"

    def rows(name: str, recipe: str, results: SeedResults | None) -> list[TableRow]:
        importance = results and results.runs[0].importance
        if not importance:
            return [{}]
        is_weight = importance["kind"] == "weight"
        return [
            {
                "importance is": "mean α" if is_weight else "change of the state",
                **{
                    column: _format_mean(importance[kind][name])
                    for column, (kind, name) in mean_columns.items()
                },
                **{
                    column: _format_difference(importance[key])
                    for column, key in difference_columns.items()
                },
                share_column: 100 * importance["content_over_function"]["positive_share"],
                "texts": importance["texts"],
            }
        ]

    columns = ["importance is", *mean_columns, *difference_columns, share_column, "texts"]
    return _build_table(store, "importance", lambda _: columns, rows)


def _format_mean(group: Mapping[str, float]) -> str:
    return f"{group['mean']:.3f}" if group["words"] else "no word"


def _format_difference(difference: Mapping[str, float]) -> str:
    if not difference["texts"]:
        return "no text with both"
    return f"{difference['mean']:+.3f} ({difference['low']:+.3f} to {difference['high']:+.3f})"
