"""OpenAPI schema and its page."""

from readagain.serve.app import build_app
from readagain.serve.settings import RequestLimits, ServeSettings


def schema(models, **settings):
    return build_app(ServeSettings(**settings), models).openapi()


def test_schema_contains_limits_of_server(models):
    document = schema(models, limits=RequestLimits(max_texts=7, max_chars=99))
    texts = document["components"]["schemas"]["SummarizeRequest"]["properties"]["texts"]
    assert (texts["minItems"], texts["maxItems"]) == (1, 7)
    assert "up to the limit of characters" in texts["description"]


def test_schema_has_one_error_response(models):
    document = schema(models)
    assert "HTTPValidationError" not in document["components"]["schemas"]
    responses = document["paths"]["/v1/summarize"]["post"]["responses"]
    assert set(responses) == {"200", "default"}
    assert "ErrorResponse" in str(responses["default"])


def test_schema_requires_key_only_where_needed(models):
    assert "security" not in schema(models)["paths"]["/v1/summarize"]["post"]
    document = schema(models, api_keys=("k" * 16,))
    assert document["paths"]["/v1/summarize"]["post"]["security"] == [{"HTTPBearer": []}]
    assert "security" not in document["paths"]["/healthz"]["get"]


def test_docs_page_shows_the_schema(request_once):
    response = request_once("GET", "/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert '<a href="openapi.json">' in response.text
    assert "<code>POST /v1/chat/completions</code>" in response.text
    assert "<dt><code>texts</code> (required)</dt>" in response.text
    assert "https://" not in response.text
    assert "http" not in response.headers["content-security-policy"]
    assert request_once("GET", "/openapi.json").json()["info"]["title"] == "readagain"
