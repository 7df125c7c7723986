"""Options of `readagain serve`."""

import pytest
from typer.testing import CliRunner

from readagain.cli.main import build_app
from readagain.errors import ConfigError
from readagain.serve import server
from readagain.serve.settings import RequestLimits, ServeSettings


@pytest.fixture
def run_serve(monkeypatch):
    """Run the command; return the settings of the server and the output."""
    monkeypatch.delenv("READAGAIN_API_KEY", raising=False)

    def run(*arguments):
        served = []

        def serve(settings, announce):
            served.append(settings)
            announce("http://127.0.0.1:1")

        monkeypatch.setattr(server, "serve", serve)
        result = CliRunner().invoke(
            build_app(), ["serve", *map(str, arguments)], catch_exceptions=False
        )
        assert result.exit_code == 0
        return served[0], result

    return run


def test_serve_defaults_use_all_processors(run_serve, monkeypatch):
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 6)
    settings, result = run_serve()
    assert settings == ServeSettings(threads=6)
    assert result.stdout == "readagain serve: http://127.0.0.1:1\n"
    assert result.stderr == ""


@pytest.mark.parametrize(("workers", "threads"), [(2, 3), (4, 1), (8, 1)])
def test_workers_share_processors(run_serve, monkeypatch, workers, threads):
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 6)
    assert run_serve("--workers", workers)[0].threads == threads


def test_serve_accepts_all_options(run_serve, tmp_path, monkeypatch):
    keys = tmp_path / "keys.txt"
    keys.write_text("first-key-0123456\n")
    monkeypatch.setenv("READAGAIN_API_KEY", "second-key-012345")
    settings, _ = run_serve(
        "--host", "0.0.0.0", "--port", 80, "--model", "news", "--model", "runs/mine",
        "--workers", 2, "--threads", 3, "--max-texts", 4, "--max-chars", 5, "--max-body-bytes", 6,
        "--max-queue", 7, "--max-requests", 8, "--max-wait-ms", 9, "--timeout-s", 10,
        "--api-key-file", keys, "--cors-origin", "https://a.example",
        "--cors-origin", "https://b.example", "--max-connections", 11,
        "--allowed-host", "c.example",
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
            max_connections=11,
            max_wait_ms=9.0,
            timeout_s=10.0,
        ),
        api_keys=("first-key-0123456", "second-key-012345"),
        cors_origins=("https://a.example", "https://b.example"),
        allowed_hosts=("c.example",),
    )


def test_public_server_without_key_warns(run_serve, monkeypatch):
    _, result = run_serve("--host", "0.0.0.0")
    assert "warning: 0.0.0.0 can be reached from other machines without a key" in result.stderr
    monkeypatch.setenv("READAGAIN_API_KEY", "second-key-012345")
    assert run_serve("--host", "0.0.0.0")[1].stderr == ""


def test_key_in_environment_is_checked(run_serve, monkeypatch):
    monkeypatch.setenv("READAGAIN_API_KEY", "short")
    with pytest.raises(ConfigError, match="READAGAIN_API_KEY: key 1 is invalid"):
        run_serve()
