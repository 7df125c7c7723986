"""Evaluations on invented data."""

import json
import re

import pytest

from readagain.errors import ArtifactError, ConfigError
from readagain.evaluation.evaluate import evaluate
from readagain.evaluation.report import few_summaries_warning, metadata, save_summaries
from readagain.evaluation.systems import load_system
from readagain.rouge.corpus import score_corpus


def texts_of(evaluation):
    return [summary.text for summary in evaluation.summaries]


def test_evaluate_scores_summaries_against_references(evaluated, read, gigaword):
    found = evaluated("lead", gigaword, "gigaword")
    rows = read(gigaword).rows
    texts = [row.text for row in rows]
    expected = score_corpus(texts, [row.references for row in rows], "gigaword")
    assert found.rouge.as_json() == expected.as_json()
    assert texts_of(found) == texts


def test_model_keeps_gigaword_form(evaluated, toy, gigaword):
    found = evaluated(toy, gigaword, "gigaword")
    for text in texts_of(found):
        assert text == text.lower()
        assert not any(c.isdigit() for c in text)


def test_model_restores_digits_of_duc(evaluated, toy, duc):
    printed = " ".join(texts_of(evaluated(toy, duc, "duc2003")))
    assert "12" in printed.split()
    assert "##" not in printed.split()


def test_model_detokenizes_summaries_of_raw_texts(evaluated, toy, jsonl):
    printed = " ".join(texts_of(evaluated(toy, jsonl, "gigaword")))
    assert "Ghent" in printed
    assert "#" not in printed


def test_duc_protocol_limits_summaries_to_75_bytes(evaluated, toy, duc):
    found = evaluated(toy, duc, "duc2004")
    assert all(len(summary.text.encode()) <= 75 for summary in found.summaries)
    assert found.details["decode"]["max_bytes"] == 75
    assert found.details["decode"]["beam_size"] == 32


def test_decoding_options_override_the_protocol(evaluated, toy, duc):
    found = evaluated(
        toy,
        duc,
        "duc2004",
        decoding={"min_words": 15, "max_words": 15, "min_bytes": 0, "max_bytes": 0},
    )
    assert [len(summary.words) for summary in found.summaries] == [15, 15]


def test_decoding_options_are_reported(evaluated, toy, duc):
    found = evaluated(toy, duc, "duc2004", decoding={"beam": 2, "max_words": 5})
    assert [len(summary.words) for summary in found.summaries] == [5, 5]
    assert found.details["decode"]["beam_size"] == 2


def test_model_never_copies_unk(evaluated, toy, parallel):
    data = parallel(["UNK UNK UNK UNK bridge"], ["UNK bridge"])
    found = evaluated(toy, data, "gigaword", decoding={"min_words": 8})
    assert found.as_json()["unk"]["summaries_with_unk"] == 0


def test_copied_words_are_in_the_text(evaluated, toy, jsonl):
    found = evaluated(toy, jsonl, "gigaword")
    for summary, row in zip(found.summaries, found.data.rows, strict=True):
        for word, is_copied in zip(summary.words, summary.is_copied, strict=True):
            if is_copied:
                assert summary.text[word.start : word.end].lower() in row.text.lower()
    assert 0 < found.stats.copy_rate < 1


def test_rows_and_summaries_with_unk_are_counted(evaluated, parallel):
    titles = ["a UNK", "c <unk>", "drunk UNK's", "<s> d </s>"]
    found = evaluated("lead", parallel(["a UNK b .", "c .", "d .", "e ."], titles), "gigaword")
    assert found.as_json()["unk"] == {"rows_with_unk": 2, "summaries_with_unk": 1}


def test_saved_jsonl_has_texts_references_and_scores(evaluated, duc, tmp_path):
    found = evaluated("prefix", duc, "duc2003")
    save_summaries(tmp_path / "out.jsonl", found)
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert first["text"] == found.data.rows[0].text
    assert second["references"] == ["Storm at sea.", "Ferry late after storm"]
    assert [first["summary"], second["summary"]] == texts_of(found)
    expected = score_corpus([first["summary"]], [first["references"]], "duc2003")
    assert first["rouge-1"] == expected["rouge-1"].recall.value


def test_reference_stats_ignore_case_and_digits(evaluated, duc):
    found = evaluated("lead", duc, "duc2003")
    # cross, at, sea, is, after; not Ghent, 12, Storm, Old, Ferry and the full stop
    assert found.reference_stats.novel_1gram_rate == 5 / 19


