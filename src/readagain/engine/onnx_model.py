"""ONNX Runtime back end of the beam search, on the CPU."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from onnxruntime import InferenceSession  # type: ignore[import-untyped]

from readagain.engine.run_gate import RUN_GATE
from readagain.engine.sessions import open_session, run_session, wrong_output
from readagain.search.model import Candidates, Floats, Ints, SourceBatch
from readagain.text.vocab import PAD, SPECIAL_TOKENS

Arrays = Mapping[str, npt.NDArray[Any]]  # floats, ids and masks together

# Names of the inputs and outputs of the graphs, by role.

# Encoder outputs that are inputs of every step; some exist only with copying or a shortlist.
MEMORY = ("states", "keys", "copy_keys", "copy_words", "rare_keys", "rare_biases", "last_biases")
# Encoder outputs that are the decoder state before the first step: a recurrent state, or the ids of
# the last words.
INITIAL_STATE = ("hidden", "cell", "context_ids")
# Decoder state of the step graph. The encoder does not output `copy_logits`, which are zeros before
# the first step.
STATE_INPUTS = (*INITIAL_STATE, "copy_logits")
# Inputs for copying.
COPYING = ("document", "ext_ids", "columns", "same_word")
STEP_INPUTS = ("previous_ids", "grid", "place", "k", "valid", *MEMORY, *STATE_INPUTS, *COPYING)
OUTPUTS = ("ids", "log_probs", "copied_from", "end_log_probs", "attention")
MAX_PARALLEL_BATCHES = 4
"""Maximum number of parallel searches. Between decoder steps a search holds Python's global
interpreter lock, for a sixth of the time with the model `news`. More searches would wait for it."""


@dataclass(frozen=True)
class BeamLayout:
    """Layout of R hypotheses of D documents as a grid with one row per document.

    The step graph computes attention and copying for the grid, so that hypotheses share the encoder
    states of their document.

    Args:
        document: (R,) index of the document of each hypothesis, ascending from 0.
        grid: (D, K) indices of the hypotheses of each document; a row with fewer than K hypotheses
            repeats its first.
        grid_position: (R,) position of each hypothesis in the flattened grid; the input `place`.
    """

    document: Ints
    grid: Ints
    grid_position: Ints

    @classmethod
    def of(cls, document: Ints) -> "BeamLayout":
        """Return the layout for (R,) indices of documents, ascending and without gaps."""
        R = len(document)
        if R and document[-1] == 0:  # fast path for a single document
            hypotheses = np.arange(R)
            return cls(document, hypotheses[None], hypotheses)
        counts = np.bincount(document)  # (D,)
        D, K = len(counts), int(counts.max(initial=0))
        first = np.cumsum(counts) - counts  # (D,)
        grid_position = document * K + np.arange(R) - first[document]  # (R,)
        grid = np.repeat(first, K)  # (D * K,)
        grid[grid_position] = np.arange(R)
        return cls(document, grid.reshape(D, K), grid_position)


@dataclass(frozen=True)
class OnnxState:
    """Decoder state between two steps.

    Args:
        memory: (D, ...) arrays of each document, by input name of the step graph.
        decoder: (R, ...) arrays of each hypothesis, by input name of the step graph.
        layout: documents of the hypotheses.
    """

    memory: Arrays
    decoder: Arrays
    layout: BeamLayout


class OnnxStepModel:
    """`StepModel` with exported graphs.

    Hypotheses share the encoder output of their document. Documents without hypotheses are removed.
    No state is kept between calls, so threads may share a model.

    Args:
        encoder: session of the encoder graph.
        step: session of the step graph.
        parallel_batches: number of batches to search in parallel, for the best use of the threads.
        open_parallel_step: function that opens the step session that parallel searches share.
        where: name of the model in messages.
        vocab_size: size of the decoder vocabulary, to check the ids that untrusted graphs return;
            None for graphs that were just exported, which are not checked.
    """

    def __init__(
        self,
        encoder: InferenceSession,
        step: InferenceSession,
        *,
        parallel_batches: int = 1,
        open_parallel_step: Callable[[], InferenceSession] | None = None,
        where: str = "the model",
        vocab_size: int | None = None,
    ) -> None:
        self._encoder = encoder
        self._step = step
        self.parallel_batches = parallel_batches
        self._open_parallel_step = open_parallel_step
        self._parallel_model: OnnxStepModel | None = None
        self._parallel_model_lock = Lock()
        self._where = where
        self._vocab_size = vocab_size
        input_names = {node.name for node in step.get_inputs()}
        self._can_copy = "columns" in input_names
        self._needs_ext_ids = "ext_ids" in input_names
        self._encoder_needs_ext_ids = "ext_ids" in {node.name for node in encoder.get_inputs()}
        self._has_importance = "importance" in {node.name for node in encoder.get_outputs()}
        self._memory = [name for name in MEMORY if name in input_names]
        self._state_inputs = [name for name in STATE_INPUTS if name in input_names]
        self._initial_state = [name for name in INITIAL_STATE if name in input_names]
        self._outputs = [*OUTPUTS, *(f"next_{name}" for name in self._state_inputs)]

    @classmethod
    def open(
        cls,
        encoder: bytes,
        step: bytes,
        *,
        threads: int,
        where: str = "the model",
        vocab_size: int | None = None,
    ) -> "OnnxStepModel":
        """Open the encoder graph and the step graph of a model from the contents of their files.

        Raises:
            ArtifactError: if a graph is damaged or has unexpected inputs or outputs.
        """
        parallel_batches = min(threads, MAX_PARALLEL_BATCHES)
        open_step = partial(
            open_session,
            step,
            inputs=STEP_INPUTS,
            outputs=OUTPUTS,
            state_inputs=STATE_INPUTS,
            where=f"{where}: step",
        )
        step_session = open_step(threads=threads)
        input_names = {node.name for node in step_session.get_inputs()}
        encoder_session = open_session(
            encoder,
            threads=threads // parallel_batches,
            inputs=("source_ids", "lengths", "ext_ids"),
            outputs=[name for name in (*MEMORY, *INITIAL_STATE) if name in input_names],
            where=f"{where}: encoder",
        )
        open_parallel_step = None
        if parallel_batches > 1:  # otherwise nothing refers to `step`, and its memory is freed
            open_parallel_step = partial(open_step, threads=threads // parallel_batches)
        return cls(
            encoder_session,
            step_session,
            parallel_batches=parallel_batches,
            open_parallel_step=open_parallel_step,
            where=where,
            vocab_size=vocab_size,
        )

    def for_parallel_batch(self) -> "OnnxStepModel":
        """Return the model for parallel searches, with fewer threads; the first call opens it.

        Many threads in one search wait for each other at every matrix product, and for numpy
        between decoder steps. Several searches with few threads each wait less.
        """
        # Inside the gate, so that no process is forked while the lock is held.
        with RUN_GATE.inside(), self._parallel_model_lock:
            if self._parallel_model is None:
                assert self._open_parallel_step is not None
                self._parallel_model = OnnxStepModel(
                    self._encoder,
                    self._open_parallel_step(),
                    where=self._where,
                    vocab_size=self._vocab_size,
                )
                self._open_parallel_step = None  # frees the memory of the graph's content
            return self._parallel_model

    def start(self, sources: SourceBatch) -> OnnxState:
        """Encode the sources; return the state of one empty hypothesis per source."""
        names = [*self._memory, *self._initial_state]
        encoded = dict(zip(names, self._encode(sources, names), strict=True))
        decoder = {name: encoded.pop(name) for name in self._initial_state}
        valid = sources.source_valid  # (B, S)
        memory = {**encoded, "valid": valid[:, None]}  # (B, 1, S)
        ext_ids = _masked_ext_ids(sources)
        if self._needs_ext_ids:
            memory["ext_ids"] = ext_ids
        if self._can_copy:
            memory.update(_copy_inputs(ext_ids))
        if "copy_logits" in self._state_inputs:
            decoder["copy_logits"] = np.zeros(valid.shape, dtype=np.float32)
        return OnnxState(memory, decoder, BeamLayout.of(np.arange(len(sources))))

    def step(self, state: OnnxState, previous_ids: Ints, k: int) -> tuple[Candidates, OnnxState]:
        """Feed the (R,) extended ids of the previous words; return the (R, k) best next words."""
        layout = state.layout
        feeds = {
            **state.memory,
            **state.decoder,
            "previous_ids": previous_ids.astype(np.int64),
            "grid": layout.grid,
            "place": layout.grid_position,
            "k": np.array([k]),
        }
        if self._needs_ext_ids:
            feeds["document"] = layout.document
        where = f"{self._where}: step"
        outputs = run_session(self._step, self._outputs, feeds, where=where)
        candidates = Candidates(**dict(zip(OUTPUTS, outputs, strict=False)))
        num_words = None
        if self._vocab_size is not None:
            num_words = self._vocab_size + state.memory["valid"].shape[-1]
        wrong = _wrong_candidates(candidates, state, num_words)
        wrong += [
            name
            for name, array in zip(self._outputs, outputs, strict=True)
            if array.shape[:1] != previous_ids.shape
        ]
        if wrong:
            raise wrong_output(where, wrong[0])
        decoder = dict(zip(self._state_inputs, outputs[len(OUTPUTS) :], strict=True))
        return candidates, OnnxState(state.memory, decoder, layout)

    def select(self, state: OnnxState, rows: Ints) -> OnnxState:
        """Return the state of the hypotheses at `rows`, which may repeat a hypothesis.

        Documents without a hypothesis are removed.
        """
        decoder = {name: value.take(rows, axis=0) for name, value in state.decoder.items()}
        before = state.layout.document
        document = before.take(rows)
        if len(document) == len(before) and (document == before).all():
            return OnnxState(state.memory, decoder, state.layout)
        remaining, document = np.unique(document, return_inverse=True)
        memory = state.memory
        if len(remaining) < len(memory["valid"]):
            memory = {name: value[remaining] for name, value in memory.items()}
        return OnnxState(memory, decoder, BeamLayout.of(document))

    def importance(self, sources: SourceBatch) -> Floats | None:
        """Return the (B, S) importance weights, or None for a model without them."""
        if not self._has_importance:
            return None
        (weights,) = self._encode(sources, ["importance"])
        return weights

    def states(self, sources: SourceBatch) -> Floats:
        """Return the (B, S, U) encoder states."""
        (states,) = self._encode(sources, ["states"])
        return states

    def _encode(self, sources: SourceBatch, outputs: list[str]) -> list[Floats]:
        """Return the named outputs of the encoder graph.

        Raises:
            ArtifactError: for an output with an unexpected shape.
        """
        feeds = {
            "source_ids": sources.source_ids.astype(np.int64),
            "lengths": sources.lengths.astype(np.int64),
        }
        if self._encoder_needs_ext_ids:
            feeds["ext_ids"] = _masked_ext_ids(sources)
        where = f"{self._where}: encoder"
        arrays = run_session(self._encoder, outputs, feeds, where=where)
        B, S = sources.source_ext_ids.shape
        for name, array in zip(outputs, arrays, strict=True):
            if name == "states":  # (B, S, U)
                has_valid_shape = array.ndim == 3 and array.shape[:2] == (B, S)
            elif name == "importance":
                has_valid_shape = array.shape == (B, S)
            else:
                has_valid_shape = array.shape[:1] == (B,)
            if not has_valid_shape:
                raise wrong_output(where, name)
        return arrays


def _wrong_candidates(candidates: Candidates, state: OnnxState, num_words: int | None) -> list[str]:
    """Return the names of step outputs with an unexpected type, shape or value.

    Args:
        candidates: outputs of the step.
        state: state before the step.
        num_words: number of extended ids; None to accept any id.
    """
    R, S = len(state.layout.document), state.memory["valid"].shape[-1]
    ids, copied_from, attention = candidates.ids, candidates.copied_from, candidates.attention
    k = ids.shape[-1] if ids.ndim == 2 else 0
    is_wrong = {
        "ids": ids.dtype.kind != "i" or ids.shape != (R, k),
        "log_probs": not _are_log_probs(candidates.log_probs, (R, k)),
        "copied_from": copied_from.dtype.kind != "i" or copied_from.shape != (R, k),
        "end_log_probs": not _are_log_probs(candidates.end_log_probs, (R,)),
        "attention": attention.dtype.kind != "f"
        or attention.shape != (R, S)
        or not attention.min(initial=0) >= 0,  # negative or NaN
    }
    wrong = [name for name in is_wrong if is_wrong[name]]
    if wrong or num_words is None or k == 0:
        return wrong
    if ids.min() < len(SPECIAL_TOKENS) or ids.max() >= num_words:
        # If a hypothesis has fewer than k next words, the other ids are arbitrary.
        word_ids = ids[candidates.log_probs > -np.inf]
        if ((word_ids < len(SPECIAL_TOKENS)) | (word_ids >= num_words)).any():
            return ["ids"]
    if copied_from.min() < -1 or copied_from.max() >= S:
        return ["copied_from"]
    return []


def _are_log_probs(array: Floats, shape: tuple[int, ...]) -> bool:
    """Return whether an array has log-probabilities: no NaN, and at most 0 apart from rounding."""
    return array.dtype.kind == "f" and array.shape == shape and bool(array.max(initial=-1) < 1)


def _masked_ext_ids(sources: SourceBatch) -> npt.NDArray[np.int64]:
    """Return the (D, S) extended ids of the sources, PAD at padding."""
    return np.where(sources.source_valid, sources.source_ext_ids, PAD).astype(np.int64)


def _copy_inputs(ext_ids: Ints) -> dict[str, npt.NDArray[Any]]:
    """Return the inputs of the step graph for copying, from (D, S) extended ids.

    `export.candidates.CopyInputs` describes them.
    """
    is_same_word = ext_ids[:, :, None] == ext_ids[:, None, :]  # (D, S, S)
    is_first = is_same_word.argmax(axis=1) == np.arange(ext_ids.shape[1])  # (D, S)
    is_candidate = is_first & (ext_ids >= len(SPECIAL_TOKENS))
    columns = np.where(is_candidate, ext_ids - len(SPECIAL_TOKENS), -1)
    return {
        "columns": columns.astype(np.int64),
        "same_word": (is_same_word & is_candidate[:, None, :]).astype(np.float32),
    }
