"""Triton kernels of the recurrent layers, the decoder and the loss."""
