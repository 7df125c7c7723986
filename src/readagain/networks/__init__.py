"""Networks in PyTorch: layers, encoders, decoders and output layers; `build` creates them."""
