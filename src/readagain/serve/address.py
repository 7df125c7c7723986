"""The port that a server listens on, alone or shared by its workers."""

import os
import socket
import sys

from readagain.errors import ArgumentError, ConfigError


def bind(host: str, port: int, *, shared: bool) -> socket.socket:
    """Take a port, without listening on it yet.

    Args:
        host: a name or an address.
        port: 0 takes any free one.
        shared: let the other workers of the same server take it too. Connections are spread over
            those that listen.

    Raises:
        ConfigError: when it cannot be taken.
    """
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        taken = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ArgumentError(
            "{host} is {0!r}, which cannot be found; expected a name or an address of this machine",
            host,
        ) from error
    try:
        if os.name == "posix":  # elsewhere it would let two servers have one port
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        # Head and body of an answer are two writes; the second must not wait for the client's
        # acknowledgement of the first, which takes 40 ms. Connections inherit this.
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        taken.bind(address)
    except OSError as error:
        taken.close()
        raise ConfigError(
            f"cannot listen on {url(host, port)}: {error.strerror}; "
            "choose another with --host and --port"
        ) from error
    return taken


def reserve(host: str, port: int) -> socket.socket:
    """Take a port for several workers, unless another server has it.

    Sharing would let a second server take the port of a first one unnoticed, so it is first
    taken for one alone.

    Raises:
        ConfigError: when it cannot be taken, or this system cannot share ports.
    """
    if sys.platform != "linux":
        raise ConfigError(
            "several workers share a port, which only Linux does fairly; "
            "start one, or one server for each port behind a proxy"
        )
    bind(host, port, shared=False).close()
    return bind(host, port, shared=True)


def url(host: str, port: int) -> str:
    """Write the address as people open it."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
