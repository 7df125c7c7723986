"""StateDict read back from graphs, for going on with a model that has nothing else.

A graph holds every weight, but turned, cut, joined and written in bytes. Which entry went where is
asked of the export itself: it builds the same graphs once more, from tensors that number their
entries instead of weighing anything.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from readagain.config.schema import RunSpec
from readagain.errors import ArtifactError
from readagain.export.graph_builder import Array
from readagain.export.precision_ops import Int8Ops
from readagain.export.state_dict import StateDict
from readagain.export.write import network_graphs
from readagain.model_dir import WEIGHTS_FILE, graph_names

MOST_ENTRIES = 2**24
"""Whole numbers are exact in float32 as far as this."""
# A graph holds the sum of an LSTM's two biases; all of it is given to the other one.
_SECOND_BIAS = "bias_hh_l0"
_ADVICE = f"fine-tune a model that has its {WEIGHTS_FILE}"


def recover_weights(
    folder: Path, run: RunSpec, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """Read the weights of a network back from its int8 graphs, as exact as bytes are.

    Each stands anywhere within its step, the same way every time: on the middle of it, where a
    code stands, training that moves a weight by less than half a step would be undone by export.

    Args:
        folder: the model's, with its graphs.
        run: its settings.
        shapes: of the network's tensors, by name.

    Raises:
        ArtifactError: when the graphs are not what this version writes, or hold too much.
    """
    sizes = {
        name: int(np.prod(shape)) for name, shape in shapes.items() if _SECOND_BIAS not in name
    }
    total = sum(sizes.values())
    if total >= MOST_ENTRIES:
        raise ArtifactError(
            f"{folder}: weights can be read back from graphs of up to {MOST_ENTRIES:,} entries, "
            f"these have {total:,}; {_ADVICE}"
        )
    ends = np.cumsum([*sizes.values()])
    numbered = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for (name, size), end in zip(sizes.items(), ends, strict=True):
        numbered[name] = np.arange(end - size + 1, end + 1, dtype=np.float32).reshape(shapes[name])
    found = np.full(total + 1, np.nan, np.float32)  # numbers count from 1
    layouts = network_graphs(run, StateDict(numbered), _Numbers())
    for name, layout in zip(graph_names("int8"), layouts, strict=True):
        graph = onnx.load(folder / name)
        for numbers, values in _pair_up(layout, graph, folder / name):
            found[numbers.astype(np.int64)] = values
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for (name, size), end in zip(sizes.items(), ends, strict=True):
        weights[name] = found[end - size + 1 : end + 1].reshape(shapes[name])
        if np.isnan(weights[name]).any():
            raise ArtifactError(f"{folder}: its graphs do not hold all of '{name}'; {_ADVICE}")
    return weights


class _Numbers(Int8Ops):
    """Lay numbers out as int8 ops lay weights out; scales are marked by a minus."""

    def write_columns(self, weight: Array) -> tuple[Array, Array]:
        return weight, -weight[0]

    def write_rows(self, table: Array) -> tuple[Array, Array]:
        return table, -table[:, :1]


def _pair_up(
    layout: onnx.ModelProto, graph: onnx.ModelProto, path: Path
) -> Iterator[tuple[Array, Array]]:
    """Yield numbers of entries and the values that a graph has in their places."""
    numbered, held = _tables(layout), _tables(graph)
    # By order: names count operations too, which other versions had more or fewer of.
    if [each.shape for each in numbered] != [each.shape for each in held]:
        raise ArtifactError(f"{path}: laid out as this version of readagain does not; {_ADVICE}")
    pairs = list(zip(numbered, held, strict=True))
    scale_of = {-numbers.flat[0]: scales for numbers, scales in pairs if numbers.flat[0] < 0}
    for numbers, values in pairs:
        if numbers.flat[0] > 0:
            is_code = values.dtype == np.int8
            yield numbers, _spread(values, scale_of[numbers.flat[0]]) if is_code else values


def _spread(codes: Array, scales: Array) -> Array:
    """Return what codes stand for, each moved within its step: written again it is the same code.

    The largest of those that share a scale stays, since the scale is made from it.
    """
    shared = 0 if scales.ndim == 1 else 1  # scales of columns (O,), or of rows (V, 1)
    sizes = np.abs(codes.astype(np.int16))
    moves = np.random.default_rng(codes.size).uniform(-0.499, 0.499, codes.shape)
    moves[sizes == sizes.max(axis=shared, keepdims=True)] = 0
    return ((codes + moves) * scales).astype(np.float32)


def _tables(model: onnx.ModelProto) -> list[Array]:
    """Return the constants that can hold weights: no shapes, no single numbers."""
    constants = (numpy_helper.to_array(each) for each in model.graph.initializer)
    return [each for each in constants if each.dtype in (np.float32, np.int8) and each.size > 1]
