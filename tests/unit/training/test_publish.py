"""Model folder of a run: card, provenance, scores."""

import subprocess

import pytest
from programs import require_programs

import readagain
from readagain.config.override import override
from readagain.corpus.shards import PreparedCorpus
from readagain.model_dir import ModelDir
from readagain.presets import PRESETS
from readagain.storage.model_manifest import write_model_files
from readagain.text.truecasing import CASES_FILE, Truecaser
from readagain.training import provenance
from readagain.training.publish import model_card
from readagain.training.state import Scores

PROVENANCE = {
    "package_version": "1.0",
    "torch_version": "2.11",
    "corpus": {
        "name": "news",
        "fingerprint": "0123456789abcdef",
        "train_pairs": 2000,
        "dev_pairs": 300,
        "sources": ["a.jsonl", "b.jsonl"],
    },
    "began_from": None,
    "rouge_protocol": "gigaword",
    "seed": 3,
    "device": "a chip",
    "step": 420,
    "minutes": 1.25,
}


def test_model_has_provenance(make_job, run_job, corpus):
    job = make_job(seed=5)
    run_job(job)
    stored = ModelDir.open(job.out).provenance
    assert stored["package_version"] == readagain.__version__
    assert stored["corpus"]["fingerprint"] == corpus.manifest.fingerprint
    assert stored["corpus"]["sources"] == ["pairs.jsonl"]
    assert (stored["seed"], stored["processes"]) == (5, 1)
    assert stored["minutes"] >= 0
    assert stored["device"]
    assert "fingerprint" in (job.out / "MODEL_CARD.md").read_text()


def test_model_has_truecaser_for_its_vocabulary(make_job, run_job, corpus):
    job = make_job("vocab_size=12")
    run_job(job)
    model = ModelDir.open(job.out)
    truecaser = model.truecaser
    assert truecaser == corpus.truecaser.restricted_to(model.vocab)
    assert (truecaser.spelling("monday"), truecaser.spelling("bridge")) == ("Monday", "bridge")
    assert truecaser.spelling("repairs") is None  # not in the decoder vocabulary


def test_fine_tuning_keeps_truecaser_of_the_model(make_job, run_job, corpus_without_dev):
    first = make_job()
    run_job(first)
    write_model_files(first.out, {CASES_FILE: Truecaser(["Zyxwick", "MONDAY"]).save})
    second = make_job(preset=None, begin_from=first.out, data=corpus_without_dev.folder, out="on")
    run_job(second)
    truecaser = ModelDir.open(second.out).truecaser
    assert (truecaser.spelling("monday"), truecaser.spelling("zyxwick")) == ("Monday", "Zyxwick")


def test_model_without_truecaser_has_no_file(make_job, run_job, corpus, monkeypatch):
    monkeypatch.setattr(PreparedCorpus, "truecaser", Truecaser())
    job = make_job()
    run_job(job)
    assert not (job.out / CASES_FILE).exists()


def test_commit_is_that_of_the_source_tree():
    require_programs("git")
    folder = readagain.__path__[0]
    process = subprocess.run(
        ["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True
    )
    expected = process.stdout.strip() if process.returncode == 0 else None
    assert provenance.package_commit() == expected


def test_commit_is_none_without_git(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert provenance.package_commit() is None


def test_source_hash_changes_with_the_source_files(tmp_path):
    copies = [tmp_path / name / "readagain" for name in ("one", "two")]
    for folder in copies:
        (folder / "part").mkdir(parents=True)
        (folder / "part" / "a.py").write_text("a = 1\n")
        (folder / "b.toml").write_text("b = 2\n")
    one, two = copies
    assert provenance.source_hash(one) == provenance.source_hash(two)
    (two / "part" / "a.pyc").write_bytes(b"compiled")
    assert provenance.source_hash(one) == provenance.source_hash(two)
    (two / "part" / "a.py").rename(two / "a.py")
    assert provenance.source_hash(one) != provenance.source_hash(two)
    (two / "a.py").rename(two / "part" / "a.py")
    (two / "b.toml").write_text("b = 3\n")
    assert provenance.source_hash(one) != provenance.source_hash(two)
    assert provenance.source_hash().startswith("sha256:")


def test_card_contains_scores():
    scores = Scores(step=420, dev_loss=2.5, rouge_1=31.25, rouge_2=10.0, rouge_l=28.0)
    card = model_card(PRESETS["tiny"], PROVENANCE, scores)
    assert "| 300 dev pairs | negative log-probability of a word | 2.500 |" in card
    assert "| 200 dev pairs | ROUGE-1 F1 of ROUGE-1.5.5, stemmed, per cent | 31.2 |" in card
    assert "2,000 pairs of `news` (a.jsonl, b.jsonl), fingerprint `0123456789ab`" in card
    assert "step 420, 1.2 minutes on a chip, seed 3" in card
    assert "the first sentence, 60 words each" in card
    assert "| initial weights | random |" in card


def test_card_reports_missing_scores():
    run = override(PRESETS["tiny"], {"data.num_sentences": 3, "data.join_sentences": True})
    card = model_card(run, {**PROVENANCE, "began_from": {"name": "parent"}}, None)
    assert "no dev split, so nothing was measured" in card
    assert "the model `parent`" in card
    assert "the first 3 sentences, 60 words in all" in card


@pytest.mark.parametrize(
    ("preset", "method", "can_copy"),
    [
        ("read_again_lstm_copy_15k", ", by reading it twice and copying from it.", True),
        ("read_again_gru_15k", ", by reading it twice.", False),
        ("gru_15k", ".", False),
        ("ras_lstm", ".", False),
        ("abs_69k", ".", False),
    ],
)
def test_card_describes_only_what_the_network_does(preset, method, can_copy):
    card = model_card(PRESETS[preset], PROVENANCE, None)
    assert f"Generates a headline of a few words for a text{method}\n" in card
    assert ("every word of the text by copying" in card) == can_copy
    assert ("It can copy the wrong name" in card) == can_copy


def test_card_names_language_and_protocol():
    scores = Scores(step=420, dev_loss=2.5, rouge_1=31.25, rouge_2=10.0, rouge_l=28.0)
    run = override(PRESETS["tiny"], {"data.language": "de"})
    card = model_card(run, {**PROVENANCE, "rouge_protocol": "unicode"}, scores)
    assert "| language | German (de) |" in card
    assert "German text of the kind it was trained on." in card
    assert "English" not in card
    assert "| 200 dev pairs | ROUGE-1 F1 over Unicode words, per cent | 31.2 |" in card
