"""Speed of the recurrent layers: our kernels, plain loops and torch's own layers.

    python benchmarks/recurrent.py            # GPU if there is one, else CPU
    python benchmarks/recurrent.py --cpu --batch 64 --width 256

Each row is the best time of several forward and backward passes, with the input projection.
`ratio` is relative to torch's GRU or LSTM of the same size; for the decoder, to the plain loop.
"""

import argparse
import platform
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.functional import DecoderWeights, decode_teacher_forced, importance_gru

WORDS = 32
SUMMARY_WORDS = 12


def main() -> None:
    """Print a table for each batch size and data type."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument("--batch", type=int, nargs="+", default=None)
    parser.add_argument("--width", type=int, default=512)
    arguments = parser.parse_args()
    on_gpu = torch.cuda.is_available() and not arguments.cpu
    device = torch.device("cuda" if on_gpu else "cpu")
    batches = arguments.batch or ([64, 512, 2048] if on_gpu else [16, 64])
    name = torch.cuda.get_device_name() if on_gpu else f"{platform.processor() or 'CPU'}"
    print(f"{name}, torch {torch.__version__}, {torch.get_num_threads()} threads, {WORDS} words")
    for dtype in (torch.float32, torch.bfloat16) if on_gpu else (torch.float32,):
        for batch in batches:
            print(f"\nbatch {batch}, {arguments.width} wide, {str(dtype)[6:]}")
            _compare(batch, arguments.width, device, dtype)


def _compare(batch: int, width: int, device: torch.device, dtype: torch.dtype) -> None:
    """Print the times of the encoders and the decoder for one batch size and data type."""
    B, H = batch, width
    torch.manual_seed(0)

    def normal(*size: int, scale: float = 1.0) -> Tensor:
        return (scale * torch.randn(*size, device=device)).to(dtype).requires_grad_()

    words = normal(B, WORDS, H)
    state_gradient = torch.randn(B, WORDS, H, device=device).to(dtype)
    lengths = torch.full((B,), WORDS, device=device)
    scale = H**-0.5
    input_weight, bias = normal(3 * H, H, scale=scale), normal(3 * H, scale=0.1)
    gate_weight, candidate_weight = normal(2 * H, H, scale=scale), normal(H, H, scale=scale)
    importance = torch.tanh(normal(B, WORDS, H)).detach().requires_grad_()
    gru_inputs = [words, input_weight, bias, gate_weight, candidate_weight, importance]

    def importance_pass(function: Callable[..., Tensor]) -> Callable[[], None]:
        def run() -> None:
            projected = F.linear(words, input_weight, bias)  # (B, WORDS, 3 * H)
            states = function(projected, gate_weight, candidate_weight, importance, lengths)
            torch.autograd.grad(states, gru_inputs, state_gradient)

        return run

    gru = nn.GRU(H, H, batch_first=True).to(device, dtype)
    lstm = nn.LSTM(H, H, batch_first=True).to(device, dtype)

    def torch_pass(module: nn.Module) -> Callable[[], None]:
        def run() -> None:
            torch.autograd.grad(module(words)[0], [words, *module.parameters()], state_gradient)

        return run

    lstm_weight, recurrent_weight, input_bias, recurrent_bias = lstm.all_weights[0]

    def our_lstm_pass() -> None:
        projected = F.linear(words, lstm_weight, input_bias + recurrent_bias)
        states = dispatch.lstm(projected, recurrent_weight)
        inputs = [words, lstm_weight, recurrent_weight, input_bias]
        torch.autograd.grad(states, inputs, state_gradient)

    ours, plain_loop = importance_pass(dispatch.importance_gru), importance_pass(importance_gru)
    gru_ms = _measure_ms(torch_pass(gru), device)
    _print_row("library GRU (no importance)", gru_ms, gru_ms)
    _print_row("importance GRU, ours", _measure_ms(ours, device), gru_ms)
    _print_row("importance GRU, plain loop", _measure_ms(plain_loop, device, 3), gru_ms)
    lstm_ms = _measure_ms(torch_pass(lstm), device)
    _print_row("library LSTM", lstm_ms, lstm_ms)
    if device.type == "cuda":
        _print_row("LSTM, ours", _measure_ms(our_lstm_pass, device), lstm_ms)
    _compare_decoders(B, H, device, dtype, normal)


def _compare_decoders(
    batch: int, width: int, device: torch.device, dtype: torch.dtype, normal: Callable[..., Tensor]
) -> None:
    """Print the times of the decoder with attention: the plain loop and ours."""
    B, H = batch, width
    scale = H**-0.5
    # The arguments of `decode_teacher_forced`, then the fields of `DecoderWeights`.
    inputs = [
        normal(B, SUMMARY_WORDS, 4 * H),
        normal(B, WORDS, H),
        normal(B, WORDS, H),
        torch.ones(B, WORDS, dtype=torch.bool, device=device),
        normal(B, H),
        normal(B, H),
    ]
    weights = [
        normal(H, H, scale=scale),
        normal(H, scale=scale),
        normal(4 * H, H, scale=scale),
        normal(4 * H, H, scale=scale),
    ]
    with_gradient = [tensor for tensor in (*inputs, *weights) if tensor.is_floating_point()]
    output_gradient = torch.randn(B, SUMMARY_WORDS, H, device=device).to(dtype)

    def our_pass() -> None:
        outputs = dispatch.decode_teacher_forced(*inputs, DecoderWeights(*weights))
        torch.autograd.grad(outputs, with_gradient, output_gradient)

    def plain_pass() -> None:
        outputs = decode_teacher_forced(*inputs, DecoderWeights(*weights))
        torch.autograd.grad(outputs, with_gradient, output_gradient)

    plain_ms = _measure_ms(plain_pass, device, 3)
    _print_row(f"decoder, {SUMMARY_WORDS} words, plain loop", plain_ms, plain_ms)
    _print_row(f"decoder, {SUMMARY_WORDS} words, ours", _measure_ms(our_pass, device), plain_ms)


def _print_row(name: str, milliseconds: float, reference: float) -> None:
    print(f"  {name:34s} {milliseconds:8.3f} ms   ratio {milliseconds / reference:5.2f}")


def _measure_ms(run: Callable[[], None], device: torch.device, repeats: int = 10) -> float:
    """Return the best time of several runs; on a GPU of a CUDA graph, without launch overhead."""
    if device.type == "cuda":
        return _measure_graph_ms(run, repeats)
    times = []
    for _ in range(max(3, repeats // 2)):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def _measure_graph_ms(run: Callable[[], None], repeats: int) -> float:
    """Capture a function as a CUDA graph and return its best time."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # warm-up outside the capture
        run()
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return min(times)


if __name__ == "__main__":
    main()
