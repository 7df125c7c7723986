"""Weights recovered from int8 graphs, for fine-tuning a model that has no weights file.

A graph contains every entry of every weight, but transposed, split, concatenated and quantized. To
find the entries, all entries are numbered, and the graphs are built again with these numbers in
place of the weights. At the position of a number in a new graph, the stored graph has the entry.
"""

from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from readagain.config.schema import RunSpec
from readagain.errors import ArtifactError
from readagain.export.graph_builder import Array, StateDict
from readagain.export.int8_graph import Int8GraphBuilder
from readagain.export.write import build_onnx_models
from readagain.model_dir import WEIGHTS_FILE, graph_names

# A graph stores float32 values. So entry n is represented by the n-th float32 value from 1.0
# upwards, whose bits are those of 1.0 plus n. Building a graph moves the values, but does no
# arithmetic with them.
_FIRST_ENTRY = np.float32(1).view(np.uint32)
MAX_ENTRIES = 2**30
"""Number of finite float32 values from 1.0 upwards."""
# A graph contains only the sum of the two biases of an LSTM. The first recovered bias is this sum,
# and the second is 0.
_SECOND_BIAS = "bias_hh_l0"
_ADVICE = f"fine-tune a model that has its {WEIGHTS_FILE}"


def recover_weights(
    model_path: Path, run: RunSpec, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """Return the weights of a network from its int8 graphs, within the quantization error.

    Uniform noise of less than half a quantization step, from a fixed seed, is added to each weight.
    Without noise, export would undo any training that changes a weight by less than half a step.

    `shapes` are the shapes of the network's tensors by name.

    Raises:
        ArtifactError: if another version wrote the graphs, or they are too large.
    """
    total = sum(prod(shape) for name, shape in shapes.items() if _SECOND_BIAS not in name)
    if total >= MAX_ENTRIES:
        raise ArtifactError(
            f"{model_path}: weights can be recovered from graphs of up to {MAX_ENTRIES:,} entries, "
            f"but these have {total:,}; {_ADVICE}"
        )
    all_numbers = (np.arange(total, dtype=np.uint32) + _FIRST_ENTRY).view(np.float32)
    numbered = StateDict(_split_entries(all_numbers, shapes))
    layouts = build_onnx_models(run, numbered, _NumberGraphBuilder)
    all_values = np.full(total, np.nan, np.float32)
    for name, layout in zip(graph_names("int8"), layouts, strict=True):
        graph = onnx.load(model_path / name)
        for numbers, values in _match_constants(layout, graph, model_path / name):
            entries = np.ascontiguousarray(numbers).view(np.uint32) - _FIRST_ENTRY
            is_entry = entries < total  # False for constants that the export computes
            all_values[entries[is_entry]] = values[is_entry]
    weights = _split_entries(all_values, shapes)
    for name, weight in weights.items():
        if np.isnan(weight).any():
            raise ArtifactError(
                f"{model_path}: the graphs do not contain all entries of '{name}'; {_ADVICE}"
            )
    return weights


def _split_entries(entries: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Split all entries, (total,), into tensors of these shapes; second LSTM biases are 0."""
    tensors: dict[str, Array] = {}
    end = 0
    for name, shape in shapes.items():
        if _SECOND_BIAS in name:
            tensors[name] = np.zeros(shape, np.float32)
        else:
            start, end = end, end + prod(shape)
            tensors[name] = entries[start:end].reshape(shape)
    return tensors


class _NumberGraphBuilder(Int8GraphBuilder):
    """Int8 graph builder that keeps entry numbers instead of quantizing them.

    The scales of a weight are replaced by the negative numbers of some of its entries, the first of
    which is entry [0, 0]. `_match_constants` finds the scales of a weight by this number.
    """

    @staticmethod
    def quantize_columns(weight: Array) -> tuple[Array, Array]:
        return weight, -weight[0]

    @staticmethod
    def quantize_rows(table: Array) -> tuple[Array, Array]:
        return table, -table[:, :1]


def _match_constants(
    layout: onnx.ModelProto, graph: onnx.ModelProto, path: Path
) -> Iterator[tuple[Array, Array]]:
    """Yield arrays of entry numbers, and arrays of the values of these entries in `graph`.

    `layout` is the graph with entry numbers in place of weights.
    """
    number_tables, value_tables = _weight_tables(layout), _weight_tables(graph)
    # Matched by order: names depend on the number of operations, which differs between versions.
    if [table.shape for table in number_tables] != [table.shape for table in value_tables]:
        raise ArtifactError(f"{path}: exported by another version of readagain; {_ADVICE}")
    pairs = list(zip(number_tables, value_tables, strict=True))
    scales_by_number = {-table.flat[0]: scales for table, scales in pairs if table.flat[0] < 0}
    for numbers, values in pairs:
        if numbers.flat[0] <= 0 or np.array_equal(numbers, values):
            continue  # scales, or a constant that is not a weight
        if values.dtype == np.int8:
            values = _dequantize_with_noise(values, scales_by_number[numbers.flat[0]])
        yield numbers, values


def _dequantize_with_noise(codes: Array, scales: Array) -> Array:
    """Dequantize codes with noise of less than half a step.

    Quantizing the result gives the same codes. The largest code of each column or row has no noise,
    since it determines the scale.
    """
    axis = 0 if scales.ndim == 1 else 1  # scales are (O,) for columns, (V, 1) for rows
    magnitudes = np.abs(codes.astype(np.int16))
    noise = np.random.default_rng(codes.size).uniform(-0.499, 0.499, codes.shape)
    noise[magnitudes == magnitudes.max(axis=axis, keepdims=True)] = 0
    return ((codes + noise) * scales).astype(np.float32)


def _weight_tables(model: onnx.ModelProto) -> list[Array]:
    """Return the constants that can be weights or scales, which have at least one dimension."""
    constants = map(numpy_helper.to_array, model.graph.initializer)
    dtypes = (np.float32, np.int8)
    return [array for array in constants if array.dtype in dtypes and array.ndim]
