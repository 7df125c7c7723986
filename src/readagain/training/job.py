"""Training jobs: as requested by the user, and resolved with the corpus."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from readagain.config.files import spec_to_dict
from readagain.config.override import override, parse_assignments
from readagain.config.schema import RunSpec
from readagain.corpus.shards import PreparedCorpus
from readagain.errors import ArgumentError, DataError, pluralize, quoted
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
    """Training job as requested by the user; `readagain.train` describes the other fields.

    Args:
        recover_weights: function that reads weights from int8 graphs, for models without a weights
            file; `export` has it, which this package does not import.
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
    """Training job with all settings and inputs.

    Args:
        run: the settings, with the sizes of `vocabs` and the language of the corpus.
        truecaser: spellings of the summary words, for the model folder.
        trained_model: the model to fine-tune; None trains from random weights.
        notes: information to print before training, such as reduced vocabularies.
        warnings: warnings to print before training.
    """

    run: RunSpec
    corpus: PreparedCorpus
    vocabs: Vocabs
    truecaser: Truecaser
    trained_model: TrainedModel | None
    notes: list[str]
    warnings: list[str]

    @property
    def identity(self) -> dict[str, Any]:
        """Settings and inputs that determine the weights."""
        model = self.trained_model
        # These keys are stored in run folders, and printed if the identity of a run differs.
        return {
            **spec_to_dict(self.run),
            "corpus fingerprint": self.corpus.manifest.fingerprint,
            BASE_MODEL_KEY: None if model is None else model.checksum,
        }

    def load_dataset(self, split: str, device: torch.device) -> TrainingDataset:
        """Load a split as batches of ids in the vocabularies of the run."""
        lexicon, vocabs = self.corpus.lexicon, self.vocabs
        return TrainingDataset(
            self.corpus.split(split),
            source_id_by_lexicon_id=lexicon.vocab_ids(vocabs.source),
            summary_id_by_lexicon_id=lexicon.vocab_ids(vocabs.summary),
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
    model = None
    if job.begin_from is not None:
        model = TrainedModel.open(find_model(job.begin_from), job.recover_weights)
    run = _find_run(job, model)
    if run.train.objective == "risk" and model is None:
        raise ArgumentError(
            "train.objective is 'risk', which needs a trained model; train one by likelihood, then "
            "fine-tune it with {begin_from}"
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
    if model is None:
        vocabs = build_vocabs(run, corpus.lexicon)
        notes = size_notes(run, vocabs)
    else:
        model.check_network(run)
        vocabs = extend_vocabs(model.vocabs, corpus.lexicon, job.extend_vocab)
        notes = [f"fine-tuning {model.model_dir.path}, {_describe_added(model.vocabs, vocabs)}"]
        if model.needs_recovery:
            notes.append("its weights are recovered from its int8 graphs, with int8 precision")
    check_sizes(parse_assignments(job.changes), vocabs)
    run = _set_language(run, job, corpus, model)
    language = LANGUAGES[run.data.language]
    truecaser = corpus.truecaser.restricted_to(vocabs.summary)
    if model is not None:
        truecaser = truecaser.with_fallback(model.model_dir.truecaser)
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
        run=vocabs.apply_sizes(run),
        corpus=corpus,
        vocabs=vocabs,
        truecaser=truecaser,
        trained_model=model,
        notes=notes,
        warnings=[*_language_warnings(run, model), *coverage_warnings(corpus.lexicon, vocabs)],
    )


def _set_language(
    run: RunSpec, job: TrainingJob, corpus: PreparedCorpus, model: TrainedModel | None
) -> RunSpec:
    """Return the run with the language of the corpus or, if unknown, of the model to fine-tune.

    Raises:
        ArgumentError: if the job sets another language.
    """
    language = corpus.manifest.language
    if model is not None and language == UNDETERMINED:
        language = model.model_dir.run.data.language
    requested_language = parse_assignments(job.changes).get("data.language", language)
    if requested_language != language:
        raise ArgumentError(
            "{changes}: data.language is {0}, but {1} was prepared as {2}; prepare it again with "
            "{language}",
            quoted(requested_language),
            corpus.folder,
            quoted(language),
        )
    return replace(run, data=replace(run.data, language=language))


def _language_warnings(run: RunSpec, model: TrainedModel | None) -> list[str]:
    """Return a warning if the model to fine-tune was trained on another language."""
    if model is None or model.model_dir.run.data.language == run.data.language:
        return []
    corpus_language = LANGUAGES[run.data.language].name
    model_language = LANGUAGES[model.model_dir.run.data.language].name
    return [
        f"the corpus is in {corpus_language}, the model to fine-tune was trained on "
        f"{model_language}: few of its words are useful; train a new model, or extend its "
        "vocabulary"
    ]


def _find_run(job: TrainingJob, model: TrainedModel | None) -> RunSpec:
    """Return the run of the job's preset or of the model to fine-tune, with the job's changes."""
    if job.extend_vocab and model is None:
        raise ArgumentError("{extend_vocab}: needs a trained model; name it with {begin_from}")
    if isinstance(job.preset, RunSpec):
        run = job.preset
    elif job.preset is not None:
        run = find_run(job.preset)
    elif model is not None:
        run = model.model_dir.run
    else:
        raise ArgumentError(
            "nothing to train; name a preset ('readagain presets' lists them), a run file, or a "
            "model folder with {begin_from}"
        )
    run = override(run, parse_assignments(job.changes), argument="changes")
    if job.seed is not None:
        run = override(run, {"train.seed": job.seed}, argument="seed")
    return run


def _describe_added(before: Vocabs, now: Vocabs) -> str:
    """Return the numbers of words that were added to the vocabularies of a model, in words."""
    num_source = len(now.source) - len(before.source)
    num_summary = len(now.summary) - len(before.summary)
    if not num_source and not num_summary:
        return "with its vocabularies"
    source_words = pluralize(num_source, "more source word")
    return f"with {source_words} and {pluralize(num_summary, 'more summary word')}"
