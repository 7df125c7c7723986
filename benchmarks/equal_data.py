"""ROUGE, size and speed of other summarizers that are trained on the same pairs as our network.

    python benchmarks/equal_data.py text --data PREPARED --out RESULTS
    python benchmarks/equal_data.py transformer --data PREPARED --out RESULTS --device cuda
    python benchmarks/equal_data.py opennmt --data PREPARED --out RESULTS --device cuda
    python benchmarks/equal_data.py table --data PREPARED --out RESULTS --model FOLDER

Each training ends by the rule of the recipe `converged` (docs/reproduce.md), or after --minutes.
`opennmt` needs the files of `text`. Both write headlines of the dev split, by beam search without
UNK, to RESULTS/NAME/summaries.txt. `table` scores them as `readagain reproduce` does, times all
systems in turns on this machine's CPU, and prints a table. --model is our network, exported;
without it, our row has random weights and no scores. The same holds for a system that was not
trained: the table says so. So speeds can be measured without a GPU, after `text`.

Timed headlines have a fixed number of words, so every network runs the same number of steps. The
texts are the first of the dev split. OpenNMT-py and sumy are installed under build/.
"""

import argparse
import subprocess
from collections.abc import Sequence
from pathlib import Path

import torch
from equal.corpus import EqualData
from equal.train_transformer import (
    LEARNING_RATE,
    WEIGHTS_FILE,
    load_transformer,
    train_transformer,
    write_half_precision,
)
from peers.environments import OPENNMT, install

GPU_BATCH_SIZE = 128
CPU_BATCH_SIZE = 16


def write_text(arguments: argparse.Namespace) -> None:
    """Write the training pairs as text."""
    _open_data(arguments).write_text(arguments.out / "text")


def train_and_summarize_transformer(arguments: argparse.Namespace) -> None:
    """Train the Transformer and write its headlines of the dev split."""
    data, out = _open_data(arguments), arguments.out / "transformer"
    device = torch.device(arguments.device)
    torch.set_float32_matmul_precision("high")
    train_transformer(
        data,
        out,
        device=device,
        minutes=arguments.minutes,
        batch_size=arguments.batch,
        validate_every=arguments.validate_every,
        use_graphs=not arguments.no_graphs,
        learning_rate=arguments.learning_rate,
    )
    model = load_transformer(data, out / WEIGHTS_FILE, device)
    batch_size = GPU_BATCH_SIZE if device.type == "cuda" else CPU_BATCH_SIZE
    _write_summaries(out, data.summarize(model, data.dev_sources(), batch_size=batch_size))
    write_half_precision(data, out, arguments.texts)


def train_and_summarize_opennmt(arguments: argparse.Namespace) -> None:
    """Train OpenNMT-py's network and write its headlines of the dev split."""
    data, out = _open_data(arguments), arguments.out / "opennmt"
    training_options = {
        "--minutes": arguments.minutes,
        "--batch": arguments.batch,
        "--validate-every": arguments.validate_every,
        "--workers": arguments.workers,
    }
    options = [str(item) for option in training_options.items() for item in option]
    for step, step_options in (("train", options), ("translate", [])):
        run_opennmt(arguments, step, ["--device", arguments.device, *step_options])
    lines = (out / "summaries.tokens").read_text(encoding="utf-8").split("\n")[:-1]
    summaries = [
        data.detokenize(source, line.split())
        for source, line in zip(data.dev_sources(), lines, strict=True)
    ]
    _write_summaries(out, summaries)


def print_table(arguments: argparse.Namespace) -> None:
    """Score the headlines of all systems, time all systems and print a table."""
    # Imports ONNX Runtime, which training does not need.
    from equal.comparison import Comparison

    def time_opennmt() -> str:
        options = ["--words", str(arguments.words), "--threads", str(arguments.threads)]
        return run_opennmt(arguments, "time", options)

    Comparison(
        _open_data(arguments),
        arguments.out,
        model=arguments.model,
        num_texts=arguments.texts,
        num_words=arguments.words,
        threads=arguments.threads,
    ).print_table(time_opennmt, with_install_sizes=arguments.sizes)


def run_opennmt(arguments: argparse.Namespace, step: str, options: Sequence[str]) -> str:
    """Run a step of `equal/opennmt.py` in its environment; return the last line that it prints."""
    python = arguments.python or install("opennmt", OPENNMT)
    script = Path(__file__).parent / "equal" / "opennmt.py"
    folders = ["--text", str(arguments.out / "text"), "--out", str(arguments.out / "opennmt")]
    command = [str(python), str(script), step, *folders, "--texts", str(arguments.texts), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last_line = ""
        for line in process.stdout:
            last_line = line.rstrip()
            if step != "time":
                print(last_line, flush=True)
    if process.returncode:
        raise SystemExit(f"OpenNMT-py: step {step!r} failed with status {process.returncode}")
    return last_line


def _open_data(arguments: argparse.Namespace) -> EqualData:
    return EqualData(arguments.data, arguments.out / "work")


def _write_summaries(out: Path, summaries: Sequence[str]) -> None:
    lines = "".join(f"{' '.join(summary.split())}\n" for summary in summaries)
    (out / "summaries.txt").write_text(lines, encoding="utf-8")


STEPS = {
    "text": write_text,
    "transformer": train_and_summarize_transformer,
    "opennmt": train_and_summarize_opennmt,
    "table": print_table,
}


def main() -> None:
    """Run the step that is named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--data", type=Path, required=True, help="prepared corpus")
    parser.add_argument("--out", type=Path, required=True, help="result folder")
    training = parser.add_argument_group("training")
    training.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    training.add_argument("--minutes", type=float, default=1e6, help="time limit")
    training.add_argument("--batch", type=int, default=256, help="pairs of a batch")
    training.add_argument(
        "--validate-every", type=int, default=0, help="updates between validations; 0: half epoch"
    )
    training.add_argument("--learning-rate", type=float, default=LEARNING_RATE)
    training.add_argument("--no-graphs", action="store_true", help="train without CUDA graphs")
    training.add_argument("--workers", type=int, default=4, help="processes that load text")
    training.add_argument("--python", type=Path, help="Python with OpenNMT-py")
    table = parser.add_argument_group("table")
    table.add_argument("--model", type=Path, help="our exported network")
    table.add_argument("--texts", type=int, default=300, help="texts to time")
    table.add_argument("--words", type=int, default=8, help="words of a timed headline")
    # On a busy machine, torch is very slow with more threads than idle cores.
    table.add_argument("--threads", type=int, default=1)
    table.add_argument("--sizes", action="store_true", help="measure fresh virtual environments")
    arguments = parser.parse_args()
    STEPS[arguments.step](arguments)


if __name__ == "__main__":
    main()
