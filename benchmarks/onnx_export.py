"""Speed, size and error of our ONNX graphs and of those by `torch.onnx.export`.

    python benchmarks/onnx_export.py

The network has the sizes of the preset `news` and random weights. The graphs of torch are also
quantized with `quantize_dynamic`. On one thread, sources of 31 words are encoded, then 10
hypotheses of each source take a decoder step. Times are medians of `--repeats` runs in turns. The
times of our graphs include `OnnxStepModel`, those of torch's graphs only the session.
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
from readagain.text.vocab import BOS, SPECIAL_TOKENS

SOURCE_WORDS, BEAM_SIZE = 31, 10
K = 20  # number of candidates for each hypothesis
MEMORY_FIELDS = ("states", "valid", "keys", "ext_ids", "copy_keys", "copy_words")

Calls = tuple[Callable[[], object], Callable[[], object]]
"""Functions that run the encoder, and one decoder step."""


class EncoderModule(nn.Module):
    """The encoder with flat tensors as outputs."""

    def __init__(self, network: EncoderDecoder) -> None:
        super().__init__()
        self.network = network

    def forward(self, source_ids: Tensor, lengths: Tensor, ext_ids: Tensor) -> tuple[Tensor, ...]:
        """Return the source memory and the first decoder state."""
        state = self.network.encode(source_ids, lengths, ext_ids)
        memory = (getattr(state.memory, name) for name in MEMORY_FIELDS)
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
        source = SourceMemory(**dict(zip(MEMORY_FIELDS, memory, strict=True)))
        state = EncoderDecoderState(source, DecoderState(hidden, cell), copy_logits)
        logits, state = self.network.step(state, previous_ids)
        candidates = top_candidates(logits, source, K)
        decoder = state.decoder
        return (*candidates, logits.attention, decoder.hidden, decoder.cell, logits.copy)


def main() -> None:
    """Print a table of times, sizes and errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--documents", type=int, default=1)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    run = PRESETS["news"]
    network = build_model(run).eval().requires_grad_(False)
    rng = np.random.default_rng(0)
    ids = rng.integers(len(SPECIAL_TOKENS), run.vocab_size, (arguments.documents, SOURCE_WORDS))
    sources = SourceBatch(
        source_ids=ids[:, None, :],
        lengths=np.full((arguments.documents, 1), SOURCE_WORDS),
        source_ext_ids=ids,
    )

    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    sizes: dict[str, int] = {}
    calls: dict[str, Calls] = {}
    log_probs: dict[str, np.ndarray] = {}
    for precision, graphs in build_graphs(run, weights, ["float32", "int8"]).items():
        name = f"ours, {precision}"
        sizes[name] = sum(map(len, graphs))
        model = OnnxStepModel.open(*graphs, threads=1)
        calls[name], log_probs[name] = _prepare_step_model(model, sources)
    _, expected = _prepare_step_model(TorchStepModel(network), sources)
    with tempfile.TemporaryDirectory() as folder:
        for precision, paths in _export_with_torch(network, sources, Path(folder)).items():
            name = f"torch.onnx, {precision}"
            sizes[name] = sum(path.stat().st_size for path in paths)
            calls[name], log_probs[name] = _prepare_sessions(paths, sources)

    times = {name: ([], []) for name in calls}  # of the encoder, and of the step
    for _ in range(arguments.repeats):
        for name in calls:
            for call, call_times in zip(calls[name], times[name], strict=True):
                start = time.perf_counter()
                call()
                call_times.append(time.perf_counter() - start)
    print(f"ONNX Runtime {ort.__version__}, torch {torch.__version__}, onnx {onnx.__version__}")
    print(f"{'graphs':<22}{'encoder ms':>11}{'step ms':>9}{'MB':>7}{'max error':>11}")
    for name in calls:
        encoder_ms, step_ms = (1e3 * statistics.median(call_times) for call_times in times[name])
        error = np.abs(log_probs[name] - expected).max()
        print(
            f"{name:<22}{encoder_ms:>11.2f}{step_ms:>9.2f}{sizes[name] / 1e6:>7.1f}{error:>11.1e}"
        )


