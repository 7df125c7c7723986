"""HTTP/1.1 connections with timeouts and limits that are missing in uvicorn."""

import asyncio
import re
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

WRITE_TIMEOUT_S = 30.0
"""Time after which a client that does not read its response is disconnected."""
MAX_UNSENT_BYTES = 64 << 20
"""Maximum number of buffered response bytes in all connections of a worker.

Above this limit, the connection that has been blocked longest is closed.
"""
MAX_HEADER_BYTES = 16 << 10
"""Maximum size of the request line and the headers of a request, or of its trailers."""
MAX_HEADERS = 100
"""Maximum number of headers of a request, or of its trailers."""
MAX_READ_BYTES = 32 << 10
"""Maximum number of bytes of a connection that are read in one turn of the event loop."""
MAX_SMALL_CHUNKS = 400
"""Maximum number of small chunks in a chunked body."""
MIN_CHUNK_BYTES = 200
"""Minimum size of a chunk that is not small; parsing a chunk takes as long as many bytes."""


_BLANK_LINE = re.compile(rb"\n\r?\n")
_LAST_CHUNK = re.compile(rb"(?:\r\n)?0+(?![0-9A-Fa-f])[^\n]*\n")


class LimitedConnection(h11.Connection):
    """Parser that refuses long or many headers, and a body in many small chunks.

    h11 itself limits only the size of headers that are not complete yet. A header takes as long to
    parse as many bytes, and so does a chunk.
    """

    _num_chunks = 0
    _num_body_bytes = 0
    _is_between_chunks = False
    _has_trailers_next = False

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event; raise an error if it exceeds a limit."""
        self._check_headers()
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._num_chunks = self._num_body_bytes = 0
            self._has_trailers_next = False
            self._is_between_chunks = any(name == b"transfer-encoding" for name, _ in event.headers)
        elif isinstance(event, h11.Data):
            self._num_chunks += event.chunk_start
            self._num_body_bytes += len(event.data)
            self._is_between_chunks = event.chunk_end
            if self._num_chunks > MAX_SMALL_CHUNKS + self._num_body_bytes / MIN_CHUNK_BYTES:
                raise h11.RemoteProtocolError("too many small chunks")
        return event

    def _check_headers(self) -> None:
        """Raise an error if the next bytes are too long or too many headers, before parsing them.

        A chunked body ends with an empty chunk and trailers, which are parsed like headers.
        """
        data, _ = self.trailing_data
        if self.their_state is h11.SEND_BODY and self._is_between_chunks:
            self._has_trailers_next |= _LAST_CHUNK.match(data) is not None
        if self.their_state is h11.IDLE or self._has_trailers_next:
            blank_line = _BLANK_LINE.search(data)
            size = blank_line.start() if blank_line else len(data)
            if size > MAX_HEADER_BYTES or data.count(b"\n", 0, size) > MAX_HEADERS:
                raise h11.RemoteProtocolError("too long or too many headers")


class LimitedProtocol(H11Protocol, asyncio.BufferedProtocol):
    """uvicorn's protocol with deadlines for request headers and for reading responses.

    It differs from the base class in these ways:

    - At most `MAX_READ_BYTES` of a connection are read and parsed in one turn of the event loop.
    - Many headers, and a body in many small chunks, are refused.
    - `timeout_keep_alive` also applies to the first request of a connection, and until the headers
      of a request are complete. In the base class the first byte of a request ends this timeout.
    - When `limit_concurrency` connections are open, the connection that has been idle longest is
      closed. The base class rejects new connections.
    - A client that does not read its response is disconnected.
    """

    _write_timer: asyncio.TimerHandle | None = None

    def __init__(self, config: Config, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        self.conn = LimitedConnection(h11.SERVER, MAX_HEADER_BYTES)
        self._buffer = memoryview(bytearray(MAX_READ_BYTES))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for headers, and close an idle connection if there are too many."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )
        if self.limit_concurrency and len(self.connections) >= self.limit_concurrency:
            others = self._all_connections() - {self}
            _abort_next_timeout({each: each.timeout_keep_alive_task for each in others})

    def _all_connections(self) -> "set[LimitedProtocol]":
        return {each for each in self.connections if isinstance(each, LimitedProtocol)}

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer for received data."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Parse the received data."""
        self.data_received(bytes(self._buffer[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Receive data; cancel the timeout for headers once they are complete."""
        # The base class would cancel the timer at the first byte, so the timer is hidden from it.
        timer, self.timeout_keep_alive_task = self.timeout_keep_alive_task, None
        super().data_received(data)
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = timer
        elif timer is not None:
            timer.cancel()

    def send_400_response(self, msg: str) -> None:
        """Respond to invalid HTTP and end the request; only close if a response was started."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        super().send_400_response(msg)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, without waiting for a client that does not read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def pause_writing(self) -> None:
        """Start the timeout for writing, and limit the total size of unsent responses."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_TIMEOUT_S, self.transport.abort)
        unsent = sum(each.transport.get_write_buffer_size() for each in self.connections)
        if unsent > MAX_UNSENT_BYTES:
            _abort_next_timeout({each: each._write_timer for each in self._all_connections()})

    def resume_writing(self) -> None:
        """Stop the timeout for writing; also called when the connection is lost."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


def _abort_next_timeout(timers: dict[LimitedProtocol, asyncio.TimerHandle | None]) -> None:
    """Close the connection whose timer expires first, if any timer is running."""
    running = {each: timer for each, timer in timers.items() if timer is not None}
    if running:
        first = min(running, key=lambda each: running[each].when())
        first.transport.abort()
        first.connections.discard(first)  # otherwise the next call may select it again
