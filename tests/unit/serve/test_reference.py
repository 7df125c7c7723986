"""The API described: as a schema, and as a page that loads nothing from elsewhere."""

import re

from readagain.serve.app import build_app
from readagain.serve.settings import RequestLimits, ServeSettings


def schema(models, **settings):
    return build_app(ServeSettings(**settings), models).openapi()


def test_the_schema_says_the_limits_of_this_server(models):
    described = schema(models, limits=RequestLimits(max_texts=7, max_chars=99))
    texts = described["components"]["schemas"]["SummarizeRequest"]["properties"]["texts"]
    assert (texts["minItems"], texts["maxItems"]) == (1, 7)
    assert texts["items"]["maxLength"] == 99


def test_the_schema_names_our_shape_of_errors_and_no_other(models):
    described = schema(models)
    assert "HTTPValidationError" not in described["components"]["schemas"]
    responses = described["paths"]["/v1/summarize"]["post"]["responses"]
    assert set(responses) == {"200", "default"}
    assert "ErrorReply" in str(responses["default"])


def test_the_schema_asks_for_a_key_where_one_is_needed(models):
    assert "security" not in schema(models)["paths"]["/v1/summarize"]["post"]
    described = schema(models, api_keys=("k" * 16,))
    assert described["paths"]["/v1/summarize"]["post"]["security"] == [{"key": []}]
    assert "security" not in described["paths"]["/healthz"]["get"]


def test_the_page_names_every_route_shape_and_field(ask, models):
    page = ask("GET", "/docs").text
    described = schema(models)
    for path in described["paths"]:
        assert path in page
    for name, shape in described["components"]["schemas"].items():
        assert f'<h3 id="{name}">' in page
        for field in shape.get("properties", {}):
            assert f"<code>{field}</code>" in page


def test_the_page_shows_what_to_type_for_the_server_it_comes_from(ask):
    page = ask("GET", "/docs", headers={"Host": "headlines.example:81"}).text
    assert "curl -s http://headlines.example:81/v1/summarize" in page
    page = ask("GET", "/docs", headers={"Host": "<script>x"}).text
    assert "<script" not in page


def test_the_page_lists_every_error(ask):
    page = ask("GET", "/docs").text
    for code in ("bad_json", "unauthorized", "slow_body", "queue_full", "stopping", "deadline"):
        assert f"<code>{code}</code>" in page


def test_the_page_loads_nothing_from_elsewhere(ask):
    page = ask("GET", "/docs").text
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert loaded == ["static/icon.svg", "docs/style.css", "openapi.json", "."]
    assert "<script" not in page
    assert ask("GET", "/docs/style.css").headers["content-type"].startswith("text/css")


def test_links_within_the_page_lead_somewhere(ask):
    page = ask("GET", "/docs").text
    linked = set(re.findall(r'href="#([^"]+)"', page))
    assert linked
    assert linked <= set(re.findall(r'id="([^"]+)"', page))
