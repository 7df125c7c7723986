"""Graphs with int8 weights.

Activations with a known bound, such as LSTM states, which are between -1 and 1, have a fixed scale.
All other activations have one scale per row. With one scale per tensor, a summary would depend on
the other texts of its batch.
"""

import numpy as np

from readagain.export.graph_builder import MICROSOFT, Array, GraphBuilder

WEIGHT_STEPS = 64
"""Largest int8 code of a weight.

CPUs without VNNI add two products of an unsigned and a signed byte in a signed 16-bit integer. With
64, the sum is at most 2 * 255 * 64 and fits; with 127 it could overflow.
"""
ACTIVATION_STEPS = 127
"""Largest distance of a uint8 code of an activation from `ZERO_POINT`."""
TABLE_STEPS = 127
"""Largest int8 code of an embedding; embeddings are not multiplied in int8."""
ZERO_POINT = 128


class Int8GraphBuilder(GraphBuilder):
    """Builder of a graph with int8 weights, one scale per matrix column or embedding row."""

    def linear(
        self, rows: str, weight: Array, bias: Array | None = None, *, bound: float | None
    ) -> str:
        """Apply a linear layer in int8 with a float32 result."""
        if bound is not None:
            return self._linear_bounded(rows, weight, bias, bound)
        magnitudes = self.op("Abs", rows)
        row_bounds = self.op("ReduceMax", magnitudes, self.ints(-1), keepdims=1)  # (R, 1)
        tiny = self.constant(np.float32(np.finfo(np.float32).tiny))
        row_bounds = self.op("Max", row_bounds, tiny)  # avoids a division by 0
        product = self._linear_bounded(self.op("Div", rows, row_bounds), weight, None, 1.0)
        product = self.op("Mul", product, row_bounds)
        return product if bias is None else self.op("Add", product, self.constant(bias))

    def _linear_bounded(self, rows: str, weight: Array, bias: Array | None, bound: float) -> str:
        """Apply a linear layer to rows between -`bound` and `bound`."""
        codes, scales = self.quantize_columns(weight)
        row_scale = self.constant(np.float32(bound / ACTIVATION_STEPS))
        zero_point = self.constant(np.uint8(ZERO_POINT))
        row_codes = self.op("QuantizeLinear", rows, row_scale, zero_point)
        inputs = [row_codes, self.constant(codes), row_scale, self.constant(scales), zero_point]
        if bias is not None:
            inputs += ["", self.constant(bias, np.float32)]  # "": the weights have no zero point
        return self.op("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)

    def embedding(self, ids: str, table: Array) -> str:
        """Embed (R,) ids with a (V, E) table that is stored in int8: (R, E)."""
        codes, scales = self.quantize_rows(table)
        row_codes = self.op("Gather", self.constant(codes), ids)
        as_float = self.cast(row_codes, np.float32)
        return self.op("Mul", as_float, self.op("Gather", self.constant(scales), ids))

    @staticmethod
    def quantize_columns(weight: Array) -> tuple[Array, Array]:
        """Quantize a weight: (I, O) -> (I, O) codes, (O,) scales."""
        scales = np.abs(weight).max(axis=0) / WEIGHT_STEPS
        scales = np.maximum(scales, np.finfo(np.float32).tiny).astype(np.float32)
        codes = np.rint(weight / scales).clip(-WEIGHT_STEPS, WEIGHT_STEPS).astype(np.int8)
        return codes, scales

    @staticmethod
    def quantize_rows(table: Array) -> tuple[Array, Array]:
        """Quantize a table: (V, E) -> (V, E) codes, (V, 1) scales."""
        scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        codes = np.rint(table / scales * TABLE_STEPS).astype(np.int8)
        return codes, (scales / TABLE_STEPS).astype(np.float32)
