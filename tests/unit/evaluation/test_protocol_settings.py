"""Decoding settings of the protocols."""

from readagain.config.options import override_decode
from readagain.config.schema import DecodeSpec
from readagain.engine.summarizer import Summarizer
from readagain.evaluation.network import PROTOCOL_SETTINGS
from readagain.evaluation.systems import load_system
from readagain.rouge.options import PROTOCOLS


def test_every_protocol_has_decoding_settings():
    assert PROTOCOL_SETTINGS.keys() == PROTOCOLS.keys()


def test_duc_settings_limit_bytes_as_scored():
    for name in ("duc2003", "duc2004"):
        assert PROTOCOL_SETTINGS[name]["max_bytes"] == PROTOCOLS[name].options.max_bytes == 75


def test_duc_settings_use_recall_for_mbr():
    for name, settings in PROTOCOL_SETTINGS.items():
        decode = override_decode(DecodeSpec(consensus=0.3), settings)
        assert (decode.consensus_by == "recall") == (PROTOCOLS[name].main_score == "recall")
        assert decode.consensus == 0.3


def test_gigaword_keeps_the_settings_of_the_model():
    assert PROTOCOL_SETTINGS["gigaword"] == {}


def test_bundled_model_has_benchmark_settings_and_reports_them():
    decode = load_system("news", "gigaword", threads=1).describe()["decode"]
    assert decode["style"] == "newswire (tokenized text) or close (raw text)"
    assert decode["consensus"] == 0.4
    own = load_system("news", "unicode", threads=1).describe()["decode"]
    assert (own["style"], own["consensus"]) == ("faithful", 0.0)


def test_benchmark_style_depends_on_the_form_of_the_text(monkeypatch):
    styles = []

    def summarize(self, texts, **options):
        styles.append(options["style"])
        return iter(())

    system = load_system("news", "gigaword", threads=1)
    monkeypatch.setattr(Summarizer, "summarize", summarize)
    for is_tokenized in (True, False):
        assert list(system.summarize([], is_tokenized=is_tokenized)) == []
    assert styles == ["newswire", "close"]
