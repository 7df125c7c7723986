"""OpenAPI schema and the page made from it."""

import re

from readagain.serve.app import build_app
from readagain.serve.settings import RequestLimits, ServeSettings


def schema(models, **settings):
    return build_app(ServeSettings(**settings), models).openapi()


def test_schema_contains_limits_of_server(models):
    document = schema(models, limits=RequestLimits(max_texts=7, max_chars=99))
    texts = document["components"]["schemas"]["SummarizeRequest"]["properties"]["texts"]
    assert (texts["minItems"], texts["maxItems"]) == (1, 7)
    assert texts["items"]["maxLength"] == 99


def test_schema_has_one_error_response(models):
    document = schema(models)
    assert "HTTPValidationError" not in document["components"]["schemas"]
    responses = document["paths"]["/v1/summarize"]["post"]["responses"]
    assert set(responses) == {"200", "default"}
    assert "ErrorResponse" in str(responses["default"])


def test_schema_requires_key_only_where_needed(models):
    assert "security" not in schema(models)["paths"]["/v1/summarize"]["post"]
    document = schema(models, api_keys=("k" * 16,))
    assert document["paths"]["/v1/summarize"]["post"]["security"] == [{"key": []}]
    assert "security" not in document["paths"]["/healthz"]["get"]


def test_page_lists_routes_schemas_and_fields(request_once, models):
    page = request_once("GET", "/docs").text
    document = schema(models)
    for path in document["paths"]:
        assert path in page
    for name, part in document["components"]["schemas"].items():
        assert f'<h3 id="{name}">' in page
        for field in part.get("properties", {}):
            assert f"<code>{field}</code>" in page


def test_page_example_uses_host_header_escaped(request_once):
    settings = ServeSettings(api_keys=("k" * 16,))
    headers = {"Host": "headlines.example:81"}
    page = request_once("GET", "/docs", headers=headers, settings=settings).text
    assert "curl -s http://headlines.example:81/v1/summarize" in page
    page = request_once("GET", "/docs", headers={"Host": "<script>x"}, settings=settings).text
    assert "<script" not in page


def test_page_lists_error_codes(request_once):
    page = request_once("GET", "/docs").text
    for code in ("bad_json", "unauthorized", "slow_body", "queue_full", "stopping", "deadline"):
        assert f"<code>{code}</code>" in page


def test_page_loads_only_own_files(request_once):
    page = request_once("GET", "/docs").text
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert loaded == ["static/icon.svg", "docs/style.css", "openapi.json", "."]
    assert "<script" not in page
    assert request_once("GET", "/docs/style.css").headers["content-type"].startswith("text/css")


def test_page_links_have_targets(request_once):
    page = request_once("GET", "/docs").text
    linked = set(re.findall(r'href="#([^"]+)"', page))
    assert linked
    assert linked <= set(re.findall(r'id="([^"]+)"', page))
