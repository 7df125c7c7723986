"""docs/serving.md names what there is: routes, errors, metrics, limits, fields."""

import re
from pathlib import Path

import pytest

from readagain.serve.app import build_app
from readagain.serve.refusals import ApiError
from readagain.serve.schema import SummarizeRequest
from readagain.serve.settings import RequestLimits, ServeSettings

PAGE = (Path(__file__).parents[3] / "docs" / "serving.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ")]


def in_a_row(*names):
    return any(all(name in row for name in names) for row in ROWS)


@pytest.mark.parametrize("refusal", ApiError.__subclasses__(), ids=lambda each: each.code)
def test_every_error_is_listed_with_its_status(refusal):
    assert in_a_row(str(refusal.status), f"`{refusal.code}`")


def test_every_metric_is_listed(ask):
    names = re.findall(r"^# TYPE (\w+) ", ask("GET", "/metrics").text, flags=re.MULTILINE)
    ours = {name for name in names if not name.endswith("_created")}
    assert len(ours) == 6
    assert [name for name in ours if not in_a_row(f"`{name}")] == []


def test_every_route_is_listed(models):
    paths = build_app(ServeSettings(), models).openapi()["paths"]
    routes = [f"`{method.upper()} {path}`" for path, methods in paths.items() for method in methods]
    assert [route for route in routes if not in_a_row(route)] == []


def test_every_field_of_a_request_is_listed():
    assert [name for name in SummarizeRequest.model_fields if not in_a_row(f"`{name}`")] == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [("max_wait_ms", 3), ("max_queue", 256), ("max_requests", 256), ("timeout_s", 10)],
)
def test_limits_are_given_as_they_are(name, shown):
    assert getattr(RequestLimits(), name) == shown
    assert f"`--{name.replace('_', '-')}` ({shown})" in PAGE
