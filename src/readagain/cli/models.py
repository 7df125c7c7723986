"""`readagain models`: list the bundled models, or check a model folder and describe it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.cli import options
from readagain.cli.output import print_table
from readagain.errors import ArtifactError, pluralize
from readagain.storage.bundled import bundled_models, find_model

if TYPE_CHECKING:
    from readagain.model_dir import ModelDir

EXAMPLES = ("readagain models", "readagain models runs/mine")


def command(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="Bundled model or model folder to check; without it, bundled models are listed.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the bundled models, or check a model and print its settings, training and files."""
    from readagain.formats.jsonl import printable_json
    from readagain.model_dir import ModelDir

    if model is None:
        rows = [
            {"name": name, **_basic_info(ModelDir.open(path))}
            for name, path in bundled_models().items()
        ]
        if as_json:
            print(printable_json(rows, indent=2))
        else:
            _list_models(rows)
        return
    model_dir = ModelDir.open(find_model(model), checksums=True)
    info = _full_info(model_dir)
    if as_json:
        print(printable_json(info, indent=2))
        return
    try:
        lines = _format_info(info)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ArtifactError(
            f"{model_dir.path}: invalid provenance.json or scores.json; use --json to see the rest"
        ) from error
    for name, value in lines:
        # Escape control characters, since a downloaded model may have them in its title.
        line = f"{name:<13} {value}"
        print(line if line.isprintable() else ascii(line))
    print(f"{model_dir.path}: complete, all checksums match")


def _basic_info(model: "ModelDir") -> dict[str, Any]:
    from readagain.engine.source import SourceReader

    reader = SourceReader(model.run, model.source_vocab, model.vocab)
    return {
        "language": reader.language.code,
        "language_name": reader.language.name,
        "title": model.run.title,
        "bytes": sum(entry.bytes for entry in model.manifest.files.values()),
        "read_sentences": model.run.data.num_sentences,
        "read_words": reader.max_words * reader.num_sequences,
    }


def _list_models(rows: list[dict[str, Any]]) -> None:
    print_table(
        {
            "name": "left",
            "language": "left",
            "MB": "right",
            "sentences read": "right",
            "words read": "right",
            "title": "left",
        },
        [
            (
                row["name"],
                row["language_name"],
                f"{row['bytes'] / 1e6:.1f}",
                f"{row['read_sentences']:,}",
                f"{row['read_words']:,}",
                row["title"],
            )
            for row in rows
        ],
    )


def _full_info(model: "ModelDir") -> dict[str, Any]:
    from readagain.config.files import spec_to_dict
    from readagain.model_dir import WEIGHTS_FILE

    tensors = model.tensors if model.has(WEIGHTS_FILE) else {}
    return {
        **_basic_info(model),
        "format_version": model.manifest.format_version,
        "package_version": model.manifest.package_version,
        "run": spec_to_dict(model.run),
        "parameters": sum(info.size for info in tensors.values()) if tensors else None,
        "source_words": len(model.source_vocab),
        "summary_words": len(model.vocab),
        "cases": len(model.truecaser),
        "tensors": {
            name: {"type": info.dtype, "shape": list(info.shape)} for name, info in tensors.items()
        },
        "files": {name: entry.bytes for name, entry in model.manifest.files.items()},
        "scores": model.scores,
        "provenance": model.provenance,
    }


def _format_info(info: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the label and the text of each line that describes a model."""
    run, provenance, tensors = info["run"], info["provenance"], info["tensors"]
    shortlist = run["model"].get("shortlist_size")
    words = f"{info['source_words']:,} read, {info['summary_words']:,} written"
    if shortlist:
        words += f", shortlist of {shortlist:,}"
    lines = [
        ("title", run["title"]),
        ("paper", run["paper"]),
        ("format", f"{info['format_version']}, written by readagain {info['package_version']}"),
        ("language", f"{info['language_name']} ({info['language']})"),
        ("reads", f"{pluralize(info['read_sentences'], 'sentence')} of a text, "
         f"at most {pluralize(info['read_words'], 'word')}"),
        ("vocabularies", words),
        ("cases", pluralize(info["cases"], "word or pair", "words and pairs")),
    ]  # fmt: skip
    if tensors:
        lines.append(
            ("parameters", f"{info['parameters']:,} in {pluralize(len(tensors), 'tensor')}")
        )
    # A folder without weights was exported for inference, so it cannot be in training.
    unfinished = "no: stopped, or still running" if tensors else "no: stopped early"
    if provenance:
        corpus, base = provenance["corpus"], provenance["began_from"]
        began_from = "random weights"
        if base:
            num_earlier = _num_trainings(base["provenance"])
            began_from = f"the model {base['name']}"
            if num_earlier:
                began_from += f", after {pluralize(num_earlier, 'earlier training')} (see --json)"
        lines += [
            ("corpus", f"{corpus['name']}, {pluralize(corpus['train_pairs'], 'pair')}, "
             f"fingerprint {corpus['fingerprint'][:16]}"),
            ("trained", f"step {provenance['step']:,}, {provenance['minutes']:.1f} minutes on "
             f"{provenance['device']}, seed {provenance['seed']}"),
            ("finished", "yes" if provenance["is_finished"] else unfinished),
            ("began from", began_from),
        ]  # fmt: skip
    for name, scores in info["scores"].items():
        values = ", ".join(
            f"{measure} {value:.3f}" if isinstance(value, float) else f"{measure} {value}"
            for measure, value in scores.items()
            if value is not None
        )
        lines.append((f"scores {name}", values))
    lines += [("file", f"{size:>14,} bytes  {name}") for name, size in info["files"].items()]
    return lines


def _num_trainings(provenance: dict[str, Any] | None) -> int:
    """Return the number of trainings of a model: its own, and those of the models before it."""
    number = 0
    while provenance:
        number += 1
        base = provenance["began_from"]
        provenance = base["provenance"] if base else None
    return number
