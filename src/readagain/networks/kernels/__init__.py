"""Triton kernels for the recurrent layers, the decoder and the loss."""
