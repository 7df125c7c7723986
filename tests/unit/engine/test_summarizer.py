"""`Summarizer`: inputs, results, and independence of batches and threads."""

import json
import pickle
import shutil
import threading
from dataclasses import replace
from html import escape, unescape
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from readagain.config.options import OPTIONS
from readagain.config.override import override
from readagain.engine import confidence
from readagain.engine.sessions import open_session
from readagain.engine.summarizer import MAX_TEXTS, WINDOW, Summarizer
from readagain.engine.warnings import SummaryWarning
from readagain.errors import ArgumentError, ArtifactError, ConfigError
from readagain.model_dir import SOURCE_VOCAB_FILE, ModelDir
from readagain.storage.bundled import bundled_models
from readagain.storage.model_manifest import write_model_files
from readagain.text.vocab import Vocab

POLICE = "Police in Ghent said on Monday that 12 people crossed the old bridge."
FERRY = 'A storm hit the harbour, and the ferry "Élan" was late by 30 percent.'
MUSEUM = "The museum (opened in 1904) closes."
TEXTS = [POLICE, FERRY, MUSEUM, "Talks.", "", POLICE + " " + FERRY, "new school opens in village"]


def texts_of(summaries):
    """Return the printed texts of summaries."""
    return [summary.text for summary in summaries]


def test_result_type_follows_the_input_type(summarizer):
    summary = summarizer.summarize(POLICE)
    summaries = summarizer.summarize([POLICE, FERRY])
    stream = summarizer.summarize(iter([POLICE, FERRY]))
    assert str(summary) == summary.text == summaries[0].text
    assert isinstance(summaries, list)
    assert next(stream).text == summary.text
    assert len(list(stream)) == 1


class Column:
    """Sequence that is not a list, such as a column of a table."""

    def __init__(self, texts):
        self._texts = texts

    def __len__(self):
        return len(self._texts)

    def __iter__(self):
        return iter(self._texts)


def test_column_is_summarized_to_a_list(summarizer):
    summaries = summarizer.summarize(Column([POLICE, FERRY]))
    assert summaries == summarizer.summarize([POLICE, FERRY])


def test_iterable_without_a_length_stays_lazy(summarizer):
    """A progress bar around a generator has `__len__`, which raises."""
    stream = summarizer.summarize(Column(f"School {number} opens." for number in range(2)))
    assert len(list(stream)) == 2
    assert iter(stream) is stream


def test_stream_is_read_lazily(summarizer):
    numbers = count()
    endless = (f"School {next(numbers)} opens." for _ in count())
    assert len(list(islice(summarizer.summarize(endless, max_words=2), 3))) == 3
    assert next(numbers) <= WINDOW


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_summary_does_not_depend_on_other_texts(toy, precision):
    summarizer = Summarizer.load(toy, threads=1, precision=precision)
    alone = [summarizer.summarize(text).text for text in TEXTS]
    assert texts_of(summarizer.summarize(TEXTS)) == alone
    assert texts_of(summarizer.summarize(TEXTS[::-1])) == alone[::-1]
    assert texts_of(summarizer.summarize(TEXTS * 5)) == alone * 5


def test_summaries_do_not_depend_on_threads(toy, summarizer):
    with_two_threads = Summarizer.load(toy, threads=2)
    assert texts_of(with_two_threads.summarize(TEXTS)) == texts_of(summarizer.summarize(TEXTS))


