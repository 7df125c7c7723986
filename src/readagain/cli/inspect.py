"""`readagain inspect`: check a model folder and print its contents."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.counts import pluralize

if TYPE_CHECKING:
    from readagain.model_dir import ModelDir


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Bundled model or model folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
) -> None:
    """Check a model folder: configuration, tensors, vocabularies, checksums, provenance."""
    import json

    from readagain.errors import ArtifactError
    from readagain.model_dir import ModelDir
    from readagain.storage.bundled import find_model

    model_dir = ModelDir.open(find_model(model), checksums=True)
    info = _model_info(model_dir)
    if as_json:
        print(json.dumps(info, indent=2, ensure_ascii=False))
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


def _model_info(model: "ModelDir") -> dict[str, Any]:
    from readagain.config.files import run_to_dict
    from readagain.config.parameters import count_parameters
    from readagain.model_dir import WEIGHTS_FILE

    tensors = model.tensors if model.has(WEIGHTS_FILE) else {}
    return {
        "format_version": model.manifest.format_version,
        "package_version": model.manifest.package_version,
        "run": run_to_dict(model.run),
        "parameters": count_parameters(model.run),
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
    """Return a name and a text for each line of the output."""
    run, provenance = info["run"], info["provenance"]
    tensors, shortlist = info["tensors"], run["model"].get("shortlist_size")
    where = f"in {pluralize(len(tensors), 'tensor')}" if tensors else "in the graphs"
    words = f"{info['source_words']:,} read, {info['summary_words']:,} written"
    if shortlist:
        words += f", shortlist of {shortlist:,}"
    lines = [
        ("title", run["title"]),
        ("paper", run["paper"]),
        ("format", f"{info['format_version']}, written by readagain {info['package_version']}"),
        ("parameters", f"{info['parameters']:,} {where}"),
        ("language", run["data"]["language"]),
        ("words", words),
        ("cases", pluralize(info["cases"], "word or pair", "words and pairs")),
    ]
    # A folder without weights is a copy for inference, so it cannot be in training.
    unfinished = "no: stopped, or still running" if tensors else "no: stopped early"
    while provenance:  # of the model, then of the model that it was fine-tuned from
        corpus, base = provenance["corpus"], provenance["began_from"]
        lines += [
            ("corpus", f"{corpus['name']}, {pluralize(corpus['train_pairs'], 'pair')}, "
             f"fingerprint {corpus['fingerprint'][:16]}"),
            ("trained", f"step {provenance['step']:,}, {provenance['minutes']:.1f} minutes on "
             f"{provenance['device']}, seed {provenance['seed']}"),
            ("finished", "yes" if provenance["is_finished"] else unfinished),
            ("began from", f"the model {base['name']}" if base else "random weights"),
        ]  # fmt: skip
        provenance = base["provenance"] if base else None
    lines += [
        (f"scores {name}", _describe_scores(values)) for name, values in info["scores"].items()
    ]
    lines += [("file", f"{size:>14,} bytes  {name}") for name, size in info["files"].items()]
    return lines


def _describe_scores(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in values.items()
        if value is not None
    )
