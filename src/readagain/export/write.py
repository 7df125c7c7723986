"""Export of a trained model to ONNX graphs, in its own folder or in a new one without weights."""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, assert_never

import onnx

from readagain.config.files import save_run
from readagain.config.override import override
from readagain.config.schema import AbsSpec, ModelSpec, RasSpec, RunSpec
from readagain.errors import ArgumentError, ArtifactError
from readagain.export.attention_step import AttentionStep
from readagain.export.baseline_graphs import (
    build_abs_encoder,
    build_abs_step,
    build_ras_encoder,
    build_ras_step,
)
from readagain.export.encoder_graph import build_encoder_graph
from readagain.export.graph_builder import OPSET, GraphBuilder, StateDict
from readagain.export.int8_graph import Int8GraphBuilder
from readagain.model_dir import (
    EXPORT_FILE,
    RUN_FILE,
    WEIGHTS_FILE,
    ModelDir,
    Precision,
    graph_names,
)
from readagain.networks.build import find_weights
from readagain.storage.model_manifest import MANIFEST_FILE, read_manifest, write_model_files
from readagain.storage.tensors import read_tensors
from readagain.version import __version__

Graphs = dict[Precision, tuple[bytes, bytes]]
"""Serialized encoder graph and step graph by precision."""
_BUILDERS: dict[Precision, type[GraphBuilder]] = {
    "float32": GraphBuilder,
    "int8": Int8GraphBuilder,
}


def build_graphs(
    run: RunSpec, tensors: Mapping[str, Any], precisions: Iterable[Precision]
) -> Graphs:
    """Build and serialize the encoder graph and the step graph of a network in each precision."""
    weights = StateDict(tensors)
    graphs: Graphs = {}
    for precision in precisions:
        encoder, step = build_onnx_models(run, weights, _BUILDERS[precision])
        graphs[precision] = (encoder.SerializeToString(), step.SerializeToString())
    return graphs


def build_onnx_models(
    run: RunSpec, weights: StateDict, builder: type[GraphBuilder]
) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Build the encoder graph and the step graph of a network, each with a new `builder`."""
    model, encoder, step = run.model, builder("encoder"), builder("step")
    match model:
        case ModelSpec():
            return (
                build_encoder_graph(encoder, run, model, weights),
                AttentionStep(step, run, model, weights).build(),
            )
        case AbsSpec():
            return (
                build_abs_encoder(encoder, model, weights),
                build_abs_step(step, run, model, weights),
            )
        case RasSpec():
            return (
                build_ras_encoder(encoder, model, weights),
                build_ras_step(step, run, model, weights),
            )
        case _:
            assert_never(model)


def model_graphs(model_dir: ModelDir, precisions: Iterable[Precision]) -> Graphs:
    """Build the graphs of a model folder from its weights.

    Raises:
        ArtifactError: if the folder has no weights, or they do not fit its `run.json`.
    """
    weights = read_tensors(find_weights(model_dir, purpose="exporting"))
    return build_graphs(model_dir.run, weights, precisions)


def write_graphs(
    model_dir: ModelDir, graphs: Graphs, check: Mapping[str, Any], *, out: Path | None = None
) -> Path:
    """Write graphs, and `export.json` with versions, sizes and the result of the check.

    Args:
        model_dir: model of the graphs. For a model of `with_shortlist`, `out` is required.
        graphs: graphs of the model.
        check: fields of `check.Check`.
        out: new folder for inference only, without weights (default: add the graphs to the folder
            of the model).

    Returns:
        The folder that was written.

    Raises:
        ArtifactError: if `out` contains a model with weights, which would be lost.
    """
    writers: dict[str, Callable[[Path], object]] = {}
    if out is not None:
        if (out / MANIFEST_FILE).exists() and WEIGHTS_FILE in read_manifest(out).files:
            raise ArtifactError(
                f"{out}: contains a model with weights, which would be replaced; write to a new "
                "folder, or add the graphs to the model"
            )
        writers = {
            name: partial(shutil.copyfile, model_dir.path / name)
            for name in model_dir.manifest.files
            if name not in (EXPORT_FILE, WEIGHTS_FILE) and not name.endswith(".onnx")
        }
        writers[RUN_FILE] = partial(save_run, model_dir.run)
    for precision, contents in graphs.items():
        for name, content in zip(graph_names(precision), contents, strict=True):
            writers[name] = partial(Path.write_bytes, data=content)
    report = {
        "package_version": __version__,
        "onnx_version": onnx.__version__,
        "opset": OPSET,
        "bytes": {precision: sum(map(len, contents)) for precision, contents in graphs.items()},
        "check": dict(check),
    }
    text = json.dumps(report, indent=2) + "\n"
    writers[EXPORT_FILE] = partial(Path.write_text, data=text, encoding="utf-8")
    path = model_dir.path if out is None else out
    write_model_files(path, writers, replace_all=out is not None)
    return path


def with_shortlist(model_dir: ModelDir, size: int) -> ModelDir:
    """Return a model with the same weights that scores a shortlist of `size` words.

    The shortlist has the special tokens, the source words and the most frequent other words.

    Raises:
        ArgumentError: if the network does not support shortlists, or already scores at most `size`
            words.
        ConfigError: if a source can have more words than the shortlist.
    """
    model = model_dir.run.model
    if not isinstance(model, ModelSpec):
        raise ArgumentError(
            "{0}: {shortlist} needs an encoder-decoder network; export this model without it",
            model_dir.path,
        )
    num_scored = model.shortlist_size or model_dir.run.vocab_size
    if not 0 < size < num_scored:
        raise ArgumentError(
            "{0}: {shortlist} is {1}; expected 1 to {2}, fewer words than the model scores now",
            model_dir.path,
            size,
            num_scored - 1,
        )
    changes = {"model.shortlist_size": size}
    return replace(model_dir, run=override(model_dir.run, changes, where=str(model_dir.path)))
