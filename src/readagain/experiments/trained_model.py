"""Trained network of an experiment, which PyTorch runs on any device."""

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
from readagain.evaluation.network import NetworkSystem
from readagain.experiments.corpora import DUC
from readagain.model_dir import ModelDir
from readagain.networks.build import load_network
from readagain.networks.encoder_decoder import EncoderDecoder
from readagain.networks.step_model import TorchStepModel
from readagain.search.model import Floats
from readagain.text.vocab import SPECIAL_TOKENS, UNK

# "We generate summaries with 15 words using beam-size of 10" (Zeng, Luo, Fidler and Urtasun 2016,
# section 4). ROUGE then truncates these summaries to 75 bytes.
_DUC_SETTINGS = {"beam_size": 10, "min_words": 15, "max_words": 15, "min_bytes": 0, "max_bytes": 0}
"""Decoding settings of the paper for the DUC protocol."""
_GPU_BATCH_SIZE = 256  # on a GPU, a batch takes hardly longer than a single text
_IMPORTANCE_BATCH_SIZE = 64

WeightedText = tuple[list[str], Floats]
"""Normalized words of a text, and the importance of each word."""


class UnkSystem(NetworkSystem):
    """System that may generate UNK and prints it as the paper does.

    For ROUGE, UNK is a word. It is correct if the reference also has UNK, as in Gigaword.
    """

    def summarize_n_best(
        self, texts: Sequence[str], *, is_tokenized: bool, n_best: int = 1
    ) -> Iterator[list[tuple[str, Summary]]]:
        """Yield the n-best summaries of each text as pairs: the string to score, the summary."""
        for pairs in super().summarize_n_best(texts, is_tokenized=is_tokenized, n_best=n_best):
            yield [(text.replace(SPECIAL_TOKENS[UNK], "UNK"), summary) for text, summary in pairs]


class ExperimentModel:
    """Trained network of an experiment, loaded once for all evaluation protocols."""

    def __init__(self, path: Path, device: torch.device) -> None:
        self.model_dir = ModelDir.open(path)
        self.run = self.model_dir.run
        self.reader = SourceReader(self.run, self.model_dir.source_vocab, self.model_dir.vocab)
        self.step_model = TorchStepModel(
            load_network(self.model_dir, purpose="evaluating").to(device)
        )

    def with_decode(self, decode: Mapping[str, float]) -> "ExperimentModel":
        """Return the same network with other decoding settings."""
        changes = {f"decode.{name}": value for name, value in decode.items()}
        model = copy(self)
        model.run = override(self.run, changes)
        return model

    @property
    def can_copy(self) -> bool:
        """Whether the network copies words of the source."""
        return isinstance(self.run.model, ModelSpec) and self.run.model.output == "copy"

    def system(
        self, protocol: str, decode: Mapping[str, int] | None = None, *, allow_unk: bool = False
    ) -> NetworkSystem:
        """Return the system with the paper's decoding settings for an evaluation protocol.

        `decode` overrides these settings. With `allow_unk`, UNK may be generated like any word.
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
        settings = {**(_DUC_SETTINGS if protocol == DUC else {}), **(decode or {})}
        decode_spec = override_decode(self.run.decode, settings)
        system_class = UnkSystem if allow_unk else NetworkSystem
        return system_class(
            self.run.title,
            self.model_dir,
            summarizer.with_decode(**asdict(decode_spec)),
            precision="float32",
            threads=torch.get_num_threads(),
        )

    def importance(
        self, texts: Sequence[str], *, is_tokenized: bool
    ) -> tuple[ImportanceKind | None, list[WeightedText]]:
        """Return the kind of importance, and the words of each text with their importance.

        Empty texts are left out. Return (None, []) if all texts are empty, or if the network has
        no second reading pass and so no importance.
        """
        sources = [self.reader.read(text, tokenized=is_tokenized) for text in texts]
        sources = [source for source in sources if not source.is_empty]
        kind, weighted = None, []
        for start in range(0, len(sources), _IMPORTANCE_BATCH_SIZE):
            batch_sources = sources[start : start + _IMPORTANCE_BATCH_SIZE]
            batch = self.reader.batch(batch_sources)
            importance = source_importance(self.step_model, self.run.model, batch)
            if importance is None:
                return None, []
            weights, kind = importance  # (B, S) weights
            for row, source in enumerate(batch_sources):
                norms = [word.norm for word in source.read_words]
                weighted.append((norms, weights[row, batch.source_valid[row]]))
        return kind, weighted

    @torch.inference_mode()
    def copy_neighbours(
        self, text: str, words: Sequence[str], *, num_neighbours: int
    ) -> dict[str, list[tuple[str, float]]]:
        """Return the neighbours of source words: decoder words with embeddings similar to p_i.

        p_i is the embedding that the decoder uses for a word copied from source position i
        (equation 15). i is the first position of each word.

        Returns:
            For each of the normalized `words` that the network reads, its neighbours with their
            cosine similarity; {} for a network without p_i.
        """
        source = self.reader.read(text, tokenized=True)
        batch = self.reader.batch([source])
        copy_embeddings = self.step_model.start(batch).network_state.memory.copy_words
        norms = [word.norm for word in source.read_words]
        read_words = list(dict.fromkeys(word for word in words if word in norms))
        if copy_embeddings is None or not read_words:
            return {}
        network = self.step_model.model
        assert isinstance(network, EncoderDecoder)
        device = copy_embeddings.device
        source_valid = torch.as_tensor(batch.source_valid[0], device=device)  # (S,)
        positions = torch.tensor([norms.index(word) for word in read_words], device=device)  # (W,)
        copied = copy_embeddings[0, source_valid][positions].float()  # (W, E)
        decoder_words = self.model_dir.vocab.words[len(SPECIAL_TOKENS) :]
        embeddings = network.previous_words.embedding.weight.float()  # (V, E)
        embeddings = embeddings[len(SPECIAL_TOKENS) :]  # (V - number of special tokens, E)
        cosines = F.normalize(copied, dim=-1) @ F.normalize(embeddings, dim=-1).T
        best = cosines.topk(min(num_neighbours, cosines.shape[1]))  # (W, num_neighbours)
        indices, values = best.indices.tolist(), best.values.tolist()
        return {
            word: [
                (decoder_words[index], round(cosine, 3))
                for index, cosine in zip(indices[row], values[row], strict=True)
            ]
            for row, word in enumerate(read_words)
        }
