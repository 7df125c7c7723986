"""HTTP/1.1 connections with timeouts and limits that are missing in uvicorn."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

WRITE_TIMEOUT_S = 30.0
"""Time after which a client that does not read its response is disconnected."""
MAX_UNSENT_BYTES = 64 << 20
"""Maximum number of buffered response bytes in all connections of a worker.

Above this limit, the connection that has been blocked longest is closed.
"""


class LimitedProtocol(H11Protocol):
    """uvicorn's protocol with deadlines for request headers and for reading responses.

    It differs from the base class in three ways:

    - `timeout_keep_alive` also applies to the first request of a connection, and until the headers
      of a request are complete. In the base class the first byte of a request ends this timeout.
    - When `limit_concurrency` connections are open, the connection that has been idle longest is
      closed. The base class rejects new connections.
    - A client that does not read its response is disconnected.
    """

    _write_timer: asyncio.TimerHandle | None = None

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
        """Return all connections of this worker, including this one."""
        return {each for each in self.connections if isinstance(each, LimitedProtocol)}

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
