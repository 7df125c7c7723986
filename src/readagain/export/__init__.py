"""From trained weights to ONNX graphs: float32 and int8, checked against the network."""
