"""Table of all systems that are trained on the same pairs: ROUGE, size, speed and install size."""

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from equal.corpus import EqualData
from equal.train_transformer import (
    HALF_WEIGHTS_FILE,
    RESULT_FILE,
    load_half_precision,
    load_transformer,
)
from peers.environments import OPENNMT, TORCH, install, installed_bytes

from readagain import Summarizer
from readagain.corpus.readers.find import CorpusReadOptions
from readagain.engine.onnx_model import OnnxStepModel
from readagain.evaluation.dataset import DataSet, read_dataset
from readagain.evaluation.evaluate import evaluate
from readagain.evaluation.systems import load_system
from readagain.export.write import build_graphs
from readagain.model_dir import ModelDir
from readagain.networks.build import build_model, count_parameters
from readagain.processors import describe_machine
from readagain.rouge.corpus import score_corpus
from readagain.rouge.options import MEASURES
from readagain.text.document import read_document

SUMY = ("setuptools<81", "numpy", "sumy==0.13.0")
REPOSITORY = Path(__file__).parents[2]
BATCH_SIZES = (1, 16)
TURNS = 2
PROTOCOL = "gigaword"
UNTRAINED_TITLES = {
    "transformer": "Transformer with copying",
    "opennmt": "OpenNMT-py, copying LSTM",
}
NO_SCORES = ("-", "-")
NOT_TRAINED = "not trained"
COLUMNS = (
    "system", "ROUGE-1 / 2 / L", "words", "parameters, M", "MB on disk", "headlines/s, alone",
    "16 together", "install size, MB", "trained",
)  # fmt: skip


