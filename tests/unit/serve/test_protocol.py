"""Timeouts and limits of connections, with a transport in memory."""

import asyncio
import socket

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from readagain.serve import protocol
from readagain.serve.protocol import LimitedProtocol

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Clock:
    """Event loop functions with a clock that a test sets."""

    def __init__(self):
        self.now = 0.0
        self.timers = []

    def call_later(self, delay, callback):
        timer = asyncio.TimerHandle(self.now + delay, callback, (), self)
        self.timers.append(timer)
        return timer

    def create_task(self, coroutine):
        return asyncio.get_running_loop().create_task(coroutine)

    def get_debug(self):
        return False

    def _timer_handle_cancelled(self, timer):
        pass

    def advance(self, seconds):
        self.now += seconds
        for timer in [each for each in self.timers if each.when() <= self.now]:
            self.timers.remove(timer)
            if not timer.cancelled():
                timer._run()


class Transport:
    """Transport whose client reads nothing."""

    def __init__(self):
        self.sent = b""
        self.is_open = True
        self.unsent = 0

    def get_extra_info(self, name, default=None):
        return default

    def write(self, data):
        self.sent += data

    def get_write_buffer_size(self):
        return self.unsent

    def is_closing(self):
        return not self.is_open

    def close(self):
        self.is_open = False

    abort = close

    def pause_reading(self):
        pass

    resume_reading = pause_reading


async def answer(scope, receive, send):
    """Send a response, once the body was received."""
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def connect(clock):
    """Open connections to a server that allows three of them."""
    config = Config(answer, ws="none", log_config=None, limit_concurrency=4, timeout_keep_alive=10)
    config.load()
    state = ServerState()

    def open_connection():
        connection = LimitedProtocol(config, state, {}, _loop=clock)
        connection.connection_made(Transport())
        return connection

    return open_connection


async def send(connection, data):
    connection.data_received(data)
    for _ in range(5):  # let the application answer
        await asyncio.sleep(0)


@pytest.mark.parametrize("before", [b"", GET], ids=["first request", "second request"])
def test_headers_must_arrive_in_time(connect, clock, before):
    async def scenario():
        connection = connect()
        if before:
            await send(connection, before)
        for byte in GET[:9]:
            clock.advance(1)
            await send(connection, bytes([byte]))
        assert connection.transport.is_open
        clock.advance(1)
        assert not connection.transport.is_open

    asyncio.run(scenario())


def test_body_and_response_are_not_subject_to_header_timeout(connect, clock):
    async def scenario():
        connection = connect()
        await send(connection, GET[:-2] + b"Content-Length: 2\r\n\r\n")
        clock.advance(60)
        await send(connection, b"ab")
        assert connection.transport.is_open
        assert connection.transport.sent.endswith(b"ok")

    asyncio.run(scenario())


def test_body_sent_after_the_response_is_cut_off(connect, clock):
    async def refuse(scope, receive, send):
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body"})

    async def scenario():
        connection = connect()
        connection.app = refuse
        await send(connection, GET[:-2] + b"Content-Length: 99\r\n\r\n")
        for _ in range(10):
            clock.advance(1)
            await send(connection, b"a")
        assert not connection.transport.is_open

    asyncio.run(scenario())


def test_new_connection_displaces_longest_idle_one(connect, clock):
    async def scenario():
        busy, idle, other = connect(), connect(), connect()
        await send(busy, GET[:-2] + b"Content-Length: 2\r\n\r\n")
        clock.advance(1)
        await send(other, GET)
        clock.advance(1)
        new = connect()
        assert not idle.transport.is_open
        assert busy.transport.is_open
        assert other.transport.is_open
        assert new.transport.is_open
        connect()
        assert not other.transport.is_open

    asyncio.run(scenario())


def test_client_that_does_not_read_is_disconnected(connect, clock):
    async def scenario():
        connection = connect()
        await send(connection, GET[:-2] + b"Content-Length: 2\r\n\r\n")  # not idle
        connection.pause_writing()
        clock.advance(protocol.WRITE_TIMEOUT_S)
        connection.resume_writing()  # as when the connection is lost
        assert not connection.transport.is_open

    asyncio.run(scenario())


def test_client_that_reads_again_stays_connected(connect, clock):
    async def scenario():
        connection = connect()
        await send(connection, GET[:-2] + b"Content-Length: 2\r\n\r\n")
        connection.pause_writing()
        connection.resume_writing()
        clock.advance(protocol.WRITE_TIMEOUT_S)
        assert connection.transport.is_open

    asyncio.run(scenario())


def test_idle_connection_with_unread_response_is_aborted(connect, clock):
    async def scenario():
        connection = connect()
        await send(connection, GET)
        connection.transport.unsent = 1
        connection.transport.close = None  # it would wait for the client
        clock.advance(10)
        assert not connection.transport.is_open

    asyncio.run(scenario())


def test_unread_responses_are_limited_in_bytes(connect, clock, monkeypatch):
    monkeypatch.setattr(protocol, "MAX_UNSENT_BYTES", 10)
    slow, slower = connect(), connect()
    slower.transport.unsent = 6
    slower.pause_writing()
    clock.advance(1)
    slow.transport.unsent = 6
    slow.pause_writing()
    assert not slower.transport.is_open
    assert slow.transport.is_open


