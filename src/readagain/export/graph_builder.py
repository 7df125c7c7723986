"""Builder of ONNX graphs, and access to the weights of a network by name.

The methods of a builder take and return the names of values of the graph.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

OPSET = 18  # version of the ONNX operators
IR_VERSION = 9  # version of the ONNX file format
MICROSOFT = "com.microsoft"  # domain of ONNX Runtime's own operators, such as int8 products

Array = NDArray[Any]
Shape = Sequence[int | str]
"""Sizes of the dimensions; a name stands for a size that is known only when the graph runs."""

_MAX_SHARED_SIZE = 8  # equal constants of at most this many elements are stored once


class GraphBuilder:
    """Builder of a graph with float32 weights; `Int8GraphBuilder` derives from it.

    For the body of a Scan, `parent` is the graph that contains the Scan. The constants of a body
    are added to the outermost graph.
    """

    def __init__(self, name: str, *, parent: "GraphBuilder | None" = None) -> None:
        self.name = name
        self._root: GraphBuilder = parent._root if parent else self
        self._nodes: list[NodeProto] = []
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []
        self._constants: list[TensorProto] = []
        self._shared_constants: dict[tuple[Any, ...], str] = {}
        # Output names by the names of the values; `model` renames the values.
        self._output_names: dict[str, str] = {}
        self._counter = count()

    def input(self, name: str, dtype: type[np.generic], shape: Shape) -> str:
        """Add an input."""
        name = name if self is self._root else self._new_name(name)
        self._inputs.append(_value_info(name, dtype, shape))
        return name

    def output(self, value: str, name: str, dtype: type[np.generic], shape: Shape) -> None:
        """Add `value` to the outputs as `name`."""
        interface_names = {info.name for info in (*self._inputs, *self._outputs)}
        if value in interface_names or value in self._output_names:
            value = self.op("Identity", value)  # inputs and earlier outputs keep their names
        if self is self._root:
            self._output_names[value] = name
        else:  # the outputs of a Scan body are identified by their order
            name = value
        self._outputs.append(_value_info(name, dtype, shape))

    def constant(self, value: ArrayLike, dtype: type[np.generic] | None = None) -> str:
        """Add a constant; equal small constants are stored once."""
        array = np.asarray(value, dtype=dtype, order="C")
        is_small = array.size <= _MAX_SHARED_SIZE
        key = (array.dtype.str, array.shape, array.tobytes()) if is_small else None
        shared_names = self._root._shared_constants
        if key in shared_names:
            return shared_names[key]
        name = self._new_name("constant")
        self._root._constants.append(numpy_helper.from_array(array, name))
        if key is not None:
            shared_names[key] = name
        return name

    def ints(self, *values: int) -> str:
        """Add a constant list of int64 numbers, such as axes or sizes."""
        return self.constant(values, np.int64)

    def op(self, op_type: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator and return its only output."""
        (output,) = self.op_multi(op_type, *inputs, num_outputs=1, domain=domain, **attributes)
        return output

    def op_multi(
        self, op_type: str, *inputs: str, num_outputs: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add an operator and return its outputs."""
        names = [self._new_name(op_type) for _ in range(num_outputs)]
        self._nodes.append(
            helper.make_node(op_type, list(inputs), names, domain=domain, **attributes)
        )
        return names

    def split(self, value: str, *sizes: int) -> list[str]:
        """Split the last dimension into parts of these sizes."""
        return self.op_multi("Split", value, self.ints(*sizes), num_outputs=len(sizes), axis=-1)

    def reshape(self, value: str, *sizes: int | str) -> str:
        """Reshape to sizes, each a number or a (1,) value; a size of -1 is inferred."""
        if all(isinstance(size, int) for size in sizes):
            return self.op("Reshape", value, self.ints(*sizes))  # type: ignore[arg-type]
        return self.op("Reshape", value, self.concat_sizes(*sizes))

    def concat_sizes(self, *sizes: int | str) -> str:
        """Concatenate sizes, each a number or a (1,) value, into one list."""
        parts = [self.ints(size) if isinstance(size, int) else size for size in sizes]
        return self.op("Concat", *parts, axis=0)

    def size(self, value: str, axis: int) -> str:
        """Return the size of one dimension as a (1,) value."""
        return self.op("Shape", value, start=axis, end=axis + 1)

    def arange(self, count: str) -> str:
        """Return the integers from 0 to `count` - 1, where `count` is a (1,) value: (count,)."""
        zero, one = self.constant(np.int64(0)), self.constant(np.int64(1))
        return self.op("Range", zero, self.op("Squeeze", count), one)

    def cast(self, value: str, dtype: type[np.generic]) -> str:
        """Cast a value to a dtype."""
        return self.op("Cast", value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def unsqueeze(self, value: str, axis: int) -> str:
        """Insert a dimension of size 1."""
        return self.op("Unsqueeze", value, self.ints(axis))

    def linear(
        self, rows: str, weight: Array, bias: Array | None = None, *, bound: float | None
    ) -> str:
        """Apply a linear layer with a constant (I, O) weight and (O,) bias: (R, I) rows -> (R, O).

        `bound` is the largest absolute value of the rows, or None if unknown; only int8 uses it.
        """
        return self.linear_float32(rows, weight, bias)

    def linear_float32(self, rows: str, weight: Array, bias: Array | None) -> str:
        """Apply a linear layer in float32, also in a graph with int8 weights."""
        inputs = [rows, self.constant(weight, np.float32)]
        if bias is not None:
            inputs.append(self.constant(bias, np.float32))
        return self.op("Gemm", *inputs)

    def embedding(self, ids: str, table: Array) -> str:
        """Embed (R,) ids with a (V, E) table: (R, E)."""
        return self.op("Gather", self.constant(table, np.float32), ids)

    def body(self, name: str) -> Self:
        """Return a builder for the body of a Scan, which may use the values of this graph."""
        return type(self)(name, parent=self)

    def scan(self, body: "GraphBuilder", states: Sequence[str], inputs: Sequence[str]) -> list[str]:
        """Run `body` for each slice of the inputs along their first dimension.

        The inputs of the body are the states and a slice of each input. Its outputs are the next
        states, then a slice of each output of the Scan.

        Returns:
            The last states, then the stacked outputs.
        """
        proto = helper.make_graph(body._nodes, body.name, body._inputs, body._outputs)
        return self.op_multi(
            "Scan",
            *states,
            *inputs,
            num_outputs=len(body._outputs),
            body=proto,
            num_scan_inputs=len(inputs),
        )

    def model(self) -> ModelProto:
        """Rename the values that are outputs and return the finished model."""
        for node in self._nodes:
            for names in (node.input, node.output):
                names[:] = [self._output_names.get(name, name) for name in names]
        graph = helper.make_graph(
            self._nodes, self.name, self._inputs, self._outputs, self._constants
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
            ir_version=IR_VERSION,
            producer_name="readagain",
        )

    def _new_name(self, hint: str) -> str:
        return f"{hint}_{next(self._root._counter)}"


def _value_info(name: str, dtype: type[np.generic], shape: Shape) -> ValueInfoProto:
    tensor_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, tensor_type, shape)


class StateDict:
    """Weights of a network, or of one of its modules.

    Args:
        tensors: all tensors of the network by name.
        prefix: prefix of the names of the module's tensors, such as `decoder.`.
    """

    def __init__(self, tensors: Mapping[str, Any], prefix: str = "") -> None:
        self._tensors = tensors
        self._prefix = prefix

    def module(self, name: str) -> "StateDict":
        """Return the weights of a submodule."""
        return StateDict(self._tensors, f"{self._prefix}{name}.")

    def tensor(self, name: str) -> Array:
        """Return one tensor in float32."""
        return np.asarray(self._tensors[self._prefix + name], dtype=np.float32)

    def matrix(self, name: str) -> Array:
        """Return torch's (O, I) weight of a linear layer as (I, O)."""
        return self.tensor(name).T

    def affine(self, name: str) -> tuple[Array, Array]:
        """Return the (I, O) weight and the (O,) bias of a linear layer."""
        return self.matrix(f"{name}.weight"), self.tensor(f"{name}.bias")
