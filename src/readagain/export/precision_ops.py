"""Linear layers and embeddings of a graph, in float32 and in int8.

In int8, bounded activations (an LSTM state is within ±1) have a fixed scale, all others one scale
per row. So a summary does not depend on its batch, as it would with one scale per tensor.
"""

from typing import Protocol

import numpy as np

from readagain.export.graph_builder import MICROSOFT, Array, GraphBuilder

# 64 and not 127: processors without VNNI add two products of an unsigned and a signed byte in 16
# bits, where 2 * 255 * 64 just fits.
WEIGHT_STEPS = 64
ACTIVATION_STEPS = 127
TABLE_STEPS = 127  # embeddings are not multiplied
ZERO_POINT = 128


class PrecisionOps(Protocol):
    """Operators of a precision."""

    name: str

    def linear(
        self,
        graph: GraphBuilder,
        rows: str,
        weight: Array,
        bias: Array | None,
        *,
        bound: float | None,
    ) -> str:
        """Apply a linear layer with an (I, O) weight to (R, I) rows: (R, O).

        Args:
            graph: the graph.
            rows: the input.
            weight: constant.
            bias: (O,) constant, or None.
            bound: largest absolute value of the rows, or None if unknown.
        """
        ...

    def embedding(self, graph: GraphBuilder, ids: str, table: Array) -> str:
        """Embed (R,) ids with a (V, E) table: (R, E)."""
        ...


class Float32Ops:
    """Operators in float32."""

    name = "float32"

    def linear(
        self,
        graph: GraphBuilder,
        rows: str,
        weight: Array,
        bias: Array | None,
        *,
        bound: float | None,
    ) -> str:
        """Apply a linear layer in float32."""
        constants = [
            graph.constant(each, np.float32) for each in (weight, bias) if each is not None
        ]
        return graph.add("Gemm", rows, *constants)

    def embedding(self, graph: GraphBuilder, ids: str, table: Array) -> str:
        """Embed with a float32 table."""
        return graph.add("Gather", graph.constant(table, np.float32), ids)


class Int8Ops:
    """Operators in int8: weights with a scale per column, tables with a scale per word."""

    name = "int8"

    def linear(
        self,
        graph: GraphBuilder,
        rows: str,
        weight: Array,
        bias: Array | None,
        *,
        bound: float | None,
    ) -> str:
        """Apply a linear layer in int8 with a float32 result."""
        if bound is not None:
            return self._linear_bounded(graph, rows, weight, bias, bound)
        sizes = graph.add("ReduceMax", graph.add("Abs", rows), graph.ints(-1), keepdims=1)  # (R, 1)
        smallest = graph.constant(np.float32(np.finfo(np.float32).tiny))
        sizes = graph.add("Max", sizes, smallest)
        product = self._linear_bounded(graph, graph.add("Div", rows, sizes), weight, None, 1.0)
        product = graph.add("Mul", product, sizes)
        return product if bias is None else graph.add("Add", product, graph.constant(bias))

    def _linear_bounded(
        self, graph: GraphBuilder, rows: str, weight: Array, bias: Array | None, bound: float
    ) -> str:
        codes, scales = self.write_columns(weight)
        row_scale = graph.constant(np.float32(bound / ACTIVATION_STEPS))
        zero_point = graph.constant(np.uint8(ZERO_POINT))
        row_codes = graph.add("QuantizeLinear", rows, row_scale, zero_point)
        inputs = [row_codes, graph.constant(codes), row_scale, graph.constant(scales), zero_point]
        if bias is not None:
            inputs += ["", graph.constant(bias, np.float32)]
        return graph.add("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)

    def embedding(self, graph: GraphBuilder, ids: str, table: Array) -> str:
        """Embed with an int8 table."""
        codes, scales = self.write_rows(table)
        row_codes = graph.add("Gather", graph.constant(codes), ids)
        as_float = graph.cast(row_codes, np.float32)
        return graph.add("Mul", as_float, graph.add("Gather", graph.constant(scales), ids))

    def write_columns(self, weight: Array) -> tuple[Array, Array]:
        """Quantize a weight: (I, O) -> (I, O) codes, (O,) scales."""
        return quantize_columns(weight)

    def write_rows(self, table: Array) -> tuple[Array, Array]:
        """Quantize a table: (V, E) -> (V, E) codes, (V, 1) scales."""
        scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        codes = np.rint(table / scales * TABLE_STEPS).astype(np.int8)
        return codes, (scales / TABLE_STEPS).astype(np.float32)


PRECISION_OPS: dict[str, PrecisionOps] = {each.name: each for each in (Float32Ops(), Int8Ops())}


def quantize_columns(weight: Array) -> tuple[Array, Array]:
    """Quantize a weight with one scale per column: (I, O) -> (I, O) codes, (O,) scales."""
    scales = np.abs(weight).max(axis=0) / WEIGHT_STEPS
    scales = np.maximum(scales, np.finfo(np.float32).tiny).astype(np.float32)
    codes = np.rint(weight / scales).clip(-WEIGHT_STEPS, WEIGHT_STEPS).astype(np.int8)
    return codes, scales
