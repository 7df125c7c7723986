"""Weights recovered from int8 graphs, for fine-tuning a model without its weights file.

A graph contains every weight, but transposed, split, concatenated and quantized. To find where each
entry is, the graphs are built again from tensors whose entries are consecutive float32 numbers.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from readagain.config.schema import RunSpec
from readagain.errors import ArtifactError
from readagain.export.graph_builder import Array
from readagain.export.int8_graph import Int8GraphBuilder
from readagain.export.state_dict import StateDict
from readagain.export.write import network_graphs
from readagain.model_dir import WEIGHTS_FILE, graph_names

# Entry n is the n-th float32 from 1 on. Building a graph moves entries but does no arithmetic, so
# they stay distinct.
_FIRST_ENTRY = np.float32(1).view(np.uint32)
MAX_ENTRIES = 2**30
"""Number of float32 numbers from 1 on."""
# A graph has the sum of an LSTM's two biases; it becomes the first bias, the second is zero.
_SECOND_BIAS = "bias_hh_l0"
_ADVICE = f"fine-tune a model that has its {WEIGHTS_FILE}"


def recover_weights(
    model_path: Path, run: RunSpec, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """Return the weights of a network from its int8 graphs, within the quantization error.

    Each weight is moved randomly, from a fixed seed, within its quantization step. At the middle of
    the step, export would undo any training that moves a weight by less than half a step.

    Args:
        model_path: the model folder with its graphs.
        run: its settings.
        shapes: shapes of the network's tensors by name.

    Raises:
        ArtifactError: if another version wrote the graphs, or they are too large.
    """
    sizes = {
        name: int(np.prod(shape)) for name, shape in shapes.items() if _SECOND_BIAS not in name
    }
    total = sum(sizes.values())
    if total >= MAX_ENTRIES:
        raise ArtifactError(
            f"{model_path}: weights can be read back from graphs of up to {MAX_ENTRIES:,} entries, "
            f"these have {total:,}; {_ADVICE}"
        )
    ends = np.cumsum([*sizes.values()])
    numbered = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for (name, size), end in zip(sizes.items(), ends, strict=True):
        numbers = np.arange(end - size, end, dtype=np.uint32) + _FIRST_ENTRY
        numbered[name] = numbers.view(np.float32).reshape(shapes[name])
    found = np.full(total, np.nan, np.float32)
    layouts = network_graphs(run, StateDict(numbered), _NumberGraphBuilder)
    for name, layout in zip(graph_names("int8"), layouts, strict=True):
        graph = onnx.load(model_path / name)
        for numbers, values in _pair_up(layout, graph, model_path / name):
            entries = np.ascontiguousarray(numbers).view(np.uint32) - _FIRST_ENTRY
            is_entry = entries < total  # not where the export computed a constant from weights
            found[entries[is_entry]] = values[is_entry]
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for (name, size), end in zip(sizes.items(), ends, strict=True):
        weights[name] = found[end - size : end].reshape(shapes[name])
        if np.isnan(weights[name]).any():
            raise ArtifactError(f"{model_path}: its graphs do not hold all of '{name}'; {_ADVICE}")
    return weights


class _NumberGraphBuilder(Int8GraphBuilder):
    """Int8 graph that keeps entry numbers instead of quantizing; scales are negative."""

    @staticmethod
    def quantize_columns(weight: Array) -> tuple[Array, Array]:
        return weight, -weight[0]

    @staticmethod
    def quantize_rows(table: Array) -> tuple[Array, Array]:
        return table, -table[:, :1]


def _pair_up(
    layout: onnx.ModelProto, graph: onnx.ModelProto, path: Path
) -> Iterator[tuple[Array, Array]]:
    """Yield the numbers of entries and their values in a graph."""
    numbered, held = _tables(layout), _tables(graph)
    # By order: names depend on the number of operations, which differs between versions.
    if [each.shape for each in numbered] != [each.shape for each in held]:
        raise ArtifactError(f"{path}: laid out as this version of readagain does not; {_ADVICE}")
    pairs = list(zip(numbered, held, strict=True))
    scale_of = {-numbers.flat[0]: scales for numbers, scales in pairs if numbers.flat[0] < 0}
    for numbers, values in pairs:
        if numbers.flat[0] > 0:
            is_code = values.dtype == np.int8
            yield numbers, _spread(values, scale_of[numbers.flat[0]]) if is_code else values


def _spread(codes: Array, scales: Array) -> Array:
    """Dequantize codes, each moved within its step; quantizing again gives the same code.

    The largest code of each scale is not moved, since it determines the scale.
    """
    shared = 0 if scales.ndim == 1 else 1  # scales of columns (O,), or of rows (V, 1)
    sizes = np.abs(codes.astype(np.int16))
    moves = np.random.default_rng(codes.size).uniform(-0.499, 0.499, codes.shape)
    moves[sizes == sizes.max(axis=shared, keepdims=True)] = 0
    return ((codes + moves) * scales).astype(np.float32)


def _tables(model: onnx.ModelProto) -> list[Array]:
    """Return the constants that can be weights: no shapes, no scalars."""
    constants = (numpy_helper.to_array(each) for each in model.graph.initializer)
    return [each for each in constants if each.dtype in (np.float32, np.int8) and each.size > 1]
