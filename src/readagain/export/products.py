"""Matrix products and word embeddings, in float32 and in int8.

An int8 product never looks at other rows: activations that a network bounds (an LSTM's state lies
within ±1) have a fixed scale, all others one scale for each row. So a summary does not depend on
what else is in the batch, which the usual scale for a whole tensor cannot promise.
"""

from typing import Protocol

import numpy as np

from readagain.export.graph import MICROSOFT, Array, Graph

# Sixty-four steps on either side of zero, not 127: processors without VNNI add two products of
# unsigned and signed bytes in 16 bits, and 2 * 255 * 64 is the most that fits.
WEIGHT_STEPS = 64
ACTIVATION_STEPS = 127
TABLE_STEPS = 127  # embeddings are looked up, not multiplied
ZERO_POINT = 128


class Products(Protocol):
    """How a graph multiplies and looks words up."""

    name: str

    def multiply(
        self, graph: Graph, rows: str, weight: Array, bias: Array | None, *, bound: float | None
    ) -> str:
        """Multiply (R, I) rows by an (I, O) weight and add a bias: (R, O).

        Args:
            graph: where the operations go.
            rows: the value to multiply.
            weight: constant.
            bias: (O,) constant, or None.
            bound: what no entry of the rows exceeds in size; None where that is not known.
        """
        ...

    def embed(self, graph: Graph, ids: str, table: Array) -> str:
        """Look up (R,) ids in a (V, E) table: (R, E)."""
        ...


class Float32Products:
    """Everything as it was trained."""

    name = "float32"

    def multiply(
        self, graph: Graph, rows: str, weight: Array, bias: Array | None, *, bound: float | None
    ) -> str:
        """Multiply in float32."""
        constants = [
            graph.constant(each, np.float32) for each in (weight, bias) if each is not None
        ]
        return graph.add("Gemm", rows, *constants)

    def embed(self, graph: Graph, ids: str, table: Array) -> str:
        """Look up float32 rows."""
        return graph.add("Gather", graph.constant(table, np.float32), ids)


class Int8Products:
    """Weights in eight bits with a scale for each column, tables with one for each word."""

    name = "int8"

    def multiply(
        self, graph: Graph, rows: str, weight: Array, bias: Array | None, *, bound: float | None
    ) -> str:
        """Multiply bytes, and scale the sums back to float32."""
        if bound is not None:
            return self._multiply_bounded(graph, rows, weight, bias, bound)
        sizes = graph.add("ReduceMax", graph.add("Abs", rows), graph.ints(-1), keepdims=1)  # (R, 1)
        smallest = graph.constant(np.float32(np.finfo(np.float32).tiny))
        sizes = graph.add("Max", sizes, smallest)
        product = self._multiply_bounded(graph, graph.add("Div", rows, sizes), weight, None, 1.0)
        product = graph.add("Mul", product, sizes)
        return product if bias is None else graph.add("Add", product, graph.constant(bias))

    def _multiply_bounded(
        self, graph: Graph, rows: str, weight: Array, bias: Array | None, bound: float
    ) -> str:
        codes, scales = self.write_columns(weight)
        row_scale = graph.constant(np.float32(bound / ACTIVATION_STEPS))
        zero_point = graph.constant(np.uint8(ZERO_POINT))
        row_codes = graph.add("QuantizeLinear", rows, row_scale, zero_point)
        inputs = [row_codes, graph.constant(codes), row_scale, graph.constant(scales), zero_point]
        if bias is not None:
            inputs += ["", graph.constant(bias, np.float32)]
        return graph.add("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)

    def embed(self, graph: Graph, ids: str, table: Array) -> str:
        """Look up bytes and the scale of each word."""
        codes, scales = self.write_rows(table)
        looked_up = graph.add("Gather", graph.constant(codes), ids)
        as_float = graph.cast(looked_up, np.float32)
        return graph.add("Mul", as_float, graph.add("Gather", graph.constant(scales), ids))

    def write_columns(self, weight: Array) -> tuple[Array, Array]:
        """Write a weight as codes and scales: (I, O) -> (I, O), (O,)."""
        return quantize_columns(weight)

    def write_rows(self, table: Array) -> tuple[Array, Array]:
        """Write a table as codes and scales: (V, E) -> (V, E), (V, 1)."""
        scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        codes = np.rint(table / scales * TABLE_STEPS).astype(np.int8)
        return codes, (scales / TABLE_STEPS).astype(np.float32)


PRODUCTS: dict[str, Products] = {each.name: each for each in (Float32Products(), Int8Products())}


def quantize_columns(weight: Array) -> tuple[Array, Array]:
    """Write a weight as whole numbers and one scale for each column: (I, O) -> (I, O), (O,)."""
    scales = np.abs(weight).max(axis=0) / WEIGHT_STEPS
    scales = np.maximum(scales, np.finfo(np.float32).tiny).astype(np.float32)
    codes = np.rint(weight / scales).clip(-WEIGHT_STEPS, WEIGHT_STEPS).astype(np.int8)
    return codes, scales
