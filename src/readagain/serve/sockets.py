"""Listening sockets of one process or of several workers."""

import socket
import sys
from typing import Any

from readagain.errors import ArgumentError, ConfigError


def bind(host: str, port: int, shared: bool = False) -> socket.socket:
    """Bind a socket to a port, or to any free port if it is 0, without listening yet.

    If `shared`, other sockets of this user may be bound to the same port; the kernel distributes
    connections evenly among the sockets that listen.
    """
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ArgumentError(
            "{host} is {0!r}, which cannot be resolved; expected a name or address of this machine",
            host,
        ) from error
    try:
        if sys.platform != "win32":  # on Windows, it lets two servers bind one port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared and sys.platform != "win32":  # the test of the platform is for mypy
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        # A response is written in two parts, headers and body; without this option the body waits
        # up to 40 ms for the acknowledgement of the headers. Connections inherit the option.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise ArgumentError(
            "{0}: cannot listen there ({1}); choose another {host} or {port}",
            url(host, port),
            error.strerror,
        ) from error
    return bound


class WorkerSocket:
    """Placeholder that is unpickled as a new bound socket in each worker.

    uvicorn pickles its sockets for each worker. If all workers share one socket, the worker that
    wakes first accepts every waiting connection: 64 clients were split 58 to 6 between two workers.
    With a socket per worker, the kernel distributes connections evenly.
    """

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port

    def __reduce__(self) -> tuple[Any, ...]:
        return bind, (*self._address, True)


def reserve(host: str, port: int) -> socket.socket:
    """Bind a socket to a port that several workers will share, unless another server uses the port.

    The port is first bound exclusively, since two servers could otherwise share it by mistake.
    """
    if sys.platform != "linux":
        raise ConfigError(
            "workers: more than one needs Linux; use one worker, or run several servers behind a "
            "proxy"
        )
    bind(host, port).close()
    return bind(host, port, shared=True)


def url(host: str, port: int) -> str:
    """Return the address as a URL."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
