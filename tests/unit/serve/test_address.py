"""The port that a server listens on."""

import socket

from readagain.serve.address import bind


def test_an_answer_does_not_wait_for_the_acknowledgement_of_its_head():
    with bind("127.0.0.1", 0, shared=False) as taken:
        taken.listen()
        with socket.create_connection(taken.getsockname()):
            accepted, _ = taken.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
