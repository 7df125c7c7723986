"""What the graphs of a model are called in its folder."""

from typing import Literal

Precision = Literal["int8", "float32"]
PRECISIONS: tuple[Precision, ...] = ("int8", "float32")  # the one to take first where both are
EXPORT_FILE = "export.json"


def graph_names(precision: str) -> tuple[str, str]:
    """Return the file names of the encoder and the step graph."""
    return f"encoder.{precision}.onnx", f"step.{precision}.onnx"
