"""A thin hand over onnx's protobuf: values are names, each operation returns a new one."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

OPSET = 18
IR_VERSION = 9
MICROSOFT = "com.microsoft"  # ONNX Runtime's own operators, int8 products among them

Array = NDArray[Any]
Shape = Sequence[int | str]

_TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.bool_): TensorProto.BOOL,
}


class Graph:
    """A graph under construction.

    Args:
        name: what the graph does.
        parent: the graph in whose Scan this one is the body; constants are kept there.
    """

    def __init__(self, name: str, *, parent: "Graph | None" = None) -> None:
        self.name = name
        self._root: Graph = parent._root if parent else self
        self._nodes: list[NodeProto] = []
        self._inputs: list[ValueInfoProto] = []
        self._outputs: list[ValueInfoProto] = []
        self._constants: list[TensorProto] = []
        self._small_constants: dict[tuple[Any, ...], str] = {}
        self._renamed: dict[str, str] = {}  # outputs, under their names outside
        self._numbers = count()

    def input(self, name: str, dtype: type[np.generic], shape: Shape) -> str:
        """Declare an input; a dimension with a name is free."""
        name = name if self is self._root else self._fresh(name)
        self._inputs.append(_info(name, dtype, shape))
        return name

    def output(self, value: str, name: str, dtype: type[np.generic], shape: Shape) -> None:
        """Declare that `value` leaves the graph under `name`."""
        taken = {each.name for each in (*self._inputs, *self._outputs)}
        if value in taken or value in self._renamed:
            value = self.add("Identity", value)
        if self is self._root:
            self._renamed[value] = name
        else:  # inside a Scan only the order counts
            name = value
        self._outputs.append(_info(name, dtype, shape))

    def constant(self, value: ArrayLike, dtype: type[np.generic] | None = None) -> str:
        """Put an array into the graph; equal small ones are kept once."""
        array = np.ascontiguousarray(value, dtype=dtype).reshape(np.shape(value))
        root = self._root
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size <= 8 else None
        if key is not None and key in root._small_constants:
            return root._small_constants[key]
        name = self._fresh("constant")
        root._constants.append(numpy_helper.from_array(array, name))
        if key is not None:
            root._small_constants[key] = name
        return name

    def ints(self, *values: int) -> str:
        """Put a list of whole numbers into the graph: axes, shapes, sizes."""
        return self.constant(values, np.int64)

    def add(self, operation: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Apply an operation with one result."""
        (result,) = self.add_several(operation, *inputs, results=1, domain=domain, **attributes)
        return result

    def add_several(
        self, operation: str, *inputs: str, results: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Apply an operation with several results."""
        names = [self._fresh(operation) for _ in range(results)]
        self._nodes.append(
            helper.make_node(operation, list(inputs), names, domain=domain, **attributes)
        )
        return names

    def split(self, value: str, *sizes: int) -> list[str]:
        """Cut the last dimension into parts of these sizes."""
        return self.add_several("Split", value, self.ints(*sizes), results=len(sizes), axis=-1)

    def reshape(self, value: str, *sizes: int | str) -> str:
        """Reshape to sizes, each a number or the name of a (1,) value; -1 is worked out."""
        if all(isinstance(size, int) for size in sizes):
            return self.add("Reshape", value, self.ints(*sizes))  # type: ignore[arg-type]
        return self.add("Reshape", value, self.joined(*sizes))

    def joined(self, *sizes: int | str) -> str:
        """Join sizes, each a number or the name of a (1,) value, into one list."""
        parts = [self.ints(size) if isinstance(size, int) else size for size in sizes]
        return self.add("Concat", *parts, axis=0)

    def size(self, value: str, axis: int) -> str:
        """Return the length of one dimension, as a (1,) value."""
        return self.add("Shape", value, start=axis, end=axis + 1)

    def cast(self, value: str, dtype: type[np.generic]) -> str:
        """Change the type of a value."""
        return self.add("Cast", value, to=_TYPES[np.dtype(dtype)])

    def unsqueeze(self, value: str, axis: int) -> str:
        """Put a dimension of 1 at `axis`."""
        return self.add("Unsqueeze", value, self.ints(axis))

    def body(self, name: str) -> "Graph":
        """Begin the body of a Scan; it sees the values of this graph."""
        return Graph(name, parent=self)

    def scan(self, body: "Graph", states: Sequence[str], inputs: Sequence[str]) -> list[str]:
        """Run `body` along the first dimension of the inputs.

        The body takes the states, then one slice of each input, and gives the next states, then
        one slice of each result.

        Returns:
            The last states, then the results of all steps, stacked.
        """
        proto = helper.make_graph(body._nodes, body.name, body._inputs, body._outputs)
        return self.add_several(
            "Scan",
            *states,
            *inputs,
            results=len(body._outputs),
            body=proto,
            num_scan_inputs=len(inputs),
        )

    def model(self) -> ModelProto:
        """Close the graph and return the whole model."""
        for node in self._nodes:
            for names in (node.input, node.output):
                names[:] = [self._renamed.get(name, name) for name in names]
        graph = helper.make_graph(
            self._nodes, self.name, self._inputs, self._outputs, self._constants
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
            ir_version=IR_VERSION,
            producer_name="readagain",
        )

    def _fresh(self, hint: str) -> str:
        return f"{hint}_{next(self._root._numbers)}"


def _info(name: str, dtype: type[np.generic], shape: Shape) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, _TYPES[np.dtype(dtype)], list(shape))
