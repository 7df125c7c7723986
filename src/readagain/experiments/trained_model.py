"""Trained model of an experiment, decoded with PyTorch on any device."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from pathlib import Path

import torch
import torch.nn.functional as F

from readagain.config.options import override_decode
from readagain.config.override import override
from readagain.config.schema import ModelSpec
from readagain.engine.explanation import source_importance
from readagain.engine.source import SourceReader
from readagain.engine.summarizer import MAX_TEXTS, Summarizer
from readagain.engine.summary import ImportanceKind, Summary
from readagain.evaluation.network import PAPER_SETTINGS, NetworkSystem
from readagain.model_dir import ModelDir
from readagain.networks.build import load_network
from readagain.networks.encoder_decoder import EncoderDecoder
from readagain.networks.step_model import TorchStepModel
from readagain.search.model import Floats
from readagain.text.vocab import SPECIAL_TOKENS, UNK

_GPU_BATCH_SIZE = 256  # on a GPU, larger batches hardly take longer
_IMPORTANCE_BATCH = 64

WeightedText = tuple[list[str], Floats]
"""Normalized words of a text, and the importance of each."""


class UnkSystem(NetworkSystem):
    """System that may generate UNK, printed as in the paper.

    ROUGE scores UNK as a word, which is correct if the reference has UNK, as in Gigaword.
    """

    def summarize_n_best(
        self, texts: Sequence[str], *, is_tokenized: bool, n_best: int = 1
    ) -> Iterator[list[tuple[str, Summary]]]:
        """Yield the n-best summaries of each text, each with the string that is scored."""
        for pairs in super().summarize_n_best(texts, is_tokenized=is_tokenized, n_best=n_best):
            yield [(text.replace(SPECIAL_TOKENS[UNK], "UNK"), summary) for text, summary in pairs]


class ExperimentModel:
    """Network of a model directory, loaded once for all evaluation protocols."""

    def __init__(self, path: Path, device: torch.device) -> None:
        self.model_dir = ModelDir.open(path)
        self.run = self.model_dir.run
        self.step_model = TorchStepModel(
            load_network(self.model_dir, purpose="evaluating").to(device)
        )

    def with_decode(self, decode: Mapping[str, float]) -> "ExperimentModel":
        """Return the same network with other decoding settings."""
        other = copy(self)
        other.run = override(self.run, {f"decode.{name}": each for name, each in decode.items()})
        return other

    @property
    def can_copy(self) -> bool:
        """Whether the network copies words of the source."""
        return isinstance(self.run.model, ModelSpec) and self.run.model.output == "copy"

    def system(
        self, protocol: str, decode: Mapping[str, int] | None = None, *, allow_unk: bool = False
    ) -> NetworkSystem:
        """Return the system with the paper's decoding settings for an evaluation protocol.

        `decode` replaces some of them; with `allow_unk`, UNK is generated like a word.
        """
        step_model = self.step_model
        if allow_unk:
            step_model = TorchStepModel(step_model.model, allow_unk=True)
        summarizer = Summarizer(
            self.run,
            self.model_dir.source_vocab,
            self.model_dir.vocab,
            step_model,
            max_texts=_GPU_BATCH_SIZE if self.step_model.device.type == "cuda" else MAX_TEXTS,
        )
        settings = {**PAPER_SETTINGS[protocol], **(decode or {})}
        decoding = override_decode(self.run.decode, settings)
        system = UnkSystem if allow_unk else NetworkSystem
        return system(
            self.run.title,
            self.model_dir,
            summarizer.with_decode(**asdict(decoding)),
            precision="float32",
            threads=torch.get_num_threads(),
        )

    def importance(
        self, texts: Sequence[str], *, is_tokenized: bool
    ) -> tuple[ImportanceKind | None, list[WeightedText]]:
        """Return the kind of importance, and the words of each text with their importance.

        Empty texts are left out. The result is (None, []) for a network without a second reading
        pass, which has no importance, and if all texts are empty.
        """
        reader = SourceReader(self.run, self.model_dir.source_vocab, self.model_dir.vocab)
        sources = [reader.read(text, tokenized=is_tokenized) for text in texts]
        sources = [source for source in sources if not source.is_empty]
        kind, weighted = None, []
        for start in range(0, len(sources), _IMPORTANCE_BATCH):
            batch_sources = sources[start : start + _IMPORTANCE_BATCH]
            batch = reader.batch(batch_sources)
            importance = source_importance(self.step_model, self.run.model, batch)
            if importance is None:
                return None, []
            weights, kind = importance
            for row, source in enumerate(batch_sources):
                norms = [word.norm for word in source.read_words]
                weighted.append((norms, weights[row, batch.source_valid[row]]))
        return kind, weighted

    @torch.inference_mode()
    def copy_neighbours(
        self, text: str, words: Sequence[str], *, num_words: int
    ) -> dict[str, list[tuple[str, float]]]:
        """Return the decoder words whose embeddings are most similar to p_i of source words.

        Args:
            text: text tokenized as in Gigaword.
            words: normalized words; words that are not read from the text are left out. The p_i
                of a word is computed at its first position.
            num_words: number of neighbours of each word.

        Returns:
            For each word its neighbours with their cosine similarity; {} for a network without p_i.
        """
        reader = SourceReader(self.run, self.model_dir.source_vocab, self.model_dir.vocab)
        source = reader.read(text, tokenized=True)
        batch = reader.batch([source])
        copy_words = self.step_model.start(batch).network_state.memory.copy_words
        norms = [word.norm for word in source.read_words]
        read_words = list(dict.fromkeys(word for word in words if word in norms))
        if copy_words is None or not read_words:
            return {}
        network = self.step_model.model
        assert isinstance(network, EncoderDecoder)
        valid = torch.as_tensor(batch.source_valid[0], device=copy_words.device)  # (S,)
        rows = torch.tensor([norms.index(word) for word in read_words], device=copy_words.device)
        copied_vectors = F.normalize(copy_words[0, valid][rows].float(), dim=-1)  # (W, E)
        embeddings = network.previous_words.embedding.weight  # (V, E)
        vocab_vectors = F.normalize(embeddings.float(), dim=-1)
        cosines = copied_vectors @ vocab_vectors[len(SPECIAL_TOKENS) :].T  # (W, V - specials)
        best = cosines.topk(min(num_words, cosines.shape[1]))
        vocab = self.model_dir.vocab.words[len(SPECIAL_TOKENS) :]
        return {
            word: [(vocab[id], round(value, 3)) for id, value in zip(ids, values, strict=True)]
            for word, ids, values in zip(
                read_words, best.indices.tolist(), best.values.tolist(), strict=True
            )
        }
