"""Tables 1 to 5, the importance weights and the ablations: the paper's values beside ours."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean
from typing import Any

from readagain.experiments.catalog import EXPERIMENTS, RECIPES, TABLES, paper_table
from readagain.experiments.importance import WORD_CLASSES
from readagain.experiments.results import BATCH_SIZES, milliseconds
from readagain.experiments.store import ResultStore, SeedResults
from readagain.experiments.table import MarkedEstimate, Table, TableRow, TableSection, Value
from readagain.model_dir import PRECISIONS

_SHORT = {"rouge-1": "R-1", "rouge-2": "R-2", "rouge-l": "R-L"}
_SCORE_COLUMNS = (*_SHORT.values(), "words")
_PAPER_SCORES = "paper R-1 / R-2 / R-L"
_TRAINING_COLUMNS = (
    "train pairs", "parameters", "updates", "selection loss", "ended by", "minutes",
)  # fmt: skip
_OWN_COLUMNS = ("R-1 own decoding", "words own decoding")


def build_tables(store: ResultStore, timing: Mapping[str, Any] | None) -> list[Table]:
    """Return every table, in the order of the paper."""
    special = {
        "table4": lambda: timing_table(timing),
        "table5": lambda: _oov_table(store),
        "importance": lambda: _importance_table(store),
    }
    return [special[name]() if name in special else _rouge_table(store, name) for name in TABLES]


def _table(
    store: ResultStore,
    table: str,
    columns: Callable[[str], Sequence[str]],
    rows: Callable[[str, str, SeedResults | None], Iterable[TableRow]],
) -> Table:
    """Return a table with one section for each recipe.

    `columns` returns the columns for a recipe; `rows` the rows of an experiment without its title,
    given its name, the recipe and its results.
    """
    sections = []
    run_with = {
        name: [recipe for recipe in store.recipes if store.find(name, recipe)]
        for name in TABLES[table].rows
    }
    for recipe in store.recipes:
        # The first section also shows the experiments that were not run with any recipe.
        first = recipe == store.recipes[0]
        shown = [
            name
            for name, recipes in run_with.items()
            if recipe in recipes or (first and not recipes)
        ]
        others = [name for name, recipes in run_with.items() if recipes and recipe not in recipes]
        sections.append(
            TableSection(
                RECIPES[recipe]["heading"],
                ["row", *columns(recipe)],
                [
                    {"row": EXPERIMENTS[name].title, **row}
                    for name in shown
                    for row in rows(name, recipe, store.find(name, recipe))
                ],
                [EXPERIMENTS[name].title for name in others],
            )
        )
    spec = TABLES[table]
    return Table(
        name=table,
        title=spec.title,
        sections=sections,
        notes=spec.notes,
        sources=_sources(store, table),
    )


def _rouge_table(store: ResultStore, name: str) -> Table:
    """Return a table with the scores and the summary length on each data set."""
    paper = {row.experiment: row for row in paper_table(name)}
    paper_columns = ["paper's name", _PAPER_SCORES] if paper else []

    def columns(recipe: str) -> list[str]:
        datasets = _dataset_columns(store, name, recipe)
        own = _OWN_COLUMNS if _has_own(store, name, recipe) else ()
        scores = [f"{each} {score}" for each in datasets for score in (*_SCORE_COLUMNS, *own)]
        return [*paper_columns, *scores, "compared with", "seeds", *_TRAINING_COLUMNS]

    def rows(experiment: str, recipe: str, results: SeedResults | None) -> list[TableRow]:
        base = TABLES[name].rows[experiment]
        row: dict[str, Value] = {"compared with": EXPERIMENTS[base].title if base else "nothing"}
        if experiment in paper:
            row["paper's name"] = f"{paper[experiment].label} {paper[experiment].size}".rstrip("- ")
            row[_PAPER_SCORES] = " / ".join(f"{value:.2f}" for value in paper[experiment].rouge)
        elif paper:
            row |= {"paper's name": "not in the paper", _PAPER_SCORES: "none"}
        if results is not None:
            for column, datasets in _dataset_columns(store, name, recipe).items():
                cells = _score_cells(store, experiment, base, recipe, results, datasets)
                row |= {f"{column} {score}": value for score, value in cells.items()}
            row |= _training_cells(results)
        return [row]

    return _table(store, name, columns, rows)


def _has_own(store: ResultStore, table: str, recipe: str) -> bool:
    """Return whether a row of a table was also scored with the decoding of its own paper."""
    results = [store.find(name, recipe) for name in TABLES[table].rows]
    return any(
        scored.own for each in results if each for run in each.runs for scored in run.sets.values()
    )


def _dataset_columns(store: ResultStore, table: str, recipe: str) -> dict[str, list[str]]:
    """Return the data sets of each column.

    A corpus and its subset of longer texts share a column, since an experiment uses only one.
    """
    columns: dict[str, list[str]] = {}
    for name in TABLES[table].rows:
        results = store.find(name, recipe)
        for dataset, scored in results.runs[0].sets.items() if results else ():
            if scored.figure == TABLES[table].figure:
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
) -> dict[str, Value]:
    """Return the scores on the first of some data sets that the experiment was scored on."""
    dataset = next((each for each in datasets if each in results.datasets), None)
    if dataset is None:
        return dict.fromkeys((*_SCORE_COLUMNS, *_OWN_COLUMNS), "not scored")
    compared = store.compare(name, base, recipe, dataset) if base else None
    lengths = [each.habits["words"] for each in results.on(dataset) if "words" in each.habits]
    own = [each.own for each in results.on(dataset) if each.own]
    own_cells = [
        f"{100 * mean(each['rouge']['rouge-1'][0] for each in own):.2f}",
        f"{mean(each['words'] for each in own):.1f}",
    ] if own else ["the same"] * 2  # fmt: skip
    return {
        **{
            _SHORT[measure]: MarkedEstimate(
                **vars(score), mark="" if compared is None else compared[measure].mark
            )
            for measure, score in results.scores(dataset).items()
        },
        "words": f"{mean(lengths):.1f}" if lengths else "not measured",
        **dict(zip(_OWN_COLUMNS, own_cells, strict=True)),
    }


def _training_cells(results: SeedResults) -> dict[str, Value]:
    runs = results.runs
    if not runs[0].training:
        none = dict.fromkeys(_TRAINING_COLUMNS, "none")
        return {"seeds": len(runs), **none, "minutes": "untrained"}
    losses = [each.training["best"]["dev_loss"] for each in runs if each.training["best"]]
    return {
        "seeds": len(runs),
        "train pairs": runs[0].corpus["train_pairs"],
        "parameters": runs[0].parameters,
        "updates": round(mean(each.training["updates"] for each in runs)),
        "selection loss": f"{mean(losses):.3f}" if losses else "none",
        "ended by": " or ".join(sorted({each.training.get("ended_by", "epochs") for each in runs})),
        "minutes": mean(each.training["minutes"] for each in runs),
    }


def _sources(store: ResultStore, table: str) -> list[str]:
    """Return which corpora, data sets, machines and versions the results of a table come from."""
    results = [result for result in store.results if result.row in TABLES[table].rows]
    corpora = {
        f"{result.corpus['name']} ({result.corpus['train_pairs']:,} pairs, fingerprint "
        f"{result.corpus['fingerprint'][:12]})"
        for result in results
        if result.run is not None
    }
    datasets = {
        f"{name} ({len(scored.items()):,} texts, {scored.protocol}, fingerprint "
        f"{scored.fingerprint[:12]})"
        for result in results
        for name, scored in result.sets.items()
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
    ratio = f"{sizes[-1]} / {sizes[0]}"
    rows: list[TableRow] = []
    for paper in paper_table("table4"):
        seconds = {size: f"{1e3 * paper.seconds[size]:.0f}" for size in sizes}
        growth = paper.seconds[sizes[-1]] / paper.seconds[sizes[0]]
        system = {"system": paper.label, "where": "paper, NVIDIA Titan X"}
        rows.append({**system, **seconds, ratio: growth})
        system = {"system": f"ours: {paper.experiment}", "where": "CPU"}
        if timing is None:
            rows.append(system)
            continue
        for precision in PRECISIONS:
            for batch_size in BATCH_SIZES:
                times = milliseconds(timing, paper.experiment, precision, batch_size)
                batch = "alone" if batch_size == 1 else f"{batch_size} together"
                where = {"where": f"CPU, {precision}, {batch}"}
                cells = {size: f"{times[size]:.1f}" for size in sizes}
                growth = times[sizes[-1]] / times[sizes[0]]
                rows.append({**system, **where, **cells, ratio: growth})
    source = (
        "Not measured yet."
        if timing is None
        else f"{timing['machine']}, threads: {timing['threads']}, beam {timing['beam']}, "
        f"{timing['texts']} invented sentences, summaries of {timing['summary_words']} words; "
        f"scale {timing['scale']}."
    )
    section = TableSection("", ["system", "where", *sizes, ratio], rows)
    spec = TABLES["table4"]
    return Table(
        name="table4", title=spec.title, sections=[section], notes=spec.notes, sources=[source]
    )


def _oov_table(store: ResultStore) -> Table:
    """Return Table 5: how many out-of-vocabulary words of the references were generated."""
    counts = {
        "reference words outside the common vocabulary": "words",
        "of these in the text": "in_source",
        "of these generated": "written",
        "such words in summaries": "summary_words",
        "of these in no reference": "wrong",
    }
    columns = ["data set", "words per summary", *counts]
    columns.insert(columns.index("of these generated") + 1, "share generated, %")

    def rows(name: str, recipe: str, results: SeedResults | None) -> Iterable[TableRow]:
        if results is None:
            yield {"data set": "all"}
            return
        for dataset in results.datasets:
            scored = results.on(dataset)
            total = {
                key: sum(each.unknown["common"][key] for each in scored) for key in counts.values()
            }
            lengths = [each.habits["words"] for each in scored if "words" in each.habits]
            yield {
                "data set": dataset,
                "words per summary": mean(lengths) if lengths else None,
                **{column: total[key] for column, key in counts.items()},
                "share generated, %": 100 * total["written"] / max(total["words"], 1),
            }

    return _table(store, "table5", lambda _: columns, rows)


def _importance_table(store: ResultStore) -> Table:
    """Return the mean importance weights by word class."""
    classes = {
        **{f"{name} words": ("classes", name) for name in WORD_CLASSES if name != "sign"},
        "punctuation": ("classes", "sign"),
        "nouns": ("parts", "noun"),
        "verbs": ("parts", "verb"),
    }
    differences = {
        f"{name} minus function (95% interval)": f"{name}_over_function"
        for name in ("content", "noun", "verb")
    }
    share = "texts where content weighs more, %"

    def rows(name: str, recipe: str, results: SeedResults | None) -> list[TableRow]:
        importance = results and results.runs[0].importance
        if not importance:
            return [{}]
        return [
            {
                "importance is": "mean α"
                if importance["kind"] == "weight"
                else "change of the state",
                **{column: _class_mean(importance, *key) for column, key in classes.items()},
                **{column: _interval(importance.get(key)) for column, key in differences.items()},
                share: 100 * importance["content_over_function"]["positive_share"],
                "texts": importance["texts"],
            }
        ]

    columns = ["importance is", *classes, *differences, share, "texts"]
    return _table(store, "importance", lambda _: columns, rows)


def _class_mean(importance: Mapping[str, Any], kind: str, name: str) -> str:
    if kind not in importance:  # the oldest results have no parts of speech
        return "not measured"
    weights = importance[kind][name]
    return f"{weights['mean']:.3f}" if weights["words"] else "no word"


def _interval(difference: Mapping[str, float] | None) -> str:
    if difference is None:
        return "not measured"
    if not difference["texts"]:
        return "no text with both"
    return f"{difference['mean']:+.3f} ({difference['low']:+.3f} to {difference['high']:+.3f})"
