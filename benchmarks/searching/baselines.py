"""Seconds per sentence of the baselines and of the paper's model."""

import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from searching.measurement import (
    ForVocabulary,
    Measurement,
    in_turns,
    network_of,
    random_sources,
    table_head,
    table_row,
)

from readagain.engine.speed import SENTENCES
from readagain.evaluation.systems import load_system
from readagain.model_dir import PRECISIONS, Precision
from readagain.presets import BASELINES
from readagain.search.decoding import decode_sources

OURS = "read_again_lstm_copy_15k"
NETWORKS = ("abs_69k", "abs_plus_69k", "ras_elman", "ras_lstm", "lvt2k_1sent", "lvt5k_1sent")
BEAM = 10  # used for every preset, in addition to its own beam size
TOGETHER = {"alone": 1, "16 together": 16}

Work = Callable[[], object]


def time_baselines(measurement: Measurement) -> None:
    """Print the best time of each baseline with the beam of its preset and with a beam of 10.

    Processor time includes the parser of TOPIARY, and excludes other processes of the machine.
    """
    seconds: dict[str, dict[str, float]] = {}  # by column, then by row
    for precision in PRECISIONS:
        seconds |= network_times(measurement, precision)
    columns = list(seconds)
    ours, *_ = seconds[columns[0]]
    print("\n## Baselines: ms of processor time per sentence; how many times the first row's\n")
    print(table_head(["", *columns, *(f"times, int8, {together}" for together in TOGETHER)]))
    for name in seconds[columns[0]]:
        times = [f"{1e3 * seconds[column][name]:.1f}" for column in columns]
        compared = (seconds[f"int8, {together}"] for together in TOGETHER)
        print(table_row([name, *times, *(f"{each[name] / each[ours]:.2f}" for each in compared)]))
    print("\nWithout a network, and with the start of TOPIARY's parser:\n")
    print(table_head(["", "ms", f"times {ours}, int8, alone"]))
    works = {f"`{system}`": partial(write_all, system) for system in BASELINES}
    for name, taken in best(works, measurement.repeat, per=len(SENTENCES)).items():
        share = taken / seconds["int8, alone"][ours]
        print(table_row([name, f"{1e3 * taken:.2f}", f"{share:.3f}"]))


def network_times(measurement: Measurement, precision: Precision) -> dict[str, dict[str, float]]:
    """Return the seconds per sentence of each row, by column, for graphs of one precision."""
    searches = {
        name: search
        for preset in (OURS, *NETWORKS)
        for name, search in opened(measurement, preset, precision=precision).items()
    }
    seconds = {}
    for together, batch in TOGETHER.items():
        works = {name: partial(search, batch=batch) for name, search in searches.items()}
        seconds[f"{precision}, {together}"] = best(works, measurement.repeat, per=batch)
    return seconds


def best(works: Mapping[str, Work], repeat: int, *, per: int) -> dict[str, float]:
    """Return the shortest time of each function, divided by the number of texts."""
    taken = in_turns(dict(works), repeat, processor_time)
    return {name: min(times) / per for name, times in taken.items()}


def opened(
    measurement: Measurement, preset: str, *, precision: Precision
) -> dict[str, Callable[..., object]]:
    """Open the graphs of a preset; return a search function for each beam size, by name."""
    run, network = network_of(preset)
    graphs = measurement.exported(run, network, [precision])
    model = ForVocabulary(graphs[precision], run.vocab_size)
    length = measurement.summary_words

    def search(beam: int, *, batch: int) -> object:
        decode = replace(run.decode, beam_size=beam, min_words=length, max_words=length)
        return decode_sources(model, random_sources(batch, measurement.words), decode)

    beams = sorted({run.decode.beam_size, BEAM})
    return {f"`{preset}`, beam {beam}": partial(search, beam) for beam in beams}


def processor_time() -> float:
    """Return the processor time of this process and of its ended children."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def write_all(system: str) -> object:
    """Write a headline for every sentence, without a network."""
    threads = 1 if system == "topiary" else None  # the other baselines use no threads
    loaded = load_system(system, "duc2003", threads=threads)
    return list(loaded.summarize(SENTENCES, is_tokenized=False))
