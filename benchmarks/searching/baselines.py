"""Decoding time per sentence of the baselines and of the paper's model."""

import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from searching.measurement import (
    Measurement,
    OovModel,
    describe_batch,
    make_network,
    random_sources,
    table_head,
    table_row,
    time_in_turns,
)

from readagain.evaluation.systems import load_system
from readagain.experiments.sample_corpus import TIMING_SENTENCES
from readagain.model_dir import PRECISIONS, Precision
from readagain.presets import BASELINES
from readagain.search.decoding import decode_sources

OUR_PRESET = "read_again_lstm_copy_15k"
BASELINE_PRESETS = (
    "abs_69k", "abs_plus_69k", "ras_elman", "ras_lstm", "lvt2k_1sent", "lvt5k_1sent",
)  # fmt: skip
COMMON_BEAM_SIZE = 10  # used for every preset, in addition to its own beam size
BATCH_SIZES = (1, 16)


def time_baselines(measurement: Measurement) -> None:
    """Print the best time of each baseline with the beam size of its preset and with 10.

    Processor time includes the parser of TOPIARY, and excludes other processes of the machine.
    """
    seconds: dict[str, dict[str, float]] = {}  # by column, then by row
    for precision in PRECISIONS:
        seconds |= time_networks(measurement, precision)
    columns = list(seconds)
    names = list(seconds[columns[0]])
    our_name = names[0]
    ratio_columns = [f"int8, {describe_batch(batch_size)}" for batch_size in BATCH_SIZES]
    print("\n## Baselines: ms of processor time per sentence; how many times the first row's\n")
    print(table_head(["", *columns, *(f"times, {column}" for column in ratio_columns)]))
    for name in names:
        times = [f"{1e3 * seconds[column][name]:.1f}" for column in columns]
        ratios = [seconds[column][name] / seconds[column][our_name] for column in ratio_columns]
        print(table_row([name, *times, *(f"{ratio:.2f}" for ratio in ratios)]))
    print("\nWithout a network, and with the start of TOPIARY's parser:\n")
    print(table_head(["", "ms", f"times {our_name}, int8, alone"]))
    functions = {f"`{name}`": partial(summarize_sentences, name) for name in BASELINES}
    best = best_seconds(functions, measurement.repeat, num_texts=len(TIMING_SENTENCES))
    for name, best_s in best.items():
        ratio = best_s / seconds["int8, alone"][our_name]
        print(table_row([name, f"{1e3 * best_s:.2f}", f"{ratio:.3f}"]))


def time_networks(measurement: Measurement, precision: Precision) -> dict[str, dict[str, float]]:
    """Return the seconds per sentence of each row, by column, for graphs of one precision."""
    searches = {
        name: search
        for preset in (OUR_PRESET, *BASELINE_PRESETS)
        for name, search in make_searches(measurement, preset, precision).items()
    }
    seconds = {}
    for batch_size in BATCH_SIZES:
        functions = {name: partial(search, batch_size) for name, search in searches.items()}
        column = f"{precision}, {describe_batch(batch_size)}"
        seconds[column] = best_seconds(functions, measurement.repeat, num_texts=batch_size)
    return seconds


def best_seconds(
    functions: Mapping[str, Callable[[], object]], repeat: int, *, num_texts: int
) -> dict[str, float]:
    """Return the shortest time of each function, divided by the number of texts."""
    times_by_name = time_in_turns(dict(functions), repeat, processor_time)
    return {name: min(times) / num_texts for name, times in times_by_name.items()}


def make_searches(
    measurement: Measurement, preset: str, precision: Precision
) -> dict[str, Callable[[int], object]]:
    """Export a preset; return a function for each beam size that searches a batch of a size."""
    run, network = make_network(preset)
    model = OovModel(measurement.export(run, network, [precision])[precision], run.vocab_size)
    length = measurement.summary_words

    def search(beam_size: int, batch_size: int) -> object:
        decode = replace(run.decode, beam_size=beam_size, min_words=length, max_words=length)
        return decode_sources(model, random_sources(batch_size, measurement.source_words), decode)

    beam_sizes = sorted({run.decode.beam_size, COMMON_BEAM_SIZE})
    return {f"`{preset}`, beam {beam_size}": partial(search, beam_size) for beam_size in beam_sizes}


def processor_time() -> float:
    """Return the processor time of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def summarize_sentences(name: str) -> object:
    """Summarize the sample sentences with a baseline that has no network."""
    threads = 1 if name == "topiary" else None  # other baselines have no threads
    system = load_system(name, "duc2003", threads=threads)
    return list(system.summarize(TIMING_SENTENCES, is_tokenized=False))
