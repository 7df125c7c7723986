"""docs/serving.md lists all routes, errors, metrics, limits and fields."""

import re
from pathlib import Path

import pytest

from readagain.serve.app import build_app
from readagain.serve.errors import ERRORS
from readagain.serve.schemas import SummarizeRequest
from readagain.serve.settings import RequestLimits, ServeSettings

PAGE = (Path(__file__).parents[3] / "docs" / "serving.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ")]


def is_in_one_row(*names):
    return any(all(name in row for name in names) for row in ROWS)


@pytest.mark.parametrize("code", ERRORS)
def test_docs_list_every_error(code):
    assert is_in_one_row(str(ERRORS[code]), f"`{code}`")


def test_docs_list_every_metric(request_once):
    names = re.findall(r"^# TYPE (\w+) ", request_once("GET", "/metrics").text, flags=re.MULTILINE)
    ours = {name for name in names if not name.endswith("_created")}
    assert len(ours) == 6
    assert [name for name in ours if not is_in_one_row(f"`{name}")] == []


def test_docs_list_every_route(models):
    paths = build_app(ServeSettings(), models).openapi()["paths"]
    routes = [f"`{method.upper()} {path}`" for path, methods in paths.items() for method in methods]
    assert [route for route in routes if not is_in_one_row(route)] == []


def test_docs_list_every_request_field():
    assert [name for name in SummarizeRequest.model_fields if not is_in_one_row(f"`{name}`")] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_wait_ms", 3),
        ("max_queue", 256),
        ("max_requests", 256),
        ("max_connections", 800),
        ("timeout_s", 10),
    ],
)
def test_docs_give_default_limits(name, value):
    assert getattr(RequestLimits(), name) == value
    assert f"`--{name.replace('_', '-')}` ({value})" in PAGE
