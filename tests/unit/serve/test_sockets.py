"""Listening sockets."""

import socket

from readagain.serve.sockets import bind


def test_connections_send_without_delay():
    with bind("127.0.0.1", 0) as bound:
        bound.listen()
        with socket.create_connection(bound.getsockname()):
            accepted, _ = bound.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
