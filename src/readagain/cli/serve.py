"""`readagain serve`: headlines over HTTP, and a page to try them on."""

from pathlib import Path
from typing import Annotated

import typer

from readagain.cli import options
from readagain.serve.settings import RequestLimits, ServeSettings

DEFAULTS = ServeSettings()
MOST = RequestLimits()
LIMITS, ACCESS = "RequestLimits", "Access"
KEY_VARIABLE = "READAGAIN_API_KEY"


def command(
    *,
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 for everywhere.")
    ] = DEFAULTS.host,
    port: Annotated[int, typer.Option(help="The port; 0 takes any free one.")] = DEFAULTS.port,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="A bundled model, or a model folder; may be repeated, the first is the default. "
            f"{DEFAULTS.models[0]} unless given.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes that share the port.", callback=options.check_workers)
    ] = DEFAULTS.workers,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Threads of a worker; its share of the processors if unset.",
            callback=options.check_threads,
        ),
    ] = None,
    max_texts: Annotated[
        int, typer.Option(help="Texts in a request.", rich_help_panel=LIMITS)
    ] = MOST.max_texts,
    max_chars: Annotated[
        int, typer.Option(help="Characters of a text.", rich_help_panel=LIMITS)
    ] = MOST.max_chars,
    max_body_bytes: Annotated[
        int, typer.Option(help="Bytes of a request.", rich_help_panel=LIMITS)
    ] = MOST.max_body_bytes,
    max_queue: Annotated[
        int,
        typer.Option(
            help="Texts that may wait in a worker; beyond, requests are refused at once.",
            rich_help_panel=LIMITS,
        ),
    ] = MOST.max_queue,
    max_requests: Annotated[
        int, typer.Option(help="Requests in a worker at once.", rich_help_panel=LIMITS)
    ] = MOST.max_requests,
    max_wait_ms: Annotated[
        float,
        typer.Option(
            help="Milliseconds that a text waits for others to be read with.",
            rich_help_panel=LIMITS,
        ),
    ] = MOST.max_wait_ms,
    timeout_s: Annotated[
        float, typer.Option(help="Seconds that a request may take.", rich_help_panel=LIMITS)
    ] = MOST.timeout_s,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            help="A file of keys, one a line; requests must send one of them. "
            f"{KEY_VARIABLE} may hold one too.",
            rich_help_panel=ACCESS,
        ),
    ] = None,
    cors_origin: Annotated[
        list[str] | None,
        typer.Option(
            help="Another site whose pages may ask, as https://example.org, or *; may be repeated.",
            rich_help_panel=ACCESS,
        ),
    ] = None,
) -> None:
    """Answer requests for headlines over HTTP, until stopped."""
    import os
    import sys

    from readagain.processors import num_processors
    from readagain.serve.run import check_keys, read_keys, serve

    keys = read_keys(api_key_file) if api_key_file is not None else ()
    if KEY_VARIABLE in os.environ:
        keys += check_keys([os.environ[KEY_VARIABLE]], KEY_VARIABLE)
    settings = ServeSettings(
        host=host,
        port=port,
        models=tuple(model or DEFAULTS.models),
        workers=workers,
        threads=max(1, num_processors() // max(workers, 1)) if threads is None else threads,
        limits=RequestLimits(
            max_body_bytes=max_body_bytes,
            max_texts=max_texts,
            max_chars=max_chars,
            max_queue=max_queue,
            max_requests=max_requests,
            max_wait_ms=max_wait_ms,
            timeout_s=timeout_s,
        ),
        api_keys=keys,
        cors_origins=tuple(cors_origin or ()),
    )
    if not settings.is_local and not keys:
        print(
            f"readagain serve: warning: {host} can be reached by others, and no key is asked for; "
            f"set one in {KEY_VARIABLE} or with --api-key-file, or put a proxy in front",
            file=sys.stderr,
        )
    serve(settings, lambda url: print(f"readagain serve: {url}", flush=True))
