"""Linear layers and embeddings of int8 graphs: close to float32, each row independent."""

import numpy as np
import onnxruntime
import pytest

from readagain.export.graph_builder import GraphBuilder
from readagain.export.int8_graph import WEIGHT_STEPS, Int8GraphBuilder

RANDOM = np.random.default_rng(1)
WEIGHT = RANDOM.normal(size=(32, 6)).astype(np.float32)
BIAS = RANDOM.normal(size=6).astype(np.float32)
BUILDERS = {"float32": GraphBuilder, "int8": Int8GraphBuilder}


def linear(rows, precision, bound, bias=BIAS):
    """Apply a linear layer with the weight `WEIGHT` in a graph."""
    graph = BUILDERS[precision]("product")
    value = graph.input("rows", np.float32, ["R", 32])
    product = graph.linear(value, WEIGHT, bias, bound=bound)
    graph.output(product, "product", np.float32, ["R", 6])
    session = onnxruntime.InferenceSession(graph.model().SerializeToString())
    return session.run(None, {"rows": rows})[0]


def embedding(ids, table, precision):
    """Embed ids in a graph."""
    graph = BUILDERS[precision]("lookup")
    value = graph.input("ids", np.int64, ["R"])
    rows = graph.embedding(value, table)
    graph.output(rows, "rows", np.float32, ["R", table.shape[1]])
    session = onnxruntime.InferenceSession(graph.model().SerializeToString())
    return session.run(None, {"ids": ids})[0]


@pytest.mark.parametrize("bias", [BIAS, None])
@pytest.mark.parametrize("bound", [1.0, None])
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("int8", 0.2)])
def test_linear_is_close_to_exact_product(precision, tolerance, bound, bias):
    rows = np.tanh(RANDOM.normal(size=(5, 32))).astype(np.float32)
    exact = rows @ WEIGHT + (0 if bias is None else bias)
    np.testing.assert_allclose(linear(rows, precision, bound, bias), exact, atol=tolerance)


@pytest.mark.parametrize("bound", [1.0, None])
def test_row_is_independent_of_large_neighbour(bound):
    small = np.full((1, 32), 0.01, np.float32)
    huge = np.full((1, 32), 1.0 if bound else 1000.0, np.float32)
    alone = linear(small, "int8", bound)
    together = linear(np.concatenate([huge, small]), "int8", bound)[1:]
    np.testing.assert_array_equal(together, alone)


def test_unbounded_rows_keep_precision_at_any_scale():
    rows = np.tanh(RANDOM.normal(size=(4, 32))).astype(np.float32)
    scales = np.array([[1e-6], [1.0], [1e3], [0.0]], np.float32)
    scaled = linear(rows * scales, "int8", None, None)
    expected = linear(rows, "int8", None, None) * scales
    np.testing.assert_allclose(scaled, expected, rtol=1e-5, atol=1e-12)


def test_values_beyond_bound_are_clipped():
    rows = np.full((1, 32), 1.5, np.float32)
    np.testing.assert_allclose(
        linear(rows, "int8", 1.0), linear(rows / 1.5, "int8", 1.0), atol=1e-6
    )


def test_sum_of_two_products_fits_into_16_bits():
    codes, scales = Int8GraphBuilder.quantize_columns(WEIGHT)
    assert abs(codes.astype(int)).max() == WEIGHT_STEPS
    assert 2 * 255 * WEIGHT_STEPS < 2**15
    np.testing.assert_allclose(codes * scales, WEIGHT, atol=scales.max() / 2 + 1e-7)


def test_zero_column_stays_zero():
    codes, scales = Int8GraphBuilder.quantize_columns(np.zeros((3, 2), np.float32))
    assert not codes.any()
    assert np.isfinite(scales).all()


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 0), ("int8", 1 / 127)])
def test_embedding_has_one_scale_per_word(precision, tolerance):
    table = RANDOM.uniform(-1, 1, (4, 6)) * [[1e-3], [1], [10], [0]]
    table = table.astype(np.float32)
    ids = np.array([3, 0, 2, 0])
    rows = embedding(ids, table, precision)
    max_values = abs(table[ids]).max(axis=1, keepdims=True)
    assert (abs(rows - table[ids]) <= tolerance * max_values).all()
