"""A small fuzzer: inputs made from examples, readers to give them to, and bounds to keep."""
