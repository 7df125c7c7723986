"""Networks in PyTorch: layers, encoders, decoders and output layers.

`build.py` creates a network from its spec. In this package, "the paper" is Zeng, Luo, Fidler and
Urtasun 2016, if no other paper is named. docs/symbols.md lists the letters in shapes.
"""
