"""`readagain serve` turns what is typed into settings."""

import pytest
from typer.testing import CliRunner

from readagain.cli.main import build_app
from readagain.errors import ConfigError
from readagain.serve import run
from readagain.serve.settings import RequestLimits, ServeSettings


@pytest.fixture
def typed(monkeypatch):
    """Type a command, and return the settings that a server would get, and what is printed."""
    monkeypatch.delenv("READAGAIN_API_KEY", raising=False)

    def type_(*arguments):
        served = []

        def serve(settings, announce):
            served.append(settings)
            announce("http://127.0.0.1:1")

        monkeypatch.setattr(run, "serve", serve)
        result = CliRunner().invoke(
            build_app(), ["serve", *map(str, arguments)], catch_exceptions=False
        )
        assert result.exit_code == 0
        return served[0], result

    return type_


def test_nothing_typed_gives_the_defaults_and_all_processors(typed, monkeypatch):
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 6)
    settings, result = typed()
    assert settings == ServeSettings(threads=6)
    assert result.stdout == "readagain serve: http://127.0.0.1:1\n"
    assert result.stderr == ""


@pytest.mark.parametrize(("workers", "threads"), [(2, 3), (4, 1), (8, 1)])
def test_workers_share_the_processors(typed, monkeypatch, workers, threads):
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 6)
    assert typed("--workers", workers)[0].threads == threads


def test_everything_can_be_set(typed, tmp_path, monkeypatch):
    keys = tmp_path / "keys.txt"
    keys.write_text("first-key-0123456\n")
    monkeypatch.setenv("READAGAIN_API_KEY", "second-key-012345")
    settings, _ = typed(
        "--host", "0.0.0.0", "--port", 80, "--model", "news", "--model", "runs/mine",
        "--workers", 2, "--threads", 3, "--max-texts", 4, "--max-chars", 5, "--max-body-bytes", 6,
        "--max-queue", 7, "--max-requests", 8, "--max-wait-ms", 9, "--timeout-s", 10,
        "--api-key-file", keys, "--cors-origin", "https://a.example",
        "--cors-origin", "https://b.example",
    )  # fmt: skip
    assert settings == ServeSettings(
        host="0.0.0.0",
        port=80,
        models=("news", "runs/mine"),
        workers=2,
        threads=3,
        limits=RequestLimits(
            max_texts=4,
            max_chars=5,
            max_body_bytes=6,
            max_queue=7,
            max_requests=8,
            max_wait_ms=9.0,
            timeout_s=10.0,
        ),
        api_keys=("first-key-0123456", "second-key-012345"),
        cors_origins=("https://a.example", "https://b.example"),
    )


def test_a_server_for_everybody_without_a_key_is_warned_about(typed, monkeypatch):
    _, result = typed("--host", "0.0.0.0")
    assert "warning: 0.0.0.0 can be reached by others, and no key is asked for" in result.stderr
    monkeypatch.setenv("READAGAIN_API_KEY", "second-key-012345")
    assert typed("--host", "0.0.0.0")[1].stderr == ""


def test_a_key_in_the_environment_is_checked(typed, monkeypatch):
    monkeypatch.setenv("READAGAIN_API_KEY", "short")
    with pytest.raises(ConfigError, match="READAGAIN_API_KEY: key 1 cannot be used"):
        typed()
