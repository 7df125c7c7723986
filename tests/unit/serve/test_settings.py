"""Checks of the server's settings, sockets and API keys."""

import socket
import sys
from pathlib import Path

import pytest

from readagain.cli.options import as_option
from readagain.errors import ArgumentError, ArtifactError, ConfigError, MissingExtraError
from readagain.serve.server import serve
from readagain.serve.settings import (
    RequestLimits,
    ServeSettings,
    check_api_keys,
    read_api_keys,
)
from readagain.serve.sockets import bind, reserve, url

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"


@pytest.mark.parametrize(
    ("invalid", "expected"),
    [
        ({"max_texts": 0}, "max_texts is 0; expected 1 or more"),
        ({"max_chars": 0}, "max_chars is 0; expected 1 or more"),
        ({"max_body_bytes": -1}, "max_body_bytes is -1; expected 1 or more"),
        ({"max_requests": 0}, "max_requests is 0; expected 1 or more"),
        ({"max_wait_ms": 1001.0}, "max_wait_ms is 1001.0; expected 0 to 1000"),
        ({"timeout_s": 0.0}, "timeout_s is 0.0; expected more than 0"),
        ({"max_queue": 63}, r"max_queue is 63; expected at least max_texts \(64\)"),
    ],
    ids=str,
)
def test_invalid_limits_are_refused(invalid, expected):
    with pytest.raises(ConfigError, match=expected):
        RequestLimits(**invalid)


@pytest.mark.parametrize(
    ("invalid", "expected"),
    [
        ({"port": 65536}, "port is 65536; expected 0 to 65535"),
        ({"workers": 0}, "workers is 0; expected 1 or more"),
        ({"threads": 0}, "threads is 0; expected 1 or more"),
        ({"cors_origins": ("example.org",)}, "CORS origin: 'example.org' is invalid"),
        ({"cors_origins": ("https://a.example/",)}, "such as https://example.org, without a path"),
        ({"allowed_hosts": ("a.example:80",)}, "allowed host: 'a.example:80' is invalid"),
        ({"models": ("a/mine", "b/mine")}, "models: two are named 'mine'; rename one"),
    ],
    ids=str,
)
def test_invalid_settings_are_refused(invalid, expected):
    with pytest.raises(ConfigError, match=expected):
        ServeSettings(**invalid)


def test_model_names_are_folder_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = ("news", "runs/mine/", ".")
    assert ServeSettings(models=models).model_names == ("news", "mine", tmp_path.name)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.0.2.1", False),
        ("example.org", False),
    ],
)
def test_is_local_depends_on_host(host, is_local):
    assert ServeSettings(host=host).is_local == is_local


def test_missing_extra_names_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(MissingExtraError, match=r"serving needs .* the extra 'serve'"):
        serve(ServeSettings(port=0), print)


def test_missing_model_is_refused_before_listening():
    with pytest.raises(ArtifactError, match="no model 'nowhere'"):
        serve(ServeSettings(models=("nowhere",), port=0), print)


def test_used_port_is_refused():
    with bind("127.0.0.1", 0) as used:
        used.listen()
        port = used.getsockname()[1]
        with pytest.raises(
            ConfigError, match=rf"http://127.0.0.1:{port}: cannot listen there \(Address"
        ):
            bind("127.0.0.1", port)


def test_reserve_refuses_port_of_another_server():
    with bind("127.0.0.1", 0, shared=True) as used:
        used.listen()
        with pytest.raises(ArgumentError, match="choose another host or port") as caught:
            reserve("127.0.0.1", used.getsockname()[1])
        assert caught.value.format_message(as_option).endswith("choose another --host or --port")


def test_workers_share_the_reserved_port():
    with reserve("127.0.0.1", 0) as reserved:
        port = reserved.getsockname()[1]
        with bind("127.0.0.1", port, shared=True) as one, bind("127.0.0.1", port, shared=True):
            one.listen()


def test_unknown_host_is_refused(monkeypatch):
    def fail(*arguments, **options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)  # no test may use the network
    with pytest.raises(ConfigError, match="host is 'unknown.example', which cannot be resolved"):
        bind("unknown.example", 0)


@pytest.mark.parametrize("host", ["x" * 70, "a..b"])
def test_invalid_host_is_refused(host):
    with pytest.raises(ConfigError, match=f"host is '{host}', which cannot be resolved"):
        bind(host, 0)


def test_several_workers_need_linux(monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(ConfigError, match="workers: more than one needs Linux"):
        reserve("127.0.0.1", 0)


def test_several_workers_need_temporary_directory(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(ConfigError, match="metrics: no temporary directory"):
        serve(ServeSettings(port=0, workers=2, models=(str(TOY),)), print)


def test_repr_hides_keys():
    assert "first-key" not in repr(ServeSettings(api_keys=("first-key-0123456",)))


def test_url_brackets_ipv6():
    assert url("127.0.0.1", 80) == "http://127.0.0.1:80"
    assert url("::1", 8000) == "http://[::1]:8000"


def test_key_file_has_one_key_per_line(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text("# ours\nfirst-key-0123456\n\n  second-key-012345  \n")
    assert read_api_keys(path) == ("first-key-0123456", "second-key-012345")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", r"keys\.txt: contains no key; expected one per line"),
        (b"# none\n", r"keys\.txt: contains no key"),
        (b"\xff", r"keys\.txt: cannot be read .not UTF-8.; expected one key per line"),
        (b"first-key-0123456\nshort", r"keys\.txt: key 2 is invalid; expected 16 or more"),
        (b"one with spaces in it", "key 1 is invalid"),
    ],
    ids=repr,
)
def test_invalid_key_file_is_refused(tmp_path, content, expected):
    path = tmp_path / "keys.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=expected):
        read_api_keys(path)


def test_missing_key_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read .No such file"):
        read_api_keys(tmp_path / "keys.txt")


def test_invalid_key_is_not_repeated():
    with pytest.raises(ConfigError) as error:
        check_api_keys(["hunter2"], "READAGAIN_API_KEY")
    assert "hunter2" not in str(error.value)
    assert "secrets.token_urlsafe()" in str(error.value)