CHUNKED = GET[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"


def test_event_loop_reads_a_few_bytes_per_turn(connect, monkeypatch):
    sizes = []
    monkeypatch.setattr(
        LimitedProtocol, "data_received", lambda self, data: sizes.append(len(data))
    )

    async def scenario():
        client, server = socket.socketpair()
        with client:
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            transport, _ = await loop.connect_accepted_socket(connect, server)
            await loop.sock_sendall(client, b" " * 50_000)
            while sum(sizes) < 50_000:
                await asyncio.sleep(0)
            transport.abort()

    asyncio.run(scenario())
    assert max(sizes) <= protocol.MAX_READ_BYTES


@pytest.mark.parametrize(
    ("size", "number", "is_accepted"),
    [(1, 400, True), (1, 500, False), (100, 900, False), (200, 5_000, True), (1_000, 5_000, True)],
)
def test_body_in_many_small_chunks_is_refused(connect, size, number, is_accepted):
    async def scenario():
        connection = connect()
        chunk = b"%x\r\n%s\r\n" % (size, b" " * size)
        await send(connection, CHUNKED + chunk * number + b"0\r\n\r\n")
        assert connection.transport.is_open == is_accepted
        assert connection.transport.sent.startswith(
            b"HTTP/1.1 200" if is_accepted else b"HTTP/1.1 400"
        )

    asyncio.run(scenario())


def test_small_chunks_of_several_requests_are_counted_separately(connect):
    async def scenario():
        connection = connect()
        for _ in range(3):
            await send(connection, CHUNKED + b"1\r\n \r\n" * 300 + b"0\r\n\r\n")
        assert connection.transport.sent.count(b"HTTP/1.1 200") == 3

    asyncio.run(scenario())


@pytest.mark.parametrize("rest", [b"1\r\n \r\n" * 500, b"invalid\r\n"], ids=["chunks", "invalid"])
def test_invalid_body_after_the_response_closes_the_connection(connect, rest):
    async def answer_at_once(scope, receive, send):
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body"})

    async def scenario():
        connection = connect()
        connection.app = answer_at_once
        await send(connection, CHUNKED)
        await send(connection, rest)
        assert not connection.transport.is_open
        assert connection.transport.sent.count(b"HTTP/1.1") == 1

    asyncio.run(scenario())


def test_invalid_body_ends_the_request(connect):
    received = []

    async def read(scope, receive, send):
        while not received or received[-1]["type"] != "http.disconnect":
            received.append(await receive())

    async def scenario():
        connection = connect()
        connection.app = read
        await send(connection, CHUNKED)
        await send(connection, b"invalid\r\n")
        assert [each["type"] for each in received] == ["http.disconnect"]
        assert connection.transport.sent.startswith(b"HTTP/1.1 400")

    asyncio.run(scenario())


@pytest.mark.parametrize(("size", "status"), [(16_000, b"200"), (16_500, b"400"), (99_000, b"400")])
def test_headers_are_limited_in_bytes(connect, size, status):
    async def scenario():
        connection = connect()
        await send(connection, GET[:-2] + b"X: " + b"a" * size + b"\r\n\r\n")
        assert connection.transport.sent.startswith(b"HTTP/1.1 " + status)

    asyncio.run(scenario())


@pytest.mark.parametrize(("number", "status"), [(98, b"200"), (110, b"400"), (7_000, b"400")])
def test_headers_are_limited_in_number(connect, number, status):
    async def scenario():
        connection = connect()
        await send(connection, GET[:-2] + b"a:\r\n" * number + b"\r\n")
        assert connection.transport.sent.startswith(b"HTTP/1.1 " + status)

    asyncio.run(scenario())


@pytest.mark.parametrize(("number", "status"), [(98, b"200"), (110, b"400"), (7_000, b"400")])
@pytest.mark.parametrize("start", [b"0\r\n", b"1\r\n \r\n000;a=b\r\n"], ids=["empty", "chunk"])
@pytest.mark.parametrize("piece", [7, 50_000])
def test_trailers_are_limited_in_number(connect, number, status, start, piece):
    async def scenario():
        connection = connect()
        data = CHUNKED + start + b"a:\r\n" * number + b"\r\n"
        for first in range(0, len(data), piece):
            if connection.transport.is_open:
                await send(connection, data[first : first + piece])
        assert connection.transport.sent.startswith(b"HTTP/1.1 " + status)

    asyncio.run(scenario())


@pytest.mark.parametrize("headers", [b"Content-Length: 2001\r\n\r\n", CHUNKED.split(b"\n", 2)[2]])
def test_lines_of_a_body_are_no_headers(connect, headers):
    async def scenario():
        connection = connect()
        size = b"7d1\r\n" if b"chunked" in headers else b""
        end = b"\r\n0\r\n\r\n" if size else b""
        await send(connection, b"POST / HTTP/1.1\r\nHost: localhost\r\n" + headers + size + b"0")
        await send(connection, b"0\n" * 1000 + end)
        assert connection.transport.sent.startswith(b"HTTP/1.1 200")

    asyncio.run(scenario())


def test_headers_of_pipelined_requests_are_counted_separately(connect):
    async def scenario():
        connection = connect()
        await send(connection, GET * 101)
        for _ in range(2_000):
            await asyncio.sleep(0)
        assert connection.transport.sent.count(b"HTTP/1.1 200") == 101

    asyncio.run(scenario())
