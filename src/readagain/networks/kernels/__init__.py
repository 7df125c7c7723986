"""Triton kernels; importing them needs triton, which comes with torch for CUDA."""
