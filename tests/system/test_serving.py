"""`readagain serve` in processes: signals, sockets, workers."""

import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import httpx
import psutil
import pytest
from programs import require_programs

from readagain.engine.summarizer import Summarizer
from readagain.serve.sockets import bind

pytestmark = [pytest.mark.slow, pytest.mark.distributed]

ROOT = Path(__file__).parents[2]
TOY = ROOT / "tests" / "assets" / "models" / "toy"
TIMEOUT_S = 60
TEXT = "Police in Ghent said on Monday that 12 people crossed the old bridge."
SLOW_OPTIONS = {"beam": 32, "min_words": 64, "max_words": 64}
# A request of several batches that takes about a second, even with the toy model.
LONG = {"texts": [TEXT] * 64, **SLOW_OPTIONS}


class Server:
    """`readagain serve` with the toy model on a free port."""

    def __init__(self, folder, *options):
        self.log_file = folder / "log.jsonl"
        command = [
            sys.executable, "-m", "readagain", "serve", "--port", "0", "--model", str(TOY),
            "--timeout-s", str(TIMEOUT_S),
        ]  # fmt: skip
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *map(str, options)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "TMPDIR": str(folder)},
            )
        line = self.process.stdout.readline()
        assert line.startswith("readagain serve: http://"), self.log_file.read_text()
        self.url = line.split()[-1]
        self.port = int(self.url.rpartition(":")[2])
        # A new connection for each request, so that all workers get requests.
        self.client = httpx.Client(
            timeout=TIMEOUT_S, limits=httpx.Limits(max_keepalive_connections=0)
        )

    def summarize(self, body=None, **options):
        body = {"texts": [TEXT]} if body is None else body
        return self.client.post(f"{self.url}/v1/summarize", json=body, **options)

    def metric(self, name):
        """Return the sum of all metrics whose name starts with `name`."""
        lines = self.client.get(f"{self.url}/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))

    def log(self):
        """Return the complete lines of the log."""
        lines = self.log_file.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("}\n")]

    def workers(self):
        """Return the process ids of the workers."""
        children = psutil.Process(self.process.pid).children()
        return {child.pid for child in children if is_worker(child)}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=TIMEOUT_S)


def is_worker(process):
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.Error:  # the process has ended
        return False


