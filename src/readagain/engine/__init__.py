"""Inference with exported graphs on the CPU, without torch."""

import os

# Recent versions of ONNX Runtime send usage data to their vendor and store an identifier of the
# device in the home folder, unless this variable is set before onnxruntime is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
