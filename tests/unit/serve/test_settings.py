"""What a server is told is checked before it starts."""

import sys

import pytest

from readagain.errors import ArtifactError, ConfigError, MissingExtraError
from readagain.serve.address import bind, reserve, url
from readagain.serve.run import check_keys, read_keys, serve
from readagain.serve.settings import RequestLimits, ServeSettings
from readagain.serve.supervisor import Supervisor


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"max_texts": 0}, "max_texts is 0; expected 1 or more"),
        ({"max_chars": 0}, "max_chars is 0; expected 1 or more"),
        ({"max_body_bytes": -1}, "max_body_bytes is -1; expected 1 or more"),
        ({"max_requests": 0}, "max_requests is 0; expected 1 or more"),
        ({"max_wait_ms": 1001.0}, "max_wait_ms is 1001.0; expected 0 to 1000"),
        ({"timeout_s": 0.0}, "timeout_s is 0.0; expected more than 0"),
        ({"max_queue": 63}, "max_queue is 63; expected max_texts, which is 64, or more"),
    ],
    ids=str,
)
def test_limits_that_make_no_sense_are_named(wrong, expected):
    with pytest.raises(ConfigError, match=expected):
        RequestLimits(**wrong)


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"port": 65536}, "port is 65536; expected 0 to 65535"),
        ({"workers": 0}, "workers is 0; expected 1 or more"),
        ({"threads": 0}, "threads is 0; expected 1 or more"),
        ({"cors_origins": ("example.org",)}, "no origin: 'example.org'; expected one as browsers"),
        ({"cors_origins": ("https://a.example/",)}, "such as https://example.org, without a path"),
        ({"models": ("a/mine", "b/mine")}, "two models are called 'mine'; rename one"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_named(wrong, expected):
    with pytest.raises(ConfigError, match=expected):
        ServeSettings(**wrong)


def test_requests_call_a_model_by_the_name_of_its_folder(tmp_path, monkeypatch):
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
def test_an_address_is_local_or_not(host, is_local):
    assert ServeSettings(host=host).is_local == is_local


def test_a_missing_extra_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(
        MissingExtraError, match=r"serving needs .* pip install 'readagain\[serve\]'"
    ):
        serve(ServeSettings(port=0), print)


def test_a_model_that_is_not_there_is_named_before_anything_listens():
    with pytest.raises(ArtifactError, match="no model 'nowhere'"):
        serve(ServeSettings(models=("nowhere",), port=0), print)


def test_a_port_that_is_taken_is_named():
    with bind("127.0.0.1", 0, shared=False) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on http://127.0.0.1:{port}: Address"):
            bind("127.0.0.1", port, shared=False)


def test_workers_do_not_join_the_port_of_another_server():
    with bind("127.0.0.1", 0, shared=True) as taken:
        taken.listen()
        with pytest.raises(ConfigError, match="choose another with --host and --port"):
            reserve("127.0.0.1", taken.getsockname()[1])


def test_workers_of_one_server_share_its_port():
    with reserve("127.0.0.1", 0) as reserved:
        port = reserved.getsockname()[1]
        with bind("127.0.0.1", port, shared=True) as one, bind("127.0.0.1", port, shared=True):
            one.listen()


@pytest.mark.parametrize("host", ["no.such.host.invalid", "x" * 70, "a..b"])
def test_a_host_that_cannot_be_found_is_named(host):
    with pytest.raises(ConfigError, match=f"host is '{host}', which cannot be found"):
        bind(host, 0, shared=False)


def test_several_workers_need_a_system_that_shares_ports(monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(ConfigError, match="only Linux does fairly; start one"):
        reserve("127.0.0.1", 0)


def test_several_workers_need_a_folder_for_their_metrics(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(ConfigError, match="no folder for the metrics of several workers: No such"):
        Supervisor(ServeSettings(port=0, workers=2)).run(print)


def test_keys_are_not_shown_by_accident():
    assert "first-key" not in repr(ServeSettings(api_keys=("first-key-0123456",)))


def test_addresses_are_written_as_people_open_them():
    assert url("127.0.0.1", 80) == "http://127.0.0.1:80"
    assert url("::1", 8000) == "http://[::1]:8000"


def test_keys_are_read_one_a_line(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text("# ours\nfirst-key-0123456\n\n  second-key-012345  \n")
    assert read_keys(path) == ("first-key-0123456", "second-key-012345")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", r"keys\.txt: no key in it; expected one a line"),
        (b"# none\n", r"keys\.txt: no key in it"),
        (b"\xff", r"keys\.txt: cannot be read: not UTF-8; expected one key a line"),
        (b"first-key-0123456\nshort", r"keys\.txt: key 2 cannot be used; expected 16 or more"),
        (b"one with spaces in it", "key 1 cannot be used"),
    ],
    ids=repr,
)
def test_a_file_of_keys_that_cannot_be_used_is_named(tmp_path, content, expected):
    path = tmp_path / "keys.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=expected):
        read_keys(path)


def test_a_missing_file_of_keys_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_keys(tmp_path / "keys.txt")


def test_a_key_that_cannot_be_used_is_not_repeated():
    with pytest.raises(ConfigError) as refused:
        check_keys(["hunter2"], "READAGAIN_API_KEY")
    assert "hunter2" not in str(refused.value)
    assert "secrets.token_urlsafe()" in str(refused.value)