class Comparison:
    """Scores and times of all systems on the dev split.

    Args:
        data: corpus and settings.
        out: result folder, with the headlines of the trained systems.
        model: our exported network; None for random weights, without scores.
        num_texts: number of texts to time.
        num_words: number of words of a timed headline.
        threads: number of threads.
    """

    def __init__(
        self,
        data: EqualData,
        out: Path,
        *,
        model: Path | None,
        num_texts: int,
        num_words: int,
        threads: int,
    ) -> None:
        self.data, self.out, self.model = data, out, model
        self.num_words, self.threads = num_words, threads
        self.dataset: DataSet = read_dataset(data.folder, CorpusReadOptions())
        self.timed_texts = [row.text for row in self.dataset.rows[:num_texts]]
        self.timed_sources = [data.reader.read(text, tokenized=False) for text in self.timed_texts]

    def print_table(self, time_opennmt: Callable[[], str], *, with_install_sizes: bool) -> None:
        """Time all systems in turns, score their headlines and print the table.

        Args:
            time_opennmt: function that times OpenNMT-py and returns its seconds as JSON.
            with_install_sizes: whether to measure fresh virtual environments.
        """
        torch.set_num_threads(self.threads)
        names = ("ours", "transformer", "opennmt", "textrank", "lead")
        timers: dict[str, Callable[[], dict[int, float]]] = {
            "ours": self._make_timer(self._our_graphs()),
            "transformer": self._make_timer(self._transformer()),
            "opennmt": lambda: {int(k): v for k, v in json.loads(time_opennmt()).items()},
            "textrank": lambda: dict.fromkeys(BATCH_SIZES, self._run_textrank(self.timed_texts)[1]),
            "lead": self._time_lead,
        }
        best: dict[str, dict[int, float]] = {name: {} for name in names}
        for _ in range(TURNS):
            for name, timer in timers.items():
                for size, seconds in timer().items():
                    best[name][size] = min(seconds, best[name].get(size, seconds))
        sizes = self._install_sizes() if with_install_sizes else {}
        print(f"{describe_machine()}; {self.threads} threads, {len(self.timed_texts)} texts, ")
        print(f"headlines of {self.num_words} words, beam {self.data.run.decode.beam_size}\n")
        print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
        for name in names:
            title, scores, parameters, num_bytes, training = self._describe(name)
            speeds = [f"{1 / best[name][size]:.1f}" for size in BATCH_SIZES]
            cells = [title, *scores, parameters, num_bytes, *speeds]
            install_size = f"{sizes[name] / 1e6:.0f}" if name in sizes else "-"
            print("| " + " | ".join([*cells, install_size, training]) + " |")

    def _describe(self, name: str) -> tuple[str, tuple[str, str], str, str, str]:
        """Return title, scores with mean length, parameters, size and training of a system.

        A system that was not trained is timed with random weights and has no scores.
        """
        if name == "lead":
            system = load_system("lead", PROTOCOL)
            texts = [s.text for s in evaluate(system, self.dataset, PROTOCOL).summaries]
            return "First sentence", self._score(texts), "0", "0", ""
        if name == "textrank":
            texts = self._run_textrank([row.text for row in self.dataset.rows])[0]
            return "TextRank, sumy", self._score(texts), "0", "0", ""
        if name == "ours":
            run = self.data.run if self.model is None else ModelDir.open(self.model).run
            parameters = f"{count_parameters(run) / 1e6:.1f}"
            if self.model is None:
                return run.title, NO_SCORES, parameters, "-", NOT_TRAINED
            num_bytes = sum(file.stat().st_size for file in self.model.iterdir() if file.is_file())
            summarizer = Summarizer.load(self.model, threads=self.threads)
            texts = [s.text for s in summarizer.summarize([r.text for r in self.dataset.rows])]
            return run.title, self._score(texts), parameters, f"{num_bytes / 1e6:.0f}", ""
        folder = self.out / name
        if not (folder / RESULT_FILE).exists():
            return UNTRAINED_TITLES[name], NO_SCORES, "-", "-", NOT_TRAINED
        record = json.loads((folder / RESULT_FILE).read_text(encoding="utf-8"))
        texts = (folder / "summaries.txt").read_text(encoding="utf-8").split("\n")[:-1]
        training = f"{record['epochs']:.1f} epochs, {record['ended_by']}"
        parameters = f"{record['parameters'] / 1e6:.1f}"
        num_bytes = f"{record['bytes'] / 1e6:.0f}"
        return record["system"], self._score(texts), parameters, num_bytes, training

    def _score(self, summaries: Sequence[str]) -> tuple[str, str]:
        """Return ROUGE F1 in percent and the mean number of words."""
        report = score_corpus(summaries, [row.references for row in self.dataset.rows], PROTOCOL)
        scores = [f"{100 * report[measure].f1.value:.1f}" for measure in MEASURES]
        words = statistics.mean(len(summary.split()) for summary in summaries)
        return " / ".join(scores), f"{words:.1f}"

    def _make_timer(self, model: Any) -> Callable[[], dict[int, float]]:
        """Return a function that measures the seconds per text of a network by batch size."""

        def measure() -> dict[int, float]:
            seconds = {}
            for size in BATCH_SIZES:
                self._summarize(model, self.timed_sources[:size], size)  # warm-up
                start = time.perf_counter()
                self._summarize(model, self.timed_sources, size)
                seconds[size] = (time.perf_counter() - start) / len(self.timed_sources)
            return seconds

        return measure

    def _summarize(self, model: Any, sources: Sequence[Any], size: int) -> None:
        self.data.summarize(model, sources, batch_size=size, num_words=self.num_words)

    def _our_graphs(self) -> OnnxStepModel:
        """Return our network as int8 graphs."""
        if self.model is not None:
            summarizer = Summarizer.load(self.model, threads=self.threads)
            assert isinstance(summarizer._model, OnnxStepModel)
            return summarizer._model
        torch.manual_seed(0)
        network = build_model(self.data.run)
        weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
        graphs = build_graphs(self.data.run, weights, ["int8"])["int8"]
        return OnnxStepModel.open(*graphs, threads=self.threads)

    def _transformer(self) -> Any:
        file = self.out / "transformer" / HALF_WEIGHTS_FILE
        if file.exists():
            return load_half_precision(self.data, file)
        return load_transformer(self.data, None, torch.device("cpu"))

    def _time_lead(self) -> dict[int, float]:
        system = load_system("lead", PROTOCOL)
        start = time.perf_counter()
        list(system.summarize(self.timed_texts, is_tokenized=False))
        return dict.fromkeys(BATCH_SIZES, (time.perf_counter() - start) / len(self.timed_texts))

    def _run_textrank(self, texts: Sequence[str]) -> tuple[list[str], float]:
        """Return the sentence that TextRank chooses of each text, and the seconds per text."""
        documents = [read_document(text) for text in texts]
        words = [
            [[document.surface(word) for word in sentence] for sentence in document.sentences]
            for document in documents
        ]
        script = Path(__file__).with_name("textrank.py")
        process = subprocess.run(
            [str(install("sumy", SUMY)), str(script)],
            input=json.dumps(words),
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        result = json.loads(process.stdout)
        summaries = []
        for document, index in zip(documents, result["chosen"], strict=True):
            sentence = document.sentences[index] if document.sentences else ()
            text = document.text[sentence[0].start : sentence[-1].end] if sentence else ""
            summaries.append(" ".join(text.split()))
        return summaries, result["seconds"]

    def _install_sizes(self) -> dict[str, int]:
        """Return the size of a fresh virtual environment of each system."""
        return {
            "ours": installed_bytes("readagain", (str(REPOSITORY),)),
            "transformer": installed_bytes("torch", TORCH),
            "opennmt": installed_bytes("opennmt", OPENNMT),
            "textrank": installed_bytes("sumy", SUMY),
            "lead": installed_bytes("readagain", (str(REPOSITORY),)),
        }
