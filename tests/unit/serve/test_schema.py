"""Requests and replies as JSON."""

import pytest
from pydantic import ValidationError

from readagain.engine.summarizer import SummarizeOptions
from readagain.serve.schema import SummarizeRequest


def test_a_request_can_ask_for_whatever_the_summarizer_can():
    asked = set(SummarizeRequest.model_fields) - {"texts", "model"}
    assert asked == set(SummarizeOptions.__annotations__)
    assert set(SummarizeRequest(texts=["A storm."]).options()) == asked


@pytest.mark.parametrize(
    "wrong", [{"beam": "3"}, {"beam": True}, {"explain": 1}, {"beams": 3}, {"texts": "A storm."}]
)
def test_nothing_in_a_request_is_guessed(wrong):
    with pytest.raises(ValidationError):
        SummarizeRequest.model_validate({"texts": ["A storm."], **wrong})
