"""Speed of the recurrent layers: Triton kernels, plain loops and torch's own layers.

    python benchmarks/recurrent.py            # GPU if there is one, else CPU
    python benchmarks/recurrent.py --cpu --batch 64 --width 256

Each row is the best time of several forward and backward passes, with the input projection;
`ratio` is relative to torch's GRU or LSTM of the same size.
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
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu", action="store_true", help="stay on the CPU")
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
    B, H = batch, width
    torch.manual_seed(0)

    def normal(*size: int, scale: float = 1.0) -> Tensor:
        return (scale * torch.randn(*size, device=device)).to(dtype).requires_grad_()

    words, arriving = normal(B, WORDS, H), torch.randn(B, WORDS, H, device=device).to(dtype)
    lengths = torch.full((B,), WORDS, device=device)
    scale = H**-0.5
    project, bias = normal(3 * H, H, scale=scale), normal(3 * H, scale=0.1)
    gates, candidate = normal(2 * H, H, scale=scale), normal(H, H, scale=scale)
    importance = torch.tanh(normal(B, WORDS, H)).detach().requires_grad_()
    leaves = [words, project, bias, gates, candidate, importance]

    def read(with_: Callable[..., Tensor]) -> Callable[[], None]:
        def run() -> None:
            states = with_(F.linear(words, project, bias), gates, candidate, importance, lengths)
            torch.autograd.grad(states, leaves, arriving)

        return run

    gru = nn.GRU(H, H, batch_first=True).to(device, dtype)
    lstm = nn.LSTM(H, H, batch_first=True).to(device, dtype)

    def library(module: nn.Module) -> Callable[[], None]:
        def run() -> None:
            torch.autograd.grad(module(words)[0], [words, *module.parameters()], arriving)

        return run

    weight, recurrent, first_bias, second_bias = lstm.all_weights[0]

    def fused_lstm() -> None:
        states = dispatch.lstm(F.linear(words, weight, first_bias + second_bias), recurrent)
        torch.autograd.grad(states, [words, weight, recurrent, first_bias], arriving)

    base = _milliseconds(library(gru), device)
    _row("library GRU (no importance)", base, base)
    _row("importance GRU, ours", _milliseconds(read(dispatch.importance_gru), device), base)
    _row("importance GRU, plain loop", _milliseconds(read(importance_gru), device, 3), base)
    base = _milliseconds(library(lstm), device)
    _row("library LSTM", base, base)
    if device.type == "cuda":
        _row("LSTM, ours", _milliseconds(fused_lstm, device), base)
    _decoder(B, H, device, dtype, normal)


def _decoder(
    batch: int, width: int, device: torch.device, dtype: torch.dtype, normal: Callable[..., Tensor]
) -> None:
    B, H = batch, width
    scale = H**-0.5
    given = [
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
    leaves = [each for each in (*given, *weights) if each.is_floating_point()]
    arriving = torch.randn(B, SUMMARY_WORDS, H, device=device).to(dtype)

    def fused() -> None:
        found = dispatch.decode_teacher_forced(*given, DecoderWeights(*weights))
        torch.autograd.grad(found[0], leaves, arriving)

    def plain() -> None:
        found = decode_teacher_forced(*given, DecoderWeights(*weights))
        torch.autograd.grad(found[0], leaves, arriving)

    base = _milliseconds(plain, device, 3)
    _row(f"decoder, {SUMMARY_WORDS} words, plain loop", base, base)
    _row(f"decoder, {SUMMARY_WORDS} words, ours", _milliseconds(fused, device), base)


def _row(name: str, milliseconds: float, base: float) -> None:
    print(f"  {name:34s} {milliseconds:8.3f} ms   ratio {milliseconds / base:5.2f}")


def _milliseconds(run: Callable[[], None], device: torch.device, repeats: int = 10) -> float:
    """Return the best time of several runs; on a GPU of a CUDA graph, without launch overhead."""
    if device.type == "cuda":
        return _captured(run, repeats)
    times = []
    for _ in range(max(3, repeats // 2)):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def _captured(run: Callable[[], None], repeats: int) -> float:
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return min(times)


if __name__ == "__main__":
    main()
