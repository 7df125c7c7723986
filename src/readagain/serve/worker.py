"""One process that answers: it loads the models, listens, and finishes what it took."""

import os
import signal
import socket
import threading
from collections.abc import Callable
from multiprocessing import parent_process

import uvicorn

from readagain.serve.app import build_app
from readagain.serve.logs import logger, start_logging
from readagain.serve.models import LoadedModels
from readagain.serve.settings import GRACE_S, ServeSettings


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, tell_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell_ready = tell_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell_ready()


def run_worker(
    settings: ServeSettings, taken: socket.socket, tell_ready: Callable[[], None]
) -> None:
    """Answer requests until told to stop, then finish those that were taken.

    Told so while the models are loaded, it answers none.

    Args:
        settings: what to serve.
        taken: the port, which is listened on once the models are loaded.
        tell_ready: is called when requests are answered.

    Raises:
        ArtifactError: when a model cannot be used.
    """
    start_logging()
    server: _Server | None = None
    is_told_to_stop = False

    def stop(number: int, frame: object) -> None:
        nonlocal is_told_to_stop
        is_told_to_stop = True
        if server is not None:
            server.should_exit = True

    # The server has handlers of its own while it runs, and then sends on what it was sent; what
    # that finds must not end the process.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    config = uvicorn.Config(
        build_app(settings, LoadedModels.load(settings)),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=int(settings.limits.timeout_s + GRACE_S),
    )
    server = _Server(config, tell_ready)
    if not is_told_to_stop:
        server.run(sockets=[taken])
    logger.info("stopped")


def stop_with_parent() -> None:
    """Stop this process, as if told to, when the one that started it is gone."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="watch parent", daemon=True).start()
