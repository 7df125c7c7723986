"""`readagain inspect`: check a model folder from end to end, and say what is in it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.counts import counted

if TYPE_CHECKING:
    from readagain.model_dir import ModelDir


def command(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model folder, or the name of a bundled model.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Validate a model folder: settings, tensors, vocabularies, checksums, origin, version."""
    import json

    from readagain.errors import ArtifactError
    from readagain.model_dir import ModelDir
    from readagain.storage.bundled import find_model

    folder = ModelDir.open(find_model(model), checksums=True)
    facts = _facts(folder)
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    try:
        lines = _lines(facts)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ArtifactError(
            f"{folder.path}: its provenance.json or scores.json is not as readagain writes them; "
            "what is in the model shows with --json"
        ) from error
    for name, value in lines:
        # A title may be a stranger's: what cannot be seen is not printed as it is.
        line = f"{name:<13} {value}"
        print(line if line.isprintable() else ascii(line))
    print(f"{folder.path}: whole, every checksum is right")


def _facts(model: "ModelDir") -> dict[str, Any]:
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
        "cases": len(model.cases),
        "tensors": {
            name: {"type": info.dtype, "shape": list(info.shape)} for name, info in tensors.items()
        },
        "files": {name: facts.bytes for name, facts in model.manifest.files.items()},
        "scores": model.scores,
        "provenance": model.provenance,
    }


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    run, origin = facts["run"], facts["provenance"]
    lines = [
        ("title", run["title"]),
        ("paper", run["paper"]),
        ("format", f"{facts['format_version']}, written by readagain {facts['package_version']}"),
        ("parameters", f"{facts['parameters']:,} {_home(facts['tensors'])}"),
        ("words", _words(facts)),
        ("cases", _cases(facts["cases"])),
    ]
    while origin:
        corpus, before = origin["corpus"], origin["began_from"]
        lines += [
            ("corpus", f"{corpus['name']}, {counted(corpus['train_pairs'], 'pair')}, "
             f"{_short(corpus)}"),
            ("trained", f"step {origin['step']:,}, {origin['minutes']:.1f} minutes on "
             f"{origin['device']}, seed {origin['seed']}"),
            ("finished", "yes" if origin["is_finished"] else "no: stopped, or still under way"),
            ("began from", f"the model {before['name']}" if before else "random weights"),
        ]  # fmt: skip
        origin = before["provenance"] if before else None
    lines += [(f"scores {where}", _spelled(values)) for where, values in facts["scores"].items()]
    lines += [("file", f"{size:>14,} bytes  {name}") for name, size in facts["files"].items()]
    return lines


def _words(facts: dict[str, Any]) -> str:
    told = f"{facts['source_words']:,} read, {facts['summary_words']:,} written"
    competing = facts["run"]["model"].get("shortlist_size")
    return f"{told}, {competing:,} of them competing at a time" if competing else told


def _home(tensors: dict[str, Any]) -> str:
    return f"in {counted(len(tensors), 'tensor')}" if tensors else "in the graphs alone"


def _cases(number: int) -> str:
    return counted(number, "word or pair", "words and pairs") if number else "none of its own"


def _short(corpus: dict[str, Any]) -> str:
    return f"fingerprint {corpus['fingerprint'][:16]}"


def _spelled(values: dict[str, Any]) -> str:
    known = {name: value for name, value in values.items() if value is not None}
    return ", ".join(
        f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in known.items()
    )
