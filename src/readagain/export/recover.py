"""Weights recovered from int8 graphs, for fine-tuning a model without its weights file.

A graph contains every weight, but transposed, split, concatenated and quantized. To find each entry
of a weight, the graphs are built a second time from tensors whose entries are all different: each
is the number of the entry. Where the second graph has that number, the first graph has the weight.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from readagain.config.schema import RunSpec
from readagain.errors import ArtifactError
from readagain.export.graph_builder import Array, StateDict
from readagain.export.int8_graph import Int8GraphBuilder
from readagain.export.write import network_graphs
from readagain.model_dir import WEIGHTS_FILE, graph_names

# Entry n is the n-th float32 number from 1 upwards. Building a graph moves entries but does no
# arithmetic with them, so they stay distinct.
_FIRST_ENTRY = np.float32(1).view(np.uint32)
MAX_ENTRIES = 2**30
"""Number of float32 numbers from 1 upwards."""
# A graph contains the sum of the two biases of an LSTM; the first is set to it, the second to 0.
_SECOND_BIAS = "bias_hh_l0"
_ADVICE = f"fine-tune a model that has its {WEIGHTS_FILE}"


def recover_weights(
    model_path: Path, run: RunSpec, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """Return the weights of a network from its int8 graphs, within the quantization error.

    Uniform noise from a fixed seed, within the quantization step, is added to each weight.
    Otherwise export would undo any training that changes a weight by less than half a step.

    `shapes` are the shapes of the network's tensors by name.

    Raises:
        ArtifactError: if another version wrote the graphs, or they are too large.
    """
    sizes = {
        name: int(np.prod(shape)) for name, shape in shapes.items() if _SECOND_BIAS not in name
    }
    total = sum(sizes.values())
    if total >= MAX_ENTRIES:
        raise ArtifactError(
            f"{model_path}: weights can be recovered from graphs of up to {MAX_ENTRIES:,} entries, "
            f"but these have {total:,}; {_ADVICE}"
        )
    ends = np.cumsum([*sizes.values()])
    numbered = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for (name, size), end in zip(sizes.items(), ends, strict=True):
        numbers = np.arange(end - size, end, dtype=np.uint32) + _FIRST_ENTRY
        numbered[name] = numbers.view(np.float32).reshape(shapes[name])
    values_by_entry = np.full(total, np.nan, np.float32)
    layouts = network_graphs(run, StateDict(numbered), _NumberGraphBuilder)
    for name, layout in zip(graph_names("int8"), layouts, strict=True):
        graph = onnx.load(model_path / name)
        for numbers, values in _match_constants(layout, graph, model_path / name):
            entries = np.ascontiguousarray(numbers).view(np.uint32) - _FIRST_ENTRY
            is_entry = entries < total  # False where the export computed a constant from weights
            values_by_entry[entries[is_entry]] = values[is_entry]
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for (name, size), end in zip(sizes.items(), ends, strict=True):
        weights[name] = values_by_entry[end - size : end].reshape(shapes[name])
        if np.isnan(weights[name]).any():
            raise ArtifactError(
                f"{model_path}: the graphs do not contain all entries of '{name}'; {_ADVICE}"
            )
    return weights


class _NumberGraphBuilder(Int8GraphBuilder):
    """Int8 graph builder that keeps entry numbers instead of quantizing; scales are negative."""

    @staticmethod
    def quantize_columns(weight: Array) -> tuple[Array, Array]:
        return weight, -weight[0]

    @staticmethod
    def quantize_rows(table: Array) -> tuple[Array, Array]:
        return table, -table[:, :1]


def _match_constants(
    layout: onnx.ModelProto, graph: onnx.ModelProto, path: Path
) -> Iterator[tuple[Array, Array]]:
    """Yield arrays of entry numbers with the values of these entries in a graph."""
    numbered, stored = _tables(layout), _tables(graph)
    # Matched by order: names depend on the number of operations, which differs between versions.
    if [each.shape for each in numbered] != [each.shape for each in stored]:
        raise ArtifactError(f"{path}: exported by another version of readagain; {_ADVICE}")
    pairs = list(zip(numbered, stored, strict=True))
    scale_of = {-numbers.flat[0]: scales for numbers, scales in pairs if numbers.flat[0] < 0}
    for numbers, values in pairs:
        if numbers.flat[0] > 0:
            is_code = values.dtype == np.int8
            yield (
                numbers,
                _dequantize_with_noise(values, scale_of[numbers.flat[0]]) if is_code else values,
            )


def _dequantize_with_noise(codes: Array, scales: Array) -> Array:
    """Dequantize codes with noise within the step; quantizing again gives the same codes.

    The largest code of each scale has no noise, since it determines the scale.
    """
    axis = 0 if scales.ndim == 1 else 1  # scales of columns (O,), or of rows (V, 1)
    sizes = np.abs(codes.astype(np.int16))
    noise = np.random.default_rng(codes.size).uniform(-0.499, 0.499, codes.shape)
    noise[sizes == sizes.max(axis=axis, keepdims=True)] = 0
    return ((codes + noise) * scales).astype(np.float32)


def _tables(model: onnx.ModelProto) -> list[Array]:
    """Return the constants that can be weights, not shapes or scalars."""
    constants = (numpy_helper.to_array(each) for each in model.graph.initializer)
    return [each for each in constants if each.dtype in (np.float32, np.int8) and each.size > 1]
