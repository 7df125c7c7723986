"""Training jobs: settings given by the user, resolved with the corpus."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from readagain.config.files import run_to_dict
from readagain.config.override import override, parse_assignments
from readagain.config.schema import RunSpec
from readagain.corpus.shards import PreparedCorpus
from readagain.counts import pluralize
from readagain.errors import ArgumentError, ConfigError, DataError, quoted
from readagain.presets.find import find_run
from readagain.storage.bundled import find_model
from readagain.text.language import LANGUAGES, UNDETERMINED
from readagain.text.truecasing import Truecaser
from readagain.training.dataset import TrainingDataset
from readagain.training.finetune import RecoverWeights, TrainedModel
from readagain.training.run_dir import BASE_MODEL_KEY
from readagain.training.vocabs import (
    Vocabs,
    build_vocabs,
    check_sizes,
    coverage_warnings,
    extend_vocabs,
    size_notes,
)


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """Training job as given by the user.

    Args:
        preset: a preset, a run file or a run; optional when fine-tuning.
        data: the prepared corpus.
        out: the folder of the run.
        changes: assignments such as `train.epochs=3`.
        seed: replaces the seed of the run.
        begin_from: a model to fine-tune: its folder, or the name of a bundled model.
        extend_vocab: maximum number of words of the corpus to add to its vocabularies.
        overwrite: delete another run in `out`.
        recover_weights: function that reads weights from int8 graphs, for models without a weights
            file.
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
    """Training job with all settings, its corpus, vocabularies and the model to fine-tune."""

    run: RunSpec
    corpus: PreparedCorpus
    vocabs: Vocabs
    truecaser: Truecaser
    trained: TrainedModel | None
    notes: list[str]
    warnings: list[str]

    @property
    def identity(self) -> dict[str, Any]:
        """Settings and inputs that determine the weights."""
        return {
            **run_to_dict(self.run),
            "corpus fingerprint": self.corpus.manifest.fingerprint,
            BASE_MODEL_KEY: None if self.trained is None else self.trained.checksum,
        }

    def load_dataset(self, split: str, device: torch.device) -> TrainingDataset:
        """Load a split with the vocabularies of the run."""
        lexicon, vocabs = self.corpus.lexicon, self.vocabs
        return TrainingDataset(
            self.corpus.split(split),
            encoder_id_by_lexicon_id=lexicon.vocab_ids(vocabs.source),
            decoder_id_by_lexicon_id=lexicon.vocab_ids(vocabs.summary),
            vocab_size=len(vocabs.summary),
            style_id=vocabs.source.styles.get(self.run.decode.style),
            data=self.run.data,
            device=device,
        )


def resolve(job: TrainingJob) -> ResolvedJob:
    """Resolve the settings, open the corpus and build or extend the vocabularies.

    Raises:
        ConfigError: for unknown or invalid settings.
        ArtifactError: for a corpus or a model that is missing, damaged or too new.
        DataError: for a corpus without training pairs.
    """
    trained = None
    if job.begin_from is not None:
        trained = TrainedModel.open(find_model(job.begin_from), job.recover_weights)
    run = _requested_run(job, trained)
    if run.train.objective == "risk" and trained is None:
        raise ArgumentError(
            "train.objective is 'risk', which needs a trained model; train one by likelihood, then "
            "fine-tune it with {from}"
        )
    corpus = PreparedCorpus.open(job.data, checksums=True)
    if corpus.manifest.splits["train"]["pairs"] == 0:
        raise DataError(f"{job.data}: no training pairs; prepare a corpus with a train split")
    has_dev = corpus.manifest.splits["dev"]["pairs"] > 0
    if not has_dev and (run.train.patience or run.train.best_by == "rouge"):
        raise DataError(
            f"{job.data}: no dev pairs, which train.patience and train.best_by need; prepare the "
            "corpus with a dev split"
        )
    if trained is None:
        vocabs = build_vocabs(run, corpus.lexicon)
        notes = size_notes(run, vocabs)
    else:
        trained.check_network(run)
        vocabs = extend_vocabs(trained.vocabs, corpus.lexicon, job.extend_vocab)
        notes = [f"fine-tuning {trained.model_dir.path}, {_describe_added(trained.vocabs, vocabs)}"]
        if trained.needs_recovery:
            notes.append("its weights are recovered from its int8 graphs, with int8 precision")
    check_sizes(parse_assignments(job.changes), vocabs)
    run = _set_language(run, job, corpus, trained)
    language = LANGUAGES[run.data.language]
    truecaser = corpus.truecaser.restricted_to(vocabs.summary)
    if trained is not None:
        truecaser = truecaser.with_fallback(trained.model_dir.truecaser)
    if not language.is_spaced:
        notes.append(
            f"tokens of {language.name} are characters: data.max_source_words "
            f"({run.data.max_source_words}), data.max_summary_words "
            f"({run.data.max_summary_words}) and decode.max_words ({run.decode.max_words}) count "
            "characters"
        )
    if not has_dev:
        notes.append("the corpus has no dev pairs: no validation, the last weights are kept")
    return ResolvedJob(
        run=vocabs.set_sizes(run),
        corpus=corpus,
        vocabs=vocabs,
        truecaser=truecaser,
        trained=trained,
        notes=notes,
        warnings=[*_language_warnings(run, trained), *coverage_warnings(corpus.lexicon, vocabs)],
    )


def _set_language(
    run: RunSpec, job: TrainingJob, corpus: PreparedCorpus, trained: TrainedModel | None
) -> RunSpec:
    """Return the run with the language of the corpus or, if unknown, of the model to fine-tune."""
    language = corpus.manifest.language
    if trained is not None and language == UNDETERMINED:
        language = trained.model_dir.run.data.language
    requested = parse_assignments(job.changes).get("data.language", language)
    if requested != language:
        raise ConfigError(
            f"--set: data.language is {quoted(requested)}, but {corpus.folder} was prepared as "
            f"{quoted(language)}; prepare it again with --language"
        )
    return replace(run, data=replace(run.data, language=language))


def _language_warnings(run: RunSpec, trained: TrainedModel | None) -> list[str]:
    if trained is None or trained.model_dir.run.data.language == run.data.language:
        return []
    corpus_language = LANGUAGES[run.data.language].name
    model_language = LANGUAGES[trained.model_dir.run.data.language].name
    return [
        f"the corpus is in {corpus_language}, the model to fine-tune was trained on "
        f"{model_language}: few of its words are useful; train a new model, or extend its "
        "vocabulary"
    ]


def _requested_run(job: TrainingJob, trained: TrainedModel | None) -> RunSpec:
    if job.extend_vocab and trained is None:
        raise ArgumentError("{extend_vocab}: needs a trained model; name it with {from}")
    if isinstance(job.preset, RunSpec):
        run = override(job.preset, parse_assignments(job.changes), where="--set")
    elif job.preset is not None:
        run = find_run(job.preset, job.changes)
    elif trained is not None:
        run = override(trained.model_dir.run, parse_assignments(job.changes), where="--set")
    else:
        raise ArgumentError(
            "nothing to train; name a preset ('readagain presets' lists them), a run file, or a "
            "model folder with {from}"
        )
    if job.seed is not None:
        run = override(run, {"train.seed": job.seed}, where="--seed")
    return run


def _describe_added(before: Vocabs, now: Vocabs) -> str:
    source = len(now.source) - len(before.source)
    summary = len(now.summary) - len(before.summary)
    if not source and not summary:
        return "with its vocabularies"
    more_source = pluralize(source, "more source word")
    return f"with {more_source} and {pluralize(summary, 'more summary word')}"
