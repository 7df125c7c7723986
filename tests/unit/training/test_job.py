"""Resolving a training job, and errors for invalid ones."""

import json
import shutil

import pytest

from readagain.corpus.manifest import fingerprint
from readagain.errors import ArtifactError, ConfigError, DataError
from readagain.export.recover import recover_weights
from readagain.model_dir import ModelDir
from readagain.networks.build import build_model
from readagain.training.job import TrainingJob, resolve


def test_resolve_uses_vocabulary_of_the_corpus(make_job, corpus):
    resolved = resolve(make_job())
    assert resolved.run.vocab_size == len(resolved.vocabs.summary)
    assert resolved.run.source_vocab_size == len(resolved.vocabs.source)
    assert "bridge" in resolved.vocabs.summary
    assert any("is reduced from" in note for note in resolved.notes)
    assert resolved.identity["corpus fingerprint"] == corpus.manifest.fingerprint
    assert resolved.trained_model is None


def test_resolve_refuses_impossible_vocab_size(make_job):
    with pytest.raises(ConfigError, match=r"changes: vocab_size is 90000, but there are \d+ summ"):
        resolve(make_job("vocab_size=90000"))


def test_resolve_replaces_seed(make_job):
    assert resolve(make_job(seed=7)).run.train.seed == 7


def test_resolve_refuses_negative_seed(make_job):
    with pytest.raises(ConfigError, match="seed: train.seed is -1; expected 0 or more"):
        resolve(make_job(seed=-1))


def test_resolve_refuses_missing_data(make_job, tmp_path):
    with pytest.raises(ArtifactError, match="nowhere: no such folder; create it with 'readagain"):
        resolve(make_job(data=tmp_path / "nowhere"))


def test_resolve_refuses_newer_corpus(make_job, tmp_path):
    manifest = {"format_version": 99}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtifactError, match="written in format 99 by readagain of a later version"):
        resolve(make_job(data=tmp_path))


def test_resolve_refuses_corpus_without_training_pairs(make_job, corpus, tmp_path):
    manifest = json.loads((corpus.folder / "manifest.json").read_text())
    manifest["splits"]["train"]["pairs"] = 0
    manifest["files"] = {}
    manifest["fingerprint"] = fingerprint({})
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="no training pairs"):
        resolve(make_job(data=tmp_path))


def test_resolve_suggests_nearest_setting(make_job):
    with pytest.raises(ConfigError, match="changes: 'train.epoch': no setting 'epoch'; did you"):
        resolve(make_job("train.epoch=3"))


def test_resolve_suggests_nearest_preset(make_job):
    with pytest.raises(ConfigError, match="no preset 'tinny'; did you mean 'tiny'"):
        resolve(make_job(preset="tinny"))


def test_resolve_refuses_best_by_rouge_without_rouge(make_job):
    with pytest.raises(ConfigError, match="best_by is 'rouge', but train.rouge_pairs is 0"):
        resolve(make_job("train.best_by=rouge", "train.rouge_pairs=0"))


def test_resolve_needs_preset_or_model(make_job):
    with pytest.raises(ConfigError, match="nothing to train; name a preset .* with begin_from"):
        resolve(make_job(preset=None))


def test_extend_vocab_needs_a_trained_model(make_job):
    with pytest.raises(
        ConfigError, match="extend_vocab: needs a trained model; name it with begin_from"
    ):
        resolve(make_job(extend_vocab=5))


def test_resolve_refuses_missing_model(make_job, tmp_path):
    with pytest.raises(ArtifactError, match="no model '.*nowhere'; bundled models"):
        resolve(make_job(begin_from=tmp_path / "nowhere"))


def test_fine_tuning_uses_settings_and_vocabs_of_model(make_job, run_job):
    trained = make_job(out="trained")
    run_job(trained)
    job = make_job(preset=None, begin_from=trained.out)
    resolved = resolve(job)
    model = ModelDir.open(trained.out)
    assert (resolved.vocabs.source, resolved.vocabs.summary) == (model.source_vocab, model.vocab)
    assert resolved.identity["weights begun from"] == resolved.trained_model.checksum
    assert resolved.notes[0].endswith("trained, with its vocabularies")
    with pytest.raises(ConfigError, match="trained with model.embedding_size = 8, the run has 9"):
        resolve(make_job("model.embedding_size=9", begin_from=trained.out))


def test_fine_tuning_starts_from_the_weights(make_job, run_job, corpus_without_dev):
    trained = make_job("train.epochs=8", out="trained")
    scores = run_job(trained)[0].state.best
    job = make_job(
        "train.learning_rate=1e-9", out="tuned", preset=None, begin_from=trained.out, extend_vocab=9
    )
    result, _ = run_job(job)
    assert result.state.best.dev_loss == pytest.approx(scores.dev_loss, rel=0.05)
    model = ModelDir.open(job.out, checksums=True)
    assert model.provenance["began_from"]["name"] == "trained"


@pytest.mark.parametrize("name", ["news", "papers"])
@pytest.mark.parametrize("extend_vocab", [0, 5], ids=["words kept", "words added"])
def test_bundled_model_is_fine_tuned_from_its_graphs(corpus, tmp_path, name, extend_vocab):
    job = TrainingJob(
        out=tmp_path,
        preset=None,
        data=corpus.folder,
        begin_from=name,
        extend_vocab=extend_vocab,
        recover_weights=recover_weights,
    )
    resolved = resolve(job)
    assert "its weights are recovered from its int8 graphs, with int8 precision" in resolved.notes
    num_added = len(resolved.vocabs.source) - len(resolved.trained_model.vocabs.source)
    assert num_added == extend_vocab
    build_model(resolved.run).load_state_dict(resolved.trained_model.weights(resolved.vocabs))


def copy_with_language(corpus, folder, language):
    """Copy a corpus and change the language in its manifest."""
    shutil.copytree(corpus.folder, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "language": language}))
    return folder


def test_resolve_takes_language_of_the_corpus(make_job, corpus, tmp_path):
    assert resolve(make_job()).run.data.language == corpus.manifest.language == "en"
    german = copy_with_language(corpus, tmp_path / "de", "de")
    assert resolve(make_job(data=german)).run.data.language == "de"
    message = (
        "changes: data.language is 'fr', but .*de was prepared as 'de'; prepare it again with "
        "language"
    )
    with pytest.raises(ConfigError, match=message):
        resolve(make_job("data.language=fr", data=german))


def test_resolve_warns_of_another_language_when_fine_tuning(make_job, run_job, corpus, tmp_path):
    first = make_job("train.epochs=1")
    run_job(first)
    unknown = copy_with_language(corpus, tmp_path / "und", "und")
    job = resolve(make_job(data=unknown, begin_from=first.out, out="a"))
    assert job.run.data.language == "en"
    assert not any("fine-tune was trained" in warning for warning in job.warnings)
    german = copy_with_language(corpus, tmp_path / "de", "de")
    job = resolve(make_job(data=german, begin_from=first.out, out="b"))
    assert job.run.data.language == "de"
    assert any("the corpus is in German, the model" in warning for warning in job.warnings)


def test_resolve_notes_that_tokens_are_characters(make_job, corpus, tmp_path):
    chinese = copy_with_language(corpus, tmp_path / "zh", "zh")
    notes = resolve(make_job(data=chinese)).notes
    assert any(
        "tokens of Chinese are characters: data.max_source_words (" in note for note in notes
    )
    assert not any("characters" in note for note in resolve(make_job()).notes)