def _prepare_step_model(
    model: OnnxStepModel | TorchStepModel, sources: SourceBatch
) -> tuple[Calls, np.ndarray]:
    """Return the calls to time, and the log-probabilities of the first hypothesis."""
    state = model.select(model.start(sources), np.repeat(np.arange(len(sources)), BEAM_SIZE))
    previous_ids = np.full(BEAM_SIZE * len(sources), BOS)
    candidates, _ = model.step(state, previous_ids, K)
    calls = (lambda: model.start(sources), lambda: model.step(state, previous_ids, K))
    return calls, candidates.log_probs[0]


def _export_with_torch(
    network: EncoderDecoder, sources: SourceBatch, folder: Path
) -> dict[str, tuple[Path, Path]]:
    """Export and quantize the network; return the encoder and step graphs by precision."""
    encoder, step = EncoderModule(network), StepModule(network)
    arrays = (sources.source_ids, sources.lengths, sources.source_ext_ids)
    # The exporter needs a batch size above 1 to make it a variable: repeat the first source.
    inputs = tuple(torch.from_numpy(np.repeat(array[:1], 2, axis=0)) for array in arrays)
    outputs = encoder(*inputs)
    memory, hidden, cell = outputs[:-2], outputs[-2], outputs[-1]
    step_inputs = (torch.full((2,), BOS), hidden, cell, torch.zeros(2, SOURCE_WORDS), *memory)
    batch, words = (
        torch.export.Dim("batch", min=1, max=512),
        torch.export.Dim("words", min=2, max=512),
    )
    encoder_shapes = {
        "source_ids": {0: batch, 2: words},
        "lengths": {0: batch},
        "ext_ids": {0: batch, 1: words},
    }
    step_shapes = {
        "previous_ids": {0: batch},
        "hidden": {0: batch},
        "cell": {0: batch},
        "copy_logits": {0: batch, 1: words},
        "memory": tuple({0: batch, 1: words} for _ in memory),
    }
    float32_paths, int8_paths = [], []
    for name, module, arguments, dynamic_shapes in (
        ("encoder", encoder, inputs, encoder_shapes),
        ("step", step, step_inputs, step_shapes),
    ):
        float32_path, int8_path = folder / f"{name}.onnx", folder / f"{name}.int8.onnx"
        program = torch.onnx.export(
            module, arguments, dynamo=True, dynamic_shapes=dynamic_shapes, verbose=False
        )
        program.save(float32_path)
        model = onnx.load(float32_path)
        del model.graph.value_info[:]  # quantize_dynamic rejects the exporter's shapes
        onnx.save(model, float32_path)
        vectors = {weight.name for weight in model.graph.initializer if len(weight.dims) < 2}
        quantize_dynamic(
            float32_path,
            int8_path,
            weight_type=QuantType.QInt8,
            per_channel=True,
            # A product with a vector would be quantized to an operator that cannot run it.
            nodes_to_exclude=[node.name for node in model.graph.node if vectors & {*node.input}],
        )
        float32_paths.append(float32_path)
        int8_paths.append(int8_path)
    return {"float32": tuple(float32_paths), "int8": tuple(int8_paths)}


def _prepare_sessions(paths: tuple[Path, Path], sources: SourceBatch) -> tuple[Calls, np.ndarray]:
    """Open exported graphs; return the calls to time, and log-probabilities of a hypothesis."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    encoder, step = (
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"]) for path in paths
    )
    arrays = (sources.source_ids, sources.lengths, sources.source_ext_ids)
    names = [graph_input.name for graph_input in encoder.get_inputs()]
    encoder_feed = dict(zip(names, arrays, strict=True))
    outputs = [np.repeat(array, BEAM_SIZE, axis=0) for array in encoder.run(None, encoder_feed)]
    memory, hidden, cell = outputs[:-2], outputs[-2], outputs[-1]
    previous_ids = np.full(len(hidden), BOS)
    copy_logits = np.zeros((len(hidden), SOURCE_WORDS), np.float32)
    names = [graph_input.name for graph_input in step.get_inputs()]
    values = [previous_ids, hidden, cell, copy_logits, *memory]
    step_feed = dict(zip(names, values, strict=True))
    calls = (lambda: encoder.run(None, encoder_feed), lambda: step.run(None, step_feed))
    _, log_probs, *_ = step.run(None, step_feed)
    return calls, log_probs[0]


if __name__ == "__main__":
    main()
