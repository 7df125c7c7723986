"""Our ONNX graphs beside those of `torch.onnx.export` and `quantize_dynamic`: speed, size, error.

    python benchmarks/onnx_export.py

The network has the sizes of the preset `news` and random weights. Sources of 31 words are encoded,
then 10 hypotheses of each take a step, on one thread; times are medians of `--repeats` runs in
turns. The times of our graphs include `OnnxStepModel`, those of the exported graphs only the
session.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from readagain.engine.onnx_model import OnnxStepModel
from readagain.export.write import build_graphs
from readagain.networks.build import build_model
from readagain.networks.decoder import DecoderState
from readagain.networks.encoder_decoder import EncoderDecoder, EncoderDecoderState
from readagain.networks.network import SourceMemory
from readagain.networks.step_model import TorchStepModel, top_candidates
from readagain.presets import PRESETS
from readagain.search.model import SourceBatch
from readagain.text.vocab import BOS

WORDS, BEAM, K = 31, 10, 20
MEMORY = ("states", "valid", "keys", "ext_ids", "copy_keys", "copy_words")


class EncoderModule(nn.Module):
    """The encoder with flat tensors as outputs."""

    def __init__(self, network: EncoderDecoder) -> None:
        super().__init__()
        self.network = network

    def forward(self, source_ids: Tensor, lengths: Tensor, ext_ids: Tensor) -> tuple[Tensor, ...]:
        """Return the source memory and the first decoder state."""
        state = self.network.encode(source_ids, lengths, ext_ids)
        memory = (getattr(state.memory, name) for name in MEMORY)
        return (*memory, state.decoder.hidden, state.decoder.cell)


class StepModule(nn.Module):
    """One decoder step with flat tensors as inputs and outputs."""

    def __init__(self, network: EncoderDecoder) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        previous_ids: Tensor,
        hidden: Tensor,
        cell: Tensor,
        copy_logits: Tensor,
        *memory: Tensor,
    ) -> tuple[Tensor, ...]:
        """Return the candidates, the attention weights and the next state."""
        source = SourceMemory(**dict(zip(MEMORY, memory, strict=True)))
        state = EncoderDecoderState(source, DecoderState(hidden, cell), copy_logits)
        logits, state = self.network.step(state, previous_ids)
        best = top_candidates(logits, source, K)
        return (*best, logits.attention, state.decoder.hidden, state.decoder.cell, logits.copy)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--documents", type=int, default=1)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    run = PRESETS["news"]
    network = build_model(run).eval().requires_grad_(False)
    draw = np.random.default_rng(0)
    ids = draw.integers(4, run.vocab_size, (arguments.documents, WORDS))
    sources = SourceBatch(
        source_ids=ids[:, None, :],
        lengths=np.full((arguments.documents, 1), WORDS),
        source_ext_ids=ids,
    )

    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graphs = build_graphs(run, tensors, ["float32", "int8"])
    sizes = {f"ours, {name}": sum(map(len, graph)) for name, graph in graphs.items()}
    timed: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {}
    log_probs = {}
    for precision, contents in graphs.items():
        model = OnnxStepModel.open(*contents, threads=1)
        timed[f"ours, {precision}"], log_probs[f"ours, {precision}"] = _ours(model, sources)
    _, expected = _ours(TorchStepModel(network), sources)
    with tempfile.TemporaryDirectory() as folder:
        for precision, paths in _export(network, sources, Path(folder)).items():
            name = f"torch.onnx, {precision}"
            sizes[name] = sum(path.stat().st_size for path in paths)
            timed[name], log_probs[name] = _exported(paths, sources)

    seconds = {name: ([], []) for name in timed}
    for _ in range(arguments.repeats):
        for name, both in timed.items():
            for call, times in zip(both, seconds[name], strict=True):
                start = time.perf_counter()
                call()
                times.append(time.perf_counter() - start)
    print(f"ONNX Runtime {ort.__version__}, torch {torch.__version__}, onnx {onnx.__version__}")
    print(f"{'graphs':<22}{'encoder ms':>11}{'step ms':>9}{'MB':>7}{'max error':>11}")
    for name, both in seconds.items():
        encoder, step = (1e3 * statistics.median(times) for times in both)
        error = np.abs(log_probs[name] - expected).max()
        print(f"{name:<22}{encoder:>11.2f}{step:>9.2f}{sizes[name] / 1e6:>7.1f}{error:>11.1e}")


def _ours(
    model: OnnxStepModel | TorchStepModel, sources: SourceBatch
) -> tuple[tuple[Callable[[], object], Callable[[], object]], np.ndarray]:
    state = model.select(model.start(sources), np.repeat(np.arange(len(sources)), BEAM))
    previous = np.full(BEAM * len(sources), BOS)
    candidates, _ = model.step(state, previous, K)
    return (
        lambda: model.start(sources),
        lambda: model.step(state, previous, K),
    ), candidates.log_probs[0]


def _export(
    network: EncoderDecoder, sources: SourceBatch, folder: Path
) -> dict[str, tuple[Path, Path]]:
    """Export the network and quantize it: the paths of the encoder and step graphs."""
    encoder, step = EncoderModule(network), StepModule(network)
    arrays = (sources.source_ids, sources.lengths, sources.source_ext_ids)
    inputs = tuple(torch.from_numpy(each[:1]).repeat(2, *[1] * (each.ndim - 1)) for each in arrays)
    outputs = encoder(*inputs)
    memory, hidden, cell = outputs[:-2], outputs[-2], outputs[-1]
    step_inputs = (torch.full((2,), BOS), hidden, cell, torch.zeros(2, WORDS), *memory)
    batch, words = (
        torch.export.Dim("batch", min=1, max=512),
        torch.export.Dim("words", min=2, max=512),
    )
    shapes = {
        "source_ids": {0: batch, 2: words},
        "lengths": {0: batch},
        "ext_ids": {0: batch, 1: words},
    }
    memory_shapes = tuple({0: batch, 1: words} for _ in memory)
    step_shapes = {
        "previous_ids": {0: batch},
        "hidden": {0: batch},
        "cell": {0: batch},
        "copy_logits": {0: batch, 1: words},
        "memory": memory_shapes,
    }
    paths = {}
    for name, module, arguments, dynamic in (
        ("encoder", encoder, inputs, shapes),
        ("step", step, step_inputs, step_shapes),
    ):
        path = folder / f"{name}.onnx"
        program = torch.onnx.export(
            module, arguments, dynamo=True, dynamic_shapes=dynamic, verbose=False
        )
        program.save(path)
        model = onnx.load(path)
        del model.graph.value_info[:]  # quantize_dynamic rejects the exporter's shapes
        onnx.save(model, path)
        quantized = folder / f"{name}.int8.onnx"
        vectors = {each.name for each in model.graph.initializer if len(each.dims) < 2}
        quantize_dynamic(
            path,
            quantized,
            weight_type=QuantType.QInt8,
            per_channel=True,
            # A product with a vector would be quantized to an operator that cannot run it.
            nodes_to_exclude=[node.name for node in model.graph.node if vectors & {*node.input}],
        )
        paths[name] = (path, quantized)
    return {
        "float32": (paths["encoder"][0], paths["step"][0]),
        "int8": (paths["encoder"][1], paths["step"][1]),
    }


def _exported(
    paths: tuple[Path, Path], sources: SourceBatch
) -> tuple[tuple[Callable[[], object], Callable[[], object]], np.ndarray]:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    encoder, step = (
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"]) for path in paths
    )
    arrays = (sources.source_ids, sources.lengths, sources.source_ext_ids)
    feed = dict(zip((each.name for each in encoder.get_inputs()), arrays, strict=True))
    outputs = [np.repeat(each, BEAM, axis=0) for each in encoder.run(None, feed)]
    memory, hidden, cell = outputs[:-2], outputs[-2], outputs[-1]
    values = [
        np.full(len(hidden), BOS),
        hidden,
        cell,
        np.zeros((len(hidden), WORDS), np.float32),
        *memory,
    ]
    names = [each.name for each in step.get_inputs()]
    step_feed = dict(zip(names, values, strict=True))
    return (
        lambda: encoder.run(None, feed),
        lambda: step.run(None, step_feed),
    ), step.run(None, step_feed)[1][0]


if __name__ == "__main__":
    main()
