"""Without a GPU, the kernels run in Triton's interpreter.

Triton reads the variable when it is imported, so it is set before any test module is imported.
"""

import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"
