"""Inference with exported graphs on the CPU, without torch."""

import os

# Recent versions of ONNX Runtime send usage data to their vendor and store an identifier of the
# device in the home folder, unless this is set before they are imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
