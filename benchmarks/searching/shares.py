"""Processor time of the encoder, the decoder steps and the search of a summary."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import onnxruntime
from searching.measurement import (
    Measurement,
    OovModel,
    make_network,
    random_sources,
    table_head,
    table_row,
)

from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.summarizer import Summarizer
from readagain.experiments.sample_corpus import TIMING_SENTENCES
from readagain.export.write import build_graphs
from readagain.model_dir import ModelDir, graph_names
from readagain.storage.bundled import find_model

BUNDLED_MODEL = "news"


def measure_shares(measurement: Measurement) -> None:
    """Print the time of the encoder, the decoder steps and the rest, in the fastest round."""
    print("\n## Parts of a summary, int8: ms of processor time per sentence\n")
    print(table_head(["", "batch", "encoder", "steps", "rest", "sum"]))
    for name, prepare in {
        "512 wide, 15K, no constraints": prepare_paper_model,
        f"`{BUNDLED_MODEL}`, text to headline": prepare_bundled_model,
    }.items():
        sessions, search = prepare(measurement)
        for batch_size in (1, 16):
            rounds = [
                time_round(sessions, search, batch_size) for _ in range(measurement.repeat + 1)
            ]
            fastest = min(rounds[1:], key=sum)  # the first round warms up
            cells = [f"{1e3 * seconds:.1f}" for seconds in (*fastest, sum(fastest))]
            print(table_row([name, str(batch_size), *cells]))


class TimedSession:
    """An ONNX Runtime session that adds up the processor time of its runs."""

    def __init__(self, graph: bytes, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.enable_mem_pattern = False
        self._session = onnxruntime.InferenceSession(graph, options)
        self.get_inputs, self.get_outputs = self._session.get_inputs, self._session.get_outputs
        self.seconds = 0.0

    def run(self, *arguments: Any) -> Any:
        """Run the graph."""
        start = time.process_time()
        outputs = self._session.run(*arguments)
        self.seconds += time.process_time() - start
        return outputs


Search = Callable[[int], int]
"""Function that summarizes sentences in batches of a size, and returns their number."""


def prepare_paper_model(measurement: Measurement) -> tuple[Sequence[TimedSession], Search]:
    """Return the sessions of the paper's model, and a search for ten words of random sources."""
    run, network = make_network("read_again_lstm_copy_15k")
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graphs = build_graphs(run, weights, ["int8"])["int8"]
    sessions = [TimedSession(graph, measurement.threads) for graph in graphs]
    model = OovModel(OnnxStepModel(*sessions), run.vocab_size)

    def search(batch_size: int) -> int:
        measurement.search(model, random_sources(batch_size, measurement.source_words))
        return batch_size

    return sessions, search


def prepare_bundled_model(measurement: Measurement) -> tuple[Sequence[TimedSession], Search]:
    """Return the sessions of a bundled model, and a function that summarizes sample sentences."""
    model_dir = ModelDir.open(find_model(BUNDLED_MODEL))
    graphs = [(model_dir.path / name).read_bytes() for name in graph_names("int8")]
    sessions = [TimedSession(graph, measurement.threads) for graph in graphs]
    model = OnnxStepModel(*sessions)
    summarizer = Summarizer(model_dir.run, model_dir.source_vocab, model_dir.vocab, model)

    def search(batch_size: int) -> int:
        for start in range(0, len(TIMING_SENTENCES), batch_size):
            summarizer.summarize(TIMING_SENTENCES[start : start + batch_size])
        return len(TIMING_SENTENCES)

    return sessions, search


def time_round(sessions: Sequence[TimedSession], search: Search, batch_size: int) -> list[float]:
    """Return the seconds per sentence of the encoder, the decoder steps and everything else."""
    for session in sessions:
        session.seconds = 0.0
    start = time.process_time()
    num_sentences = search(batch_size)
    total_s = time.process_time() - start
    session_s = [session.seconds for session in sessions]
    return [seconds / num_sentences for seconds in (*session_s, total_s - sum(session_s))]
