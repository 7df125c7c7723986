"""What a person asked to be trained, settled against the corpus before anything is built."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from readagain.config.files import run_to_dict
from readagain.config.override import override, parse_assignments
from readagain.config.schema import RunSpec
from readagain.corpus.shards import PreparedCorpus
from readagain.counts import counted
from readagain.errors import ConfigError, DataError
from readagain.presets.find import find_run
from readagain.storage.bundled import find_model
from readagain.text.truecasing import Truecaser
from readagain.training.finetune import RecoverWeights, TrainedModel
from readagain.training.words import (
    Vocabs,
    check_sizes,
    coverage_warnings,
    cut_words,
    extend_words,
    size_notes,
)


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """A request as it stands on the command line.

    Args:
        preset: a preset, a run file or a run itself; may be left out when a model is begun from.
        data: the prepared corpus.
        out: the folder of the run.
        changes: assignments, `train.epochs=3`.
        seed: replaces the run's.
        begin_from: a model to fine-tune: its folder, or the name of a bundled one.
        extend_vocab: how many words of the corpus its vocabularies may take up.
        overwrite: whether another run in `out` may be removed.
        recover_weights: reads weights from int8 graphs, for models without a weights file.
    """

    preset: str | RunSpec | None
    data: Path
    out: Path
    changes: tuple[str, ...] = ()
    seed: int | None = None
    begin_from: str | Path | None = None
    extend_vocab: int = 0
    overwrite: bool = False
    recover_weights: RecoverWeights | None = None


@dataclass(frozen=True, kw_only=True)
class ResolvedJob:
    """A run that can be built: its settings, corpus, words, and the model it begins from."""

    run: RunSpec
    corpus: PreparedCorpus
    words: Vocabs
    cases: Truecaser
    trained: TrainedModel | None
    notes: list[str]
    warnings: list[str]

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the numbers of the run: a folder on disk keeps to one identity."""
        return {
            **run_to_dict(self.run),
            "corpus fingerprint": self.corpus.manifest.fingerprint,
            "weights begun from": None if self.trained is None else self.trained.checksum,
        }

    def first_weights(self) -> dict[str, Tensor] | None:
        """Return the weights to begin from; None for random ones."""
        return None if self.trained is None else self.trained.weights(self.words)


def settle(job: TrainingJob) -> ResolvedJob:
    """Resolve the settings, open the corpus and cut or extend the vocabularies.

    Raises:
        ConfigError: for settings that are unknown or cannot be honoured.
        ArtifactError: for a corpus or a model that is missing, damaged or too new.
        DataError: for a corpus without training pairs.
    """
    trained = (
        None
        if job.begin_from is None
        else TrainedModel.open(find_model(job.begin_from), job.recover_weights)
    )
    asked = _asked_run(job, trained)
    if asked.train.objective == "risk" and trained is None:
        raise ConfigError(
            "train.objective is 'risk', which rewards what a trained model writes; train by "
            "likelihood first, then name that model with --from"
        )
    corpus = PreparedCorpus.open(job.data, checksums=True)
    if corpus.manifest.splits["train"]["pairs"] == 0:
        raise DataError(f"{job.data}: no pairs to train on; prepare a corpus with a train split")
    has_dev = corpus.manifest.splits["dev"]["pairs"] > 0
    if not has_dev and (asked.train.patience or asked.train.best_by == "rouge"):
        raise DataError(
            f"{job.data}: no dev pairs, which train.patience and train.best_by go by; prepare the "
            "corpus with --dev-pairs"
        )
    if trained is None:
        words = cut_words(asked, corpus.lexicon)
        notes = size_notes(asked, words)
    else:
        trained.check_network(asked)
        words = extend_words(trained.words, corpus.lexicon, job.extend_vocab)
        notes = [f"beginning from {trained.folder.path}, {_added(trained.words, words)}"]
        if trained.is_read_back:
            notes.append("its weights are read back from its int8 graphs, as exact as bytes are")
    check_sizes(parse_assignments(job.changes), words)
    if not has_dev:
        notes.append("the corpus has no dev pairs: nothing is validated, the last weights are kept")
    return ResolvedJob(
        run=words.fit(asked),
        corpus=corpus,
        words=words,
        cases=_cases(corpus, words, trained),
        trained=trained,
        notes=notes,
        warnings=coverage_warnings(corpus.lexicon, words),
    )


def _asked_run(job: TrainingJob, trained: TrainedModel | None) -> RunSpec:
    if job.extend_vocab and trained is None:
        raise ConfigError("--extend-vocab adds words to a trained model; name it with --from")
    if isinstance(job.preset, RunSpec):
        run = override(job.preset, parse_assignments(job.changes), where="--set")
    elif job.preset is not None:
        run = find_run(job.preset, job.changes)
    elif trained is not None:
        run = override(trained.folder.run, parse_assignments(job.changes), where="--set")
    else:
        raise ConfigError(
            "nothing to train: name a preset ('readagain presets' lists them), a run file, or a "
            "model folder with --from"
        )
    if job.seed is not None:
        run = override(run, {"train.seed": job.seed}, where="--seed")
    return run


def _cases(corpus: PreparedCorpus, words: Vocabs, trained: TrainedModel | None) -> Truecaser:
    """Say how the words that are written look: in the corpus, else for the model begun from."""
    known = corpus.cases.restricted_to(words.summary)
    return known if trained is None else known.with_fallback(trained.folder.cases)


def _added(before: Vocabs, now: Vocabs) -> str:
    source = len(now.source) - len(before.source)
    summary = len(now.summary) - len(before.summary)
    if not source and not summary:
        return "its vocabularies kept"
    return f"with {counted(source, 'more source word')} and {counted(summary, 'more summary word')}"
