"""Processor time of the parts of a summary: encoder, steps and search."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import onnxruntime
from searching.measurement import (
    ForVocabulary,
    Measurement,
    network_of,
    random_sources,
    table_head,
    table_row,
)

from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.speed import SENTENCES
from readagain.engine.summarizer import Summarizer
from readagain.export.write import build_graphs
from readagain.model_dir import ModelDir, graph_names
from readagain.storage.bundled import find_model

BUNDLED = "news"


def show_shares(measurement: Measurement) -> None:
    """Print the processor time of each part, in the fastest round."""
    print("\n## Parts of a summary, int8: ms of processor time per sentence\n")
    print(table_head(["", "batch", "encoder", "steps", "rest", "sum"]))
    for name, prepare in {
        "512 wide, 15K, no constraints": paper_search,
        f"`{BUNDLED}`, text to headline": bundled_search,
    }.items():
        sessions, search = prepare(measurement)
        for together in (1, 16):
            rounds = [one_round(sessions, search, together) for _ in range(measurement.repeat + 1)]
            parts = min(rounds[1:], key=sum)  # the first warms up
            cells = [f"{1e3 * seconds:.1f}" for seconds in (*parts, sum(parts))]
            print(table_row([name, str(together), *cells]))


class Timed:
    """A session that adds up the processor time of its runs."""

    def __init__(self, graph: bytes, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.enable_mem_pattern = False
        self._session = onnxruntime.InferenceSession(graph, options)
        self.get_inputs, self.get_outputs = self._session.get_inputs, self._session.get_outputs
        self.seconds = 0.0

    def run(self, *arguments: Any) -> Any:
        """Run the graph."""
        begin = time.process_time()
        outputs = self._session.run(*arguments)
        self.seconds += time.process_time() - begin
        return outputs


Search = Callable[[int], int]  # summarizes with a batch size; returns the number of sentences


def paper_search(measurement: Measurement) -> tuple[Sequence[Timed], Search]:
    """Prepare searches with the paper's model for ten words."""
    run, network = network_of("read_again_lstm_copy_15k")
    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graphs = build_graphs(run, tensors, ["int8"])["int8"]
    sessions = [Timed(graph, measurement.threads) for graph in graphs]
    model = ForVocabulary(OnnxStepModel(*sessions), run.vocab_size)

    def search(together: int) -> int:
        measurement.search(model, random_sources(together, measurement.words))
        return together

    return sessions, search


def bundled_search(measurement: Measurement) -> tuple[Sequence[Timed], Search]:
    """Prepare headlines of invented sentences with a bundled model and its constraints."""
    model_dir = ModelDir.open(find_model(BUNDLED))
    graphs = [(model_dir.path / name).read_bytes() for name in graph_names("int8")]
    sessions = [Timed(graph, measurement.threads) for graph in graphs]
    model = OnnxStepModel(*sessions)
    summarizer = Summarizer(model_dir.run, model_dir.source_vocab, model_dir.vocab, model)

    def search(together: int) -> int:
        for at in range(0, len(SENTENCES), together):
            summarizer.summarize(SENTENCES[at : at + together])
        return len(SENTENCES)

    return sessions, search


def one_round(sessions: Sequence[Timed], search: Search, together: int) -> list[float]:
    """Return the seconds per sentence of the encoder, the steps and everything else."""
    for session in sessions:
        session.seconds = 0.0
    begin = time.process_time()
    number = search(together)
    everything = time.process_time() - begin
    inside = [session.seconds for session in sessions]
    return [seconds / number for seconds in (*inside, everything - sum(inside))]
