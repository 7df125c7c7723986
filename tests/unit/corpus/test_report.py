import json


def test_samples_are_evenly_spaced_and_normalized(jsonl, prepared):
    words = "ada bo cy dee eve fay gil hal ida jo"
    pairs = [(f"The storm {word} came to Tarn in 1987.", f"Storm {word}") for word in words.split()]
    folder = prepared(jsonl(pairs)).folder
    samples = json.loads((folder / "report.json").read_text())["samples"]
    assert [sample["pair"] for sample in samples] == [0, 2, 4, 6, 8]
    assert samples[1] == {
        "pair": 2,
        "text": ["the storm cy came to tarn in #### ."],
        "headline": "storm cy",
    }


def test_page_shows_lengths_and_splits(jsonl, prepared):
    pairs = [("The storm came to Tarn.", "Storm comes"), ("It is calm in Tarn.", "All is calm")]
    page = (prepared(jsonl(pairs)).folder / "report.md").read_text()
    assert "Words of a headline: mean 2.5, median 2, 99% at most 3, longest 3." in page
    assert "| train | 2 | 17 | 1 |" in page


def test_empty_split_has_no_section(jsonl, prepared):
    page = (prepared(jsonl()).folder / "report.md").read_text()
    assert "## train" in page
    assert "## dev" not in page


def test_report_without_train_split_has_no_coverage(jsonl, prepared):
    folder = prepared(dev_files=[jsonl()]).folder
    assert "vocabulary" not in (folder / "report.md").read_text()
    statistics = json.loads((folder / "report.json").read_text())["statistics"]["dev"]
    assert statistics["coverage"] == {}
    assert statistics["copyable_share"] > 0.5
