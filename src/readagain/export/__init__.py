"""Export of trained weights to ONNX graphs, which are checked against the network."""