def has_ended(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def start(tmp_path):
    """Function that starts a server, which is stopped after the test."""
    servers = []

    def run(*options):
        servers.append(Server(tmp_path, *options))
        return servers[-1]

    yield run
    for server in servers:
        if server.process.poll() is None:
            server.stop()
        server.process.stdout.close()
        server.client.close()


def wait_until(condition):
    """Wait until a condition is true."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def wait_for_work(server):
    """Wait until the server has started to summarize."""
    wait_until(lambda: server.metric("readagain_batch_texts_count") > 0)


def wait_for_texts(server, number):
    """Wait until the server has received a number of texts."""

    def num_received():
        # In this order, so that a text that leaves the queue in between is not counted twice.
        num_summarized = server.metric("readagain_batch_texts_sum")
        return num_summarized + server.metric("readagain_queue_texts")

    wait_until(lambda: num_received() == number)


def test_stopped_server_finishes_requests_and_exits_0(start):
    server = start()
    with ThreadPoolExecutor() as pool:
        response = pool.submit(server.summarize, LONG, headers={"X-Request-Id": "the-last-one"})
        wait_for_work(server)
        assert server.stop() == 0
        assert response.result().status_code == 200
    assert len(response.result().json()["results"]) == 64
    events = [(line["event"], line.get("request_id")) for line in server.log()]
    assert ("request", "the-last-one") in events
    assert events[-1] == ("stopped", None)
    with pytest.raises(httpx.ConnectError):
        server.summarize()


def test_busy_server_stops_without_losing_requests(start):
    server = start("--workers", 2)

    def send_requests(_):
        num_responses = 0
        while True:
            try:
                num_responses += server.summarize().status_code == 200
            except httpx.TransportError:  # the server has stopped
                return num_responses

    with ThreadPoolExecutor(max_workers=8) as pool:
        counts = pool.map(send_requests, range(8))
        wait_until(lambda: server.metric("readagain_texts_total") >= 20)
        assert server.stop() == 0
        num_responses = sum(counts)
    paths = [line["path"] for line in server.log() if line.get("status") == 200]
    assert num_responses == paths.count("/v1/summarize")


def test_stopped_server_leaves_no_process(start):
    server = start("--workers", 2)
    workers = server.workers()
    assert len(workers) == 2
    assert server.summarize().status_code == 200
    assert server.stop() == 0
    assert all(map(has_ended, workers))


def test_killed_worker_is_replaced(start):
    server = start("--workers", 2)
    before = server.workers()
    killed = before.pop()
    os.kill(killed, signal.SIGKILL)
    wait_until(
        lambda: any(line["event"] == f"Child process [{killed}] died" for line in server.log())
    )
    for _ in range(5):
        assert server.summarize().status_code == 200
    wait_until(lambda: len(server.workers() - {killed}) == 2)
    # The new worker gets connections too.
    (new,) = server.workers() - before
    wait_until(
        lambda: (
            server.summarize().status_code == 200
            and any(line["pid"] == new and line["event"] == "request" for line in server.log())
        )
    )
    assert server.stop() == 0


def test_workers_stop_when_supervisor_is_killed(start, tmp_path):
    server = start("--workers", 2)
    workers = server.workers()
    server.process.kill()
    wait_until(lambda: all(map(has_ended, workers)))
    assert list(tmp_path.glob("readagain-metrics-*")) == []


def test_hung_worker_is_replaced(start):
    server = start("--workers", 2)
    hung = min(server.workers())
    os.kill(hung, signal.SIGSTOP)
    wait_until(lambda: len(server.workers() - {hung}) == 2)
    for _ in range(5):
        assert server.summarize().status_code == 200
    assert server.stop() == 0


@pytest.fixture
def starting(tmp_path):
    """Server with two workers that are importing modules, in a session of its own, and its log."""
    command = [sys.executable, "-m", "readagain", "serve", "--port", "0", "--workers", "2"]
    command += ["--model", str(TOY)]
    log_file = tmp_path / "log.jsonl"
    with log_file.open("wb") as log:
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )

    def are_importing():
        workers = list(filter(is_worker, psutil.Process(server.pid).children()))
        return len(workers) == 2 and all(each.cpu_times().user > 0.1 for each in workers)

    wait_until(are_importing)
    yield server, log_file
    server.terminate()
    server.wait(timeout=TIMEOUT_S)
    server.stdout.close()


def test_ctrl_c_while_workers_start_logs_json_only(starting):
    server, log_file = starting
    os.killpg(server.pid, signal.SIGINT)  # as a terminal does
    assert server.wait(timeout=TIMEOUT_S) == 0
    assert all(json.loads(line) for line in log_file.read_text().splitlines())


def test_url_is_announced_although_a_worker_died_at_start(starting):
    server, _ = starting
    next(filter(is_worker, psutil.Process(server.pid).children())).kill()
    assert select.select([server.stdout], [], [], TIMEOUT_S)[0]
    assert server.stdout.readline().startswith("readagain serve: http://")


def test_sighup_replaces_hung_worker_too(start):
    server = start("--workers", 2)
    before = server.workers()
    os.kill(min(before), signal.SIGSTOP)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(server.workers() - before) == 2)
    assert server.summarize().status_code == 200
    assert server.stop() == 0


def test_sighup_replaces_workers_without_losing_requests(start, tmp_path):
    server = start("--workers", 2)
    before = server.workers()
    server_process = psutil.Process(server.process.pid)
    with ThreadPoolExecutor() as pool:
        responses = [pool.submit(server.summarize, LONG) for _ in range(2)]
        wait_for_texts(server, 2 * len(LONG["texts"]))
        # All processes, as when a terminal is closed; also the resource tracker of multiprocessing.
        for process in (*server_process.children(), server_process):
            process.send_signal(signal.SIGHUP)
        wait_until(lambda: all(map(has_ended, before)))
        assert [response.result().status_code for response in responses] == [200, 200]
    assert len(server.workers() - before) == 2
    assert server.summarize().status_code == 200
    assert server.stop() == 0
    assert all(json.loads(line) for line in server.log_file.read_text().splitlines())
    assert list(tmp_path.glob("readagain-metrics-*")) == []


def test_metrics_are_summed_over_workers(start):
    server = start("--workers", 2)
    responses = []

    def have_both_responded():
        responses.append(server.summarize())
        return len({line["pid"] for line in server.log() if line["event"] == "request"}) == 2

    wait_until(have_both_responded)
    wait_until(lambda: server.metric("readagain_texts_total") >= len(responses))
    assert server.metric("readagain_texts_total") == len(responses)


def test_worker_that_cannot_start_stops_the_server(readagain, tmp_path):
    broken = shutil.copytree(TOY, tmp_path / "broken")
    graph = broken / "step.int8.onnx"
    graph.write_bytes(graph.read_bytes()[::-1])
    run = readagain("serve", "--workers", 2, "--port", 0, "--model", broken, timeout=TIMEOUT_S)
    assert run.returncode == 2
    assert "content does not match model.json" in run.stderr
    assert "readagain: workers: one could not start; see the reason in the log above" in run.stderr


def test_overload_is_refused_then_recovers(start):
    # The texts of one request fill the queue for about a second.
    server = start("--max-queue", len(LONG["texts"]))
    with ThreadPoolExecutor(max_workers=24) as pool:
        responses = list(pool.map(server.summarize, [LONG] * 24))
    assert {response.status_code for response in responses} == {200, 503}
    refused = [response for response in responses if response.status_code == 503]
    assert {response.headers["retry-after"] for response in refused} == {"1"}
    assert {response.json()["error"]["code"] for response in refused} == {"queue_full"}
    assert server.summarize().status_code == 200


def test_responses_under_load_match_their_texts(start):
    texts = [f"School {number} of Ghent opens in {number} days." for number in range(200)]
    expected = [str(summary) for summary in Summarizer.load(TOY, threads=1).summarize(texts)]
    server = start("--workers", 2, "--max-wait-ms", 50)  # so that texts surely share batches

    def summarize(text):
        return server.summarize({"texts": [text]}).json()["results"][0]["summary"]

    with ThreadPoolExecutor(max_workers=32) as pool:
        assert list(pool.map(summarize, texts)) == expected
    assert server.metric("readagain_batch_texts_count") < len(texts)


def send(server, head, body=b""):
    """Send a raw request and return the socket."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S)
    connection.sendall(head.encode() + b"\r\nHost: localhost\r\n\r\n" + body)
    return connection


POST = "POST /v1/summarize HTTP/1.1\r\nContent-Type: application/json\r\nX-Request-Id: raw\r\n"


def test_work_of_disconnected_client_is_dropped(start):
    num_texts = 1_000  # many seconds of work
    server = start("--max-texts", num_texts, "--max-queue", num_texts)
    body = json.dumps({"texts": [TEXT] * num_texts, **SLOW_OPTIONS}).encode()
    with send(server, f"{POST}Content-Length: {len(body)}", body):
        wait_for_work(server)
    wait_until(lambda: server.metric("readagain_queue_texts") == 0)
    assert server.metric("readagain_batch_texts_sum") < num_texts
    assert server.summarize().status_code == 200
    assert server.stop() == 0  # so that the log is complete
    (line,) = [line for line in server.log() if line.get("request_id") == "raw"]
    assert line["status"] == 499


def test_endless_body_gets_413(start):
    server = start("--max-body-bytes", 1000)
    with send(server, f"{POST}Transfer-Encoding: chunked") as connection:
        for _ in range(5):
            connection.sendall(b"100\r\n" + b" " * 256 + b"\r\n")
        response = connection.recv(4096).decode()
    assert response.startswith("HTTP/1.1 413 ")
    assert server.summarize().status_code == 200


def test_body_that_never_arrives_gets_408(start):
    server = start("--timeout-s", 0.5)
    with send(server, f"{POST}Content-Length: 100", b"{") as connection:
        response = connection.makefile("rb").read().decode()  # until the connection is closed
    assert response.startswith("HTTP/1.1 408 ")
    assert "not received within 0.5 s" in response


def test_urllib_sees_the_413_of_a_large_body(start):
    """urllib sends the whole body before it reads the response, with `Connection: close`."""
    server = start()
    request = Request(f"{server.url}/v1/summarize", b" " * (4 << 20))
    with pytest.raises(HTTPError, match="413"):
        urlopen(request, timeout=TIMEOUT_S)


def test_server_responds_despite_many_unfinished_requests(start):
    """More idle connections than allowed do not block a request, and are not logged."""
    server = start("--max-connections", 100)
    head = b"GET /healthz HTTP/1.1"
    with ExitStack() as stack:
        for _ in range(300):
            address = ("127.0.0.1", server.port)
            connection = stack.enter_context(socket.create_connection(address, TIMEOUT_S))
            connection.sendall(head)
        assert server.summarize().status_code == 200
    assert server.stop() == 0  # so that the log is complete
    assert [line["event"] for line in server.log()] == ["request", "stopped"]


def test_burst_of_connections_does_not_exhaust_open_files(start):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        server = start("--max-connections", 150)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    os.kill(server.process.pid, signal.SIGSTOP)
    with ExitStack() as stack:
        for _ in range(400):  # accepted at once when the server continues
            address = ("127.0.0.1", server.port)
            stack.enter_context(socket.create_connection(address, TIMEOUT_S))
        os.kill(server.process.pid, signal.SIGCONT)
        assert server.summarize().status_code == 200
    assert server.stop() == 0
    assert [line["event"] for line in server.log()] == ["request", "stopped"]


def test_second_server_on_same_port_is_refused(start, readagain):
    server = start("--workers", 2)
    for workers in (1, 2):
        second = readagain("serve", "--port", server.port, "--model", TOY, "--workers", workers)
        assert second.returncode == 2
        assert f"{server.url}: cannot listen there (Address already in use)" in second.stderr


def test_public_server_without_key_warns(start):
    warning = "warning: 0.0.0.0 can be reached from other machines without a key"
    assert warning in start("--host", "0.0.0.0").log_file.read_text()


def test_public_server_with_key_requires_it(start, monkeypatch):
    monkeypatch.setenv("READAGAIN_API_KEY", "a-key-of-the-operator")
    server = start("--host", "0.0.0.0")
    assert "warning" not in server.log_file.read_text()
    server.url = f"http://127.0.0.1:{server.port}"
    assert server.summarize().status_code == 401
    key = {"Authorization": "Bearer a-key-of-the-operator"}
    assert server.summarize(headers=key).status_code == 200


def nginx_lines(page):
    """Return the nginx example of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.search(r"^```nginx\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)[1]


@pytest.fixture
def start_nginx(tmp_path):
    """Function that starts nginx in front of a server; returns its port."""
    require_programs("nginx")
    stack = ExitStack()
    processes = []

    def run(server, lines):
        folder = tmp_path / "nginx"
        folder.mkdir()
        # The socket stays bound and does not listen. Only programs that, like nginx, set
        # SO_REUSEADDR and name this port can then bind it.
        port = stack.enter_context(bind("127.0.0.1", 0)).getsockname()[1]
        # Certificates are left out, and slow clients are disconnected after one second.
        lines = re.sub(r"listen 443 ssl;|ssl_certificate.*;", "", lines).replace(" 10s;", " 1s;")
        lines = lines.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
        lines = lines.replace("server {", f"server {{ listen 127.0.0.1:{port};")
        temporary = "".join(
            f"{kind}_temp_path {folder};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.geteuid() == 0 else ""  # others may not enter the folder
        (folder / "nginx.conf").write_text(
            f"daemon off; {user} pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
            f"http {{ access_log off; {temporary}\n{lines} }}\n"
        )
        command = ["nginx", "-p", str(folder), "-e", f"{folder}/error.log", "-c", "nginx.conf"]
        processes.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        wait_until(lambda: is_listening(port) or processes[-1].poll() is not None)
        assert processes[-1].poll() is None, processes[-1].stderr.read()
        return port

    yield run
    for process in processes:
        process.terminate()
        process.communicate()
    stack.close()


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_nginx_lines_keep_bad_clients_from_the_server(start, start_nginx):
    server = start()
    port = start_nginx(server, nginx_lines("SECURITY.md"))
    address = ("127.0.0.1", port)
    head = b"POST /v1/summarize HTTP/1.1\r\nHost: news.example.org\r\n"
    both_lengths = b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    refused = {
        head: b"",  # closed without a response
        head + b"Content-Length: 9\r\n\r\n{": b"",
        head + f"Content-Length: {(1 << 20) + 1}\r\n\r\n".encode(): b"HTTP/1.1 413",
        head + both_lengths: b"HTTP/1.1 400",
    }
    for sent, expected in refused.items():
        with socket.create_connection(address, TIMEOUT_S) as connection:
            connection.sendall(sent)
            assert connection.recv(12) == expected
    assert server.log() == []
    url = f"http://127.0.0.1:{port}"
    forwarded = {"Host": "news.example.org", "X-Forwarded-For": "192.0.2.7"}
    response = server.client.post(f"{url}/v1/summarize", json={"texts": [TEXT]}, headers=forwarded)
    assert response.status_code == 200
    # A connection for each request: httpx may close one that another thread has just taken.
    get = partial(server.client.get, headers={"Connection": "close"})
    with ThreadPoolExecutor(max_workers=32) as pool:  # more than the connections that are allowed
        responses = pool.map(get, [f"{url}/healthz"] * 100)
    codes = [response.status_code for response in responses]
    assert set(codes) == {200, 429}
    assert server.stop() == 0  # so that the log is complete
    paths = [line["path"] for line in server.log() if line["event"] == "request"]
    assert paths == ["/v1/summarize", *["/healthz"] * codes.count(200)]
    assert "192.0.2.7" not in server.log_file.read_text()


def test_nginx_lines_of_serving_page_run(start, start_nginx):
    server = start()
    port = start_nginx(server, f"server {{ {nginx_lines('docs/serving.md')} }}")
    response = server.client.post(f"http://127.0.0.1:{port}/v1/summarize", json={"texts": [TEXT]})
    assert response.status_code == 200
    assert server.stop() == 0  # so that the log is complete
    assert response.headers["X-Request-Id"] == server.log()[0]["request_id"]


def test_examples_of_serving_page_run(start):
    require_programs("curl")
    server = start()
    page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```bash\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    assert len(examples) == 3
    printed = []
    for example in examples:
        script = example.replace("http://127.0.0.1:8000", server.url)
        run = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        printed.append(run.stdout)
    assert '"results":[{"summary":"Police' in printed[0]
    assert '"explanation":{' in printed[1]
    assert '"models":[' in printed[1]
    assert 'readagain_requests_total{route="/v1/summarize",status="200"} 2.0' in printed[1]
    assert '"object":"chat.completion"' in printed[2]


def test_api_matches_its_schema(start, tmp_path):
    server = start()
    # Too many messages may also be a body that is too large.
    (tmp_path / "schemathesis.toml").write_text(
        "checks.negative_data_rejection.expected-statuses = "
        '["400", "404", "405", "413", "415", "422"]'
    )
    # Excluded: a request with valid fields may be invalid, such as min_words above max_words.
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json",
        "--seed", "1", "--max-examples", "25", "--continue-on-failure", "--no-color",
        "--exclude-checks", "positive_data_acceptance",
    ]  # fmt: skip
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert run.returncode == 0, run.stdout
    assert "Selected: 6/6" in run.stdout
    assert server.stop() == 0  # so that the log is complete
    assert not any(line.get("status", 0) >= 500 for line in server.log())