def test_json_has_all_fields(evaluated, toy, duc):
    found = evaluated(toy, duc, "duc2003").as_json()
    assert list(found) == [
        *("model", "protocol", "data", "unk", "rouge", "summaries", "references", "speed"),
        "version",
    ]
    assert found["model"]["title"] == "Toy"
    assert len(found["model"]["sha256"]) == 64
    assert found["model"]["precision"] == "int8"
    assert found["data"]["rows"] == 2
    assert len(found["data"]["fingerprint"]) == 64
    assert found["rouge"]["options"] == "-n 2 -m -b 75 -c 95 -r 1000 -f A -p 0.5 -t 0"
    assert found["references"]["copy_rate"] is None
    assert found["speed"]["sentences_per_s"] > 0
    assert "cores" in found["speed"]["machine"]


def test_few_summaries_warning_for_equal_summaries(evaluated, parallel):
    same = "police in the old harbour of eastmoor said on monday that the ferry will not sail today"
    data = parallel([f"{same} {n}" for n in "abcde"], ["ferry"] * 5)
    found = evaluated("prefix", data, "gigaword")
    assert few_summaries_warning(found) == "only 1 summary for 5 different texts"
    assert dict(metadata(found))["warning"] == few_summaries_warning(found)


def test_metadata_names_model_decoding_and_data(evaluated, toy, duc):
    rows = dict(metadata(evaluated(toy, duc, "duc2003")))
    assert "title Toy" in rows["model"]
    assert "beam_size 32" in rows["model"]
    assert "consensus_by recall" in rows["model"]
    assert re.search(r"sha256 [0-9a-f]{12},", rows["model"])
    assert re.search(r"SHA-256 [0-9a-f]{12}$", rows["rows"])
    assert rows["data"].endswith(
        "input.txt, task1_ref0.txt, task1_ref1.txt (duc, tokenized as in Gigaword)"
    )
    assert rows["UNK"] == "0 rows with it in a reference, 0 summaries with it"


def test_metadata_has_only_settings_that_differ_from_the_model(evaluated, toy, gigaword):
    found = evaluated(toy, gigaword, "gigaword")
    assert dict(metadata(found))["model"].endswith("threads 1")
    assert found.as_json()["model"]["changed_settings"] == {}
    assert found.as_json()["model"]["decode"]["beam_size"] == 4
    found = evaluated(toy, gigaword, "gigaword", decoding={"beam": 2, "max_words": 9})
    assert dict(metadata(found))["model"].endswith("threads 1, beam_size 2, max_words 9")
    assert found.as_json()["model"]["changed_settings"] == {"beam_size": 2, "max_words": 9}


def test_unknown_model_lists_the_models():
    message = "no model 'nwes'; bundled models: .*; baselines: prefix, lead"
    with pytest.raises(ArtifactError, match=message):
        load_system("nwes", "gigaword")


def test_unknown_protocol_suggests_the_nearest(toy):
    for model in ("prefix", str(toy)):
        with pytest.raises(ConfigError, match="no protocol 'duc2005'; did you mean 'duc200"):
            load_system(model, "duc2005")


@pytest.mark.parametrize(
    ("option", "arguments"),
    [
        ("beam", {"decoding": {"beam": 2}}),
        ("threads", {"threads": 1}),
        ("precision", {"precision": "int8"}),
    ],
)
def test_baseline_rejects_decoding_options(option, arguments):
    with pytest.raises(
        ConfigError, match=f"^prefix: the baseline has no such option; remove {option}$"
    ):
        load_system("prefix", "gigaword", **arguments)


def test_own_data_in_another_language_is_scored_by_unicode_words(tmp_path, read):
    path = tmp_path / "de.jsonl"
    pair = {
        "text": "Am 3. Oktober erhöht die Stadt die Gebühren für den Müll. Der Rat ist dafür.",
        "headline": "Stadt erhöht die Gebühren",
    }
    path.write_text(json.dumps(pair) + "\n")
    data = read(path)
    assert data.language == "de"
    system = load_system("lead", "unicode", language=data.language)
    result = evaluate(system, data, "unicode")
    assert result.summaries[0].text.endswith("für den Müll.")
    assert result.rouge["rouge-1"].recall.value == 1.0
    rows = dict(metadata(result))
    assert "raw text in German" in rows["data"]
    assert "warning" not in rows
    rows = dict(metadata(evaluate(system, data, "gigaword")))
    assert "ROUGE-1.5.5 compares ASCII letters only" in rows["warning"]