@pytest.mark.parametrize("precision", ["int8", "float32"])
@pytest.mark.parametrize("options", [{}, {"n_best": 3, "max_bytes": 40}, {"explain": True}])
def test_summaries_do_not_depend_on_parallel_batches(toy, precision, options):
    texts = TEXTS * (2 * MAX_TEXTS // len(TEXTS))  # enough for parallel batches
    sequential = Summarizer.load(toy, threads=1, precision=precision)
    parallel = Summarizer.load(toy, threads=2, precision=precision)
    expected_summaries = sequential.summarize(texts, **options)
    from_list = parallel.summarize(texts, **options)
    from_stream = list(parallel.summarize(iter(texts), **options))
    for summaries in (from_list, from_stream):
        assert texts_of(summaries) == texts_of(expected_summaries)
        for summary, expected in zip(summaries, expected_summaries, strict=True):
            assert summary.score == pytest.approx(expected.score, abs=1e-5)
            assert texts_of(summary.alternatives) == texts_of(expected.alternatives)
            if options == {"explain": True} and summary.words:
                explanation, expected = summary.explanation, expected.explanation
                assert_allclose(explanation.attention, expected.attention, atol=1e-5)
                assert_allclose(explanation.importance, expected.importance, atol=1e-5)


def test_parallel_session_is_opened_lazily(toy, session_threads):
    summarizer = Summarizer.load(toy, threads=2)
    summarizer.summarize(POLICE)
    summarizer.summarize(TEXTS)
    assert session_threads == [2, 1]  # of the step session and the encoder session
    stream = summarizer.with_decode(beam_size=2).summarize(iter([POLICE] * 40))
    assert session_threads == [2, 1]
    next(stream)
    summarizer.summarize([POLICE] * 40)
    assert session_threads == [2, 1, 1]


@pytest.mark.parametrize(
    ("threads", "sessions"), [(1, [1, 1]), (2, [2, 1, 1]), (3, [3, 1, 1]), (8, [8, 2, 2])]
)
def test_parallel_batches_are_at_most_four(toy, session_threads, monkeypatch, threads, sessions):
    monkeypatch.setattr("readagain.engine.summarizer.num_threads", lambda threads: threads)
    Summarizer.load(toy, threads=threads).summarize([POLICE] * 64, beam=1, max_words=1)
    assert session_threads == sessions


@pytest.fixture
def session_threads(monkeypatch):
    """Return a list that records the number of threads of each opened session."""
    threads = []

    def open_and_record(*arguments, **options):
        threads.append(options["threads"])
        return open_session(*arguments, **options)

    monkeypatch.setattr("readagain.engine.onnx_model.open_session", open_and_record)
    return threads


@pytest.mark.parametrize("parallel_batches", [False, True])
def test_summarizer_is_thread_safe(toy, summarizer, parallel_batches):
    texts = TEXTS * 5 if parallel_batches else TEXTS
    shared = Summarizer.load(toy, threads=2) if parallel_batches else summarizer
    expected = texts_of(summarizer.summarize(texts))
    results = {}

    def summarize_three_times(name):
        results[name] = [texts_of(shared.summarize(texts)) for _ in range(3)]

    threads = [threading.Thread(target=summarize_three_times, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {name: [expected] * 3 for name in range(4)}


def test_copied_words_are_printed_as_in_the_text(summarizer):
    summary = summarizer.summarize(POLICE)
    copied = [word for word in summary.words if word.origin == "copied"]
    assert "ghent" in [word.norm for word in copied]
    assert "Ghent" in summary.text
    assert "12" in summary.text
    for word in copied:
        assert POLICE[word.source.start : word.source.end].lower().replace("12", "##") == word.norm


def test_copied_entities_keep_their_source_spans(summarizer):
    text = "&quot;Café&nbsp;Müller&quot; &#233;l&#233; &Eacute;tat caf&eacute;s"
    summary = summarizer.summarize(text, min_words=6, max_words=6, case="plain")
    copied = [
        text[word.source.start : word.source.end]
        for word in summary.words
        if word.origin == "copied"
    ]
    assert any("&" in word for word in copied)
    assert all(unescape(word) in summary.text for word in copied)
    assert "&" not in summary.text


def test_generated_number_takes_digits_of_the_source(summarizer):
    numbers = "The council bought 250 ferries, 42 trains and 7 schools for 99.5 million."
    for summary in summarizer.summarize([numbers, FERRY, POLICE], n_best=4):
        assert not any("#" in text for text in texts_of([summary, *summary.alternatives]))


def test_generated_words_have_no_source(summarizer):
    words = [word for text in TEXTS for word in summarizer.summarize(text).words]
    generated = [word for word in words if word.origin == "generated"]
    assert generated
    assert {word.source for word in generated} == {None}
    assert all(word.log_prob <= 0 for word in words)


@pytest.mark.parametrize("num_words", [1, 3, 7])
def test_word_limits_are_kept(summarizer, num_words):
    limits = {"min_words": num_words, "max_words": num_words}
    for summary in summarizer.summarize([POLICE, FERRY], **limits):
        assert len(summary.words) == num_words


def test_max_words_may_be_below_the_models_minimum(toy):
    summarizer = Summarizer.load(toy, threads=1)
    summarizer.run = override(summarizer.run, {"decode.min_words": 6})
    assert len(summarizer.summarize(POLICE).words) >= 6
    assert len(summarizer.summarize(POLICE, max_words=2).words) == 2


@pytest.mark.parametrize("max_bytes", [1, 5, 12, 40, 75])
def test_max_bytes_is_kept_at_a_word_boundary(summarizer, max_bytes):
    for text in TEXTS:
        summary = summarizer.summarize(text, max_bytes=max_bytes)
        assert len(summary.text.encode()) <= max_bytes
        for word in summary.words:
            if word.origin == "copied":
                source = text[word.source.start : word.source.end]
                assert source.lower() in summary.text.lower()


@pytest.mark.parametrize("min_bytes", [10, 30, 40])
def test_min_bytes_is_kept_with_a_maximum(summarizer, min_bytes):
    for text in filter(None, TEXTS):
        summary = summarizer.summarize(text, min_bytes=min_bytes, max_bytes=75)
        assert sum(len(word.norm.encode()) for word in summary.words) >= min_bytes
        assert len(summary.text.encode()) <= 75


def test_min_bytes_is_kept_without_a_maximum(summarizer):
    options = {"min_words": 1, "max_words": 20}
    num_bytes = sum(len(word.norm) for word in summarizer.summarize(POLICE, **options).words)
    longer = summarizer.summarize(POLICE, min_bytes=num_bytes + 1, **options)
    assert sum(len(word.norm) for word in longer.words) > num_bytes


def test_max_bytes_may_be_below_the_models_minimum(toy):
    summarizer = Summarizer.load(toy, threads=1)
    summarizer.run = override(summarizer.run, {"decode.min_bytes": 50})
    assert len(summarizer.summarize(POLICE).text.encode()) >= 50
    assert len(summarizer.summarize(POLICE, max_bytes=20).text.encode()) <= 20


def test_alternatives_are_sorted_and_differ(summarizer):
    summary = summarizer.summarize(POLICE, n_best=4)
    scores = [summary.score, *(other.score for other in summary.alternatives)]
    assert scores == sorted(scores, reverse=True)
    assert len({summary.text, *texts_of(summary.alternatives)}) == 4
    assert summary.text == summarizer.summarize(POLICE).text


def test_larger_beam_is_at_least_as_probable(summarizer):
    greedy = summarizer.summarize(POLICE, beam=1, min_words=4, max_words=4)
    wide = summarizer.summarize(POLICE, beam=16, min_words=4, max_words=4)
    assert wide.score >= greedy.score


def test_explanation_has_attention_and_importance(summarizer):
    summary = summarizer.summarize([MUSEUM, POLICE], explain=True)[1]
    explanation = summary.explanation
    source_words = [POLICE[word.start : word.end] for word in explanation.source_words]
    assert source_words[:3] == ["Police", "in", "Ghent"]
    assert explanation.attention.shape == (len(summary.words) + 1, len(source_words))
    assert explanation.attention.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert explanation.importance.shape == (len(source_words),)
    assert abs(explanation.importance).max() <= 1
    assert explanation.importance_kind == "weight"
    assert summarizer.summarize(POLICE).explanation is None


@pytest.mark.parametrize("text", ["", " \n\t ", "...", "?! — “”", "🎉🎉", "\u200b", "\ud800"])
def test_text_without_words_has_an_empty_summary(summarizer, text):
    summary = summarizer.summarize(text)
    assert (summary.text, summary.words, summary.read_sentences) == ("", (), 0)


def test_decoration_before_the_text_is_skipped(summarizer):
    decorated = summarizer.summarize(f"* * *\n\n• • •\n\n=====\n\n{POLICE}")
    assert decorated.text == summarizer.summarize(POLICE).text
    assert decorated.read_sentences == 1


def test_long_article_is_truncated(summarizer):
    article = POLICE + (" " + FERRY) * 2_000
    summary = summarizer.summarize(article)
    assert summary.text == summarizer.summarize(POLICE).text
    assert (summary.read_sentences, summary.truncated) == (1, True)
    assert summarizer.summarize(POLICE).truncated is False


def test_long_sentence_is_truncated(summarizer):
    assert summarizer.summarize("old bridge " * 5_000).truncated
    assert summarizer.summarize("bridge" * 50_000).truncated is False


def test_other_scripts_are_copied_unchanged(summarizer):
    text = "東京 Ελλάδα नमस्ते مرحبا cafe\u0301"
    summary = summarizer.summarize(text, min_words=5, max_words=5, case="plain")
    sources = [word.source for word in summary.words if word.copied_from is not None]
    copied = [text[source.start : source.end] for source in sources]
    assert len(copied) >= 2
    assert all(word in summary.text for word in copied)


def test_tokenized_text_has_a_tokenized_summary(summarizer):
    summary = summarizer.summarize("police said ## people crossed -lrb- old -rrb-", tokenized=True)
    words = summary.text.split(" ")
    assert words == [word.norm for word in summary.words]
    assert "##" in words
    assert any(word.startswith("-") for word in words)


def test_special_tokens_are_never_printed(summarizer):
    text = "<unk> </s> <s> <pad> police </s> <unk>"
    for summary in summarizer.summarize([text], tokenized=True, n_best=4):
        assert not any("<" in printed for printed in texts_of([summary, *summary.alternatives]))


def test_case_option_is_applied(summarizer):
    sentence = summarizer.summarize(FERRY).text
    headline = summarizer.summarize(FERRY, case="headline").text
    assert sentence[0].isupper()
    assert sentence.lower() == headline.lower()
    assert sum(c.isupper() for c in headline) > sum(c.isupper() for c in sentence)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam is 0; expected 1 to 1000"),
        ({"max_words": 0}, "max_words is 0; expected 1 to 1000"),
        ({"max_bytes": -1}, "max_bytes is -1; expected 0 or more"),
        ({"beam": 2, "n_best": 3}, "n_best is 3; expected 1 to 2, the beam size"),
        (
            {"min_bytes": 9, "max_bytes": 3},
            "min_bytes is 9; expected at most max_bytes",
        ),
        (
            {"min_words": 9, "max_words": 3},
            "min_words is 9; expected at most max_words",
        ),
        ({"case": "upper"}, "case is 'upper'; expected sentence, headline or plain"),
    ],
)
def test_invalid_options_are_reported(summarizer, options, message):
    for texts in (POLICE, "", iter([])):
        with pytest.raises(ArgumentError, match=f"^{message}"):
            summarizer.summarize(texts, **options)


def test_summarizer_of_a_model_name_is_refused(toy):
    for model in ("news", toy):
        with pytest.raises(ConfigError, match=r"^Summarizer: .*Summarizer\.load"):
            Summarizer(model)


def test_options_are_named_in_the_docstring():
    for name in OPTIONS:
        assert f"`{name}`" in Summarizer.summarize.__doc__


def test_non_text_is_refused(summarizer):
    with pytest.raises(ConfigError, match="a text is of type bytes; expected a string"):
        summarizer.summarize(b"police")
    with pytest.raises(ConfigError, match="a text is None; expected a string"):
        summarizer.summarize(None)


def test_non_text_in_a_list_is_refused_with_its_index(summarizer):
    with pytest.raises(ConfigError, match=r"texts\[0\] is of type bytes; expected a string"):
        summarizer.summarize([b"police"])
    with pytest.raises(ConfigError, match=r"texts\[1\] is None; expected a string"):
        summarizer.summarize(Column([POLICE, None, FERRY]))
    stream = summarizer.summarize(text for text in (POLICE, FERRY, float("nan")))
    with pytest.raises(ConfigError, match=r"texts\[2\] is NaN, a missing value; .*fillna"):
        list(stream)
    with pytest.raises(ConfigError, match=r"texts\[0\] is of type float; expected a string"):
        summarizer.summarize([0.5])


def test_table_is_refused(summarizer):
    class Table:
        columns = ("id", "text")

        def __len__(self):
            return 1

        def __iter__(self):
            return iter(self.columns)

    with pytest.raises(ConfigError, match=r"texts is of type Table; .* texts\['text'\]"):
        summarizer.summarize(Table())
    with pytest.raises(ConfigError, match=r"texts is of type dict; .* texts\['text'\]"):
        summarizer.summarize({"text": [POLICE]})


@pytest.mark.needs_extras
@pytest.mark.parametrize("dtype", ["str", "object"])
def test_pandas_column_of_summaries_is_stored_as_text(summarizer, tmp_path, dtype):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": [POLICE, FERRY]}, index=[7, 3], dtype=dtype)
    frame["headline"] = summarizer.summarize(frame.text)
    frame["headline"] = frame["headline"].astype(dtype)
    frame.to_parquet(tmp_path / "a.parquet")
    stored = pandas.read_parquet(tmp_path / "a.parquet")
    expected = texts_of(summarizer.summarize([POLICE, FERRY]))
    assert stored.headline.tolist() == expected
    assert set(map(type, stored.headline)) == {str}
    assert (frame.headline == expected[0]).tolist() == [True, False]
    with pytest.raises(ConfigError, match="texts is of type DataFrame"):
        summarizer.summarize(frame)


def test_summary_is_a_string_with_attributes(summarizer):
    summary = summarizer.summarize(POLICE, n_best=2)
    assert isinstance(summary, str)
    assert type(str(summary)) is str
    assert json.loads(json.dumps([summary])) == [summary.text]
    assert " ".join([summary, "end"]) == f"{summary.text} end"
    assert {summary: 1}[summary.text] == 1
    assert summary == summary.text
    assert summary != replace(summary, score=summary.score + 1)  # the same text
    copied = pickle.loads(pickle.dumps(summary))
    assert copied == summary
    assert copied.alternatives == summary.alternatives
    assert replace(summary, text="other").upper() == "OTHER"


@pytest.mark.needs_extras
def test_arrow_column_is_summarized_row_by_row(summarizer):
    arrow = pytest.importorskip("pyarrow")
    column = arrow.chunked_array([[POLICE], [FERRY]])
    summaries = summarizer.summarize(column)
    assert texts_of(summaries) == texts_of(summarizer.summarize([POLICE, FERRY]))
    assert arrow.array(summaries).to_pylist() == texts_of(summaries)
    with pytest.raises(ConfigError, match=r"texts\[1\] is None"):
        summarizer.summarize(arrow.array([POLICE, None]))


def test_summarizer_is_pickled_by_its_model(toy, summarizer, monkeypatch):
    monkeypatch.chdir(toy.parent)
    loaded = Summarizer.load("toy", threads=1, precision="float32").with_decode(max_words=4)
    content = pickle.dumps(loaded)
    assert len(content) < 2000
    monkeypatch.chdir(toy)  # the pickle has an absolute path
    unpickled = pickle.loads(content)
    assert repr(unpickled) == repr(loaded)
    assert unpickled.run == loaded.run
    assert unpickled.summarize(POLICE) == loaded.summarize(POLICE)


def test_bundled_model_is_pickled_by_name():
    """The package may have another path where the summarizer is unpickled."""
    content = pickle.dumps(Summarizer.load("papers", threads=1))
    assert str(bundled_models()["papers"].parent).encode() not in content


def test_model_in_memory_cannot_be_pickled(toy, summarizer):
    model = ModelDir.open(toy)
    other = Summarizer(model.run, model.source_vocab, model.vocab, summarizer._model)
    with pytest.raises(ConfigError, match=r"cannot be pickled; .* Summarizer\.load"):
        pickle.dumps(other)
    assert repr(other) == f"<Summarizer '{model.run.title}', English>"


def test_summarizer_repr_names_model_and_precision(toy):
    loaded = Summarizer.load(toy, threads=1)
    assert repr(loaded) == f"<Summarizer '{toy}', English, int8>"


def test_summary_dict_is_plain_json(summarizer):
    summary = summarizer.summarize(POLICE, n_best=2, explain=True)
    content = summary.to_dict()
    assert content == json.loads(json.dumps(content))
    assert content["text"] == summary.text
    assert content["alternatives"][0]["text"] == summary.alternatives[0].text
    assert content["words"][0]["surface"] == summary.words[0].surface
    assert content["explanation"]["source_words"][0] == {"norm": "police", "start": 0, "end": 6}
    assert content["explanation"]["attention"] == summary.explanation.attention.tolist()


def test_summary_repr_is_short(summarizer):
    assert repr(summarizer.summarize("It rains.")) == (
        "Summary('It rains', confidence=None, warnings=['too_short'])"
    )


def test_summary_html_is_escaped(summarizer):
    text = "Police said <b>on Monday</b> that the bridge & the road were closed after the storm."
    summary = replace(
        summarizer.summarize(text, n_best=2),
        text="<script>bridge & road</script>",
        confidence=0.5,
        warnings=(SummaryWarning("truncated", "part of the text"),),
    )
    html = summary._repr_html_()
    assert "<strong>&lt;script&gt;bridge &amp; road&lt;/script&gt;</strong>" in html
    assert "<small>confidence 0.50; part of the text</small>" in html
    assert f'<ol start="2"><li>{escape(summary.alternatives[0].text)}</li></ol>' in html


@pytest.fixture
def fail_crossed(monkeypatch):
    """Replace all checks by one, which headlines that end with 'crossed' fail."""

    def failed_checks(headline, source, language):
        return ["cut_off"] if headline[-1].norm == "crossed" else []

    monkeypatch.setattr(confidence, "failed_checks", failed_checks)


@pytest.mark.parametrize("n_best", [1, 3])
def test_check_penalty_ranks_the_whole_beam(summarizer, fail_crossed, n_best):
    best = summarizer.summarize(POLICE, n_best=8, beam=8)
    penalized = [
        (summary.score - 0.5 * summary.text.endswith("crossed"), summary.text)
        for summary in (best, *best.alternatives)
    ]
    expected = sorted(penalized, key=lambda pair: -pair[0])[:n_best]
    reranked = summarizer.with_decode(check_penalty=0.5).summarize(POLICE, n_best=n_best, beam=8)
    summaries = (reranked, *reranked.alternatives)
    assert [(summary.score, summary.text) for summary in summaries] == expected
    assert reranked.text != best.text


def test_check_penalty_explains_the_selected_summary(summarizer, fail_crossed):
    best = summarizer.summarize(POLICE, n_best=8, beam=8, explain=True)
    reranked = summarizer.with_decode(check_penalty=0.5).summarize(POLICE, beam=8, explain=True)
    assert reranked.text != best.text
    assert not np.array_equal(reranked.explanation.attention, best.explanation.attention)


def test_mbr_scores_are_sorted_and_between_0_and_1(toy):
    model = Summarizer.load(toy, threads=1).with_decode(consensus=1.0, word_reward=0.05)
    summary = model.summarize(POLICE, n_best=4, beam=4)
    scores = [summary.score, *(other.score for other in summary.alternatives)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 4
    assert all(0 <= score <= 1 for score in scores)


def test_missing_graphs_suggest_export(toy_copy):
    manifest = toy_copy / "model.json"
    content = manifest.read_text().replace("step.", "stop.")
    manifest.write_text(content)
    for name in ("float32", "int8"):
        (toy_copy / f"step.{name}.onnx").rename(toy_copy / f"stop.{name}.onnx")
    with pytest.raises(ArtifactError, match=r"no int8 graphs; create them with: readagain ex"):
        Summarizer.load(toy_copy)


def test_missing_graphs_without_weights_are_reported():
    with pytest.raises(ArtifactError, match=r"no float32 graphs; it has no weights to export"):
        Summarizer.load("news", precision="float32")


def test_unknown_precision_is_refused(toy):
    with pytest.raises(ConfigError, match="precision is 'int4'; expected int8 or float32"):
        Summarizer.load(toy, precision="int4")


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=120))
def test_any_unicode_is_summarized_within_its_limits(summarizer, text):
    summary = summarizer.summarize(text, max_words=5, max_bytes=30, beam=2)
    assert len(summary.words) <= 5
    assert len(summary.text.encode("utf-8", "surrogatepass")) <= 30
    assert not any(c.isdigit() for c in summary.text) or any(c.isdigit() for c in text)
    for word in summary.words:
        if word.origin == "copied":
            assert text[word.source.start : word.source.end].strip()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=6))
