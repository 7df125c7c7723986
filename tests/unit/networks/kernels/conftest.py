"""Run the kernels in Triton's interpreter without a GPU; the variable is read at import."""

import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"
