"""Schemas of requests."""

import pytest
from pydantic import ValidationError

from readagain.config.options import OPTIONS
from readagain.serve.schemas import SummarizeRequest


def test_request_has_every_option():
    options = set(SummarizeRequest.model_fields) - {"texts", "model"}
    assert options == set(OPTIONS)
    assert set(SummarizeRequest(texts=["A storm."]).options()) == options


@pytest.mark.parametrize("name", OPTIONS)
def test_request_field_has_help_and_default_of_its_option(name):
    field = SummarizeRequest.model_fields[name]
    assert (field.description, field.default) == (OPTIONS[name].help, OPTIONS[name].default)


@pytest.mark.parametrize(
    "invalid", [{"beam": "3"}, {"beam": True}, {"explain": 1}, {"beams": 3}, {"texts": "A storm."}]
)
def test_request_refuses_conversions_and_unknown_fields(invalid):
    with pytest.raises(ValidationError):
        SummarizeRequest.model_validate({"texts": ["A storm."], **invalid})