def test_any_list_equals_single_summaries(summarizer, texts):
    together = summarizer.summarize(texts, max_words=4, beam=2)
    alone = [summarizer.summarize(text, max_words=4, beam=2) for text in texts]
    assert texts_of(together) == texts_of(alone)


@pytest.fixture(scope="session")
def styled(toy, tmp_path_factory):
    """Return the toy model with the style token `<loose>` as last word of its source vocabulary."""
    path = Path(shutil.copytree(toy, tmp_path_factory.mktemp("styled") / "toy"))
    words = ModelDir.open(path).source_vocab.words
    write_model_files(path, {SOURCE_VOCAB_FILE: Vocab([*words[:-1], "<loose>"]).save})
    return Summarizer.load(path, threads=1)


def test_style_changes_what_the_model_reads(styled):
    text = "The harbour of Ghent reopened on Monday after a long winter."
    assert styled.summarize(text, style="loose").score != styled.summarize(text).score


def test_explanation_leaves_the_style_token_out(styled):
    summary = styled.summarize("The harbour of Ghent reopened.", style="loose", explain=True)
    explanation = summary.explanation
    assert [word.norm for word in explanation.source_words][-1] == "."
    assert explanation.attention.shape == (len(summary.words) + 1, len(explanation.source_words))
    assert (
        explanation.attention.sum(axis=1).max() < 1
    )  # the style token has the remaining attention


@pytest.mark.parametrize(
    ("model", "message"),
    [("styled", "style is 'free'; expected loose"), ("summarizer", "this model has no styles")],
)
def test_unknown_style_is_refused(model, message, request):
    with pytest.raises(ArgumentError, match=message):
        request.getfixturevalue(model).summarize("A storm passed over Ghent.", style="free")
