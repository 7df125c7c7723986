"""`readagain serve`: HTTP server with a web page."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from readagain import processors
from readagain.cli import options
from readagain.config.fields import spec_fields
from readagain.serve.settings import RequestLimits, ServeSettings, check_api_keys, read_api_keys

DEFAULTS = ServeSettings()
KEY_VARIABLE = "READAGAIN_API_KEY"

EXAMPLES = (
    "readagain serve",
    "readagain serve --model news --model runs/mine --port 8080",
    "readagain serve --host 0.0.0.0 --workers 4 --api-key-file keys.txt",
)


@options.spec_options(
    DEFAULTS,
    models={"short": "-m", "show_default": DEFAULTS.models[0]},
    host={},
    port={},
    workers={},
)
@options.spec_options(DEFAULTS.limits, panel="Limits")
@options.spec_options(
    DEFAULTS,
    panel="Access",
    cors_origins={"metavar": "ORIGIN"},
    allowed_hosts={"metavar": "NAME"},
)
def command(
    *,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Number of threads per process.",
            show_default="processors divided by workers",
        ),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File of accepted API keys, one per line. The key in the environment variable "
            f"{KEY_VARIABLE} is accepted, too.",
            rich_help_panel="Access",
        ),
    ] = None,
    **arguments: Any,
) -> None:
    """Serve headlines over HTTP, with a web page, until interrupted."""
    from readagain.serve.server import serve

    keys = read_api_keys(api_key_file) if api_key_file is not None else ()
    if KEY_VARIABLE in os.environ:
        keys += check_api_keys([os.environ[KEY_VARIABLE]], KEY_VARIABLE)
    if threads is None:
        threads = max(1, processors.num_processors() // max(arguments["workers"], 1))
    limits = {name: arguments.pop(name) for name in spec_fields(RequestLimits)}
    for name in ("models", "cors_origins", "allowed_hosts"):
        arguments[name] = tuple(arguments[name])
    settings = ServeSettings(
        threads=threads, limits=RequestLimits(**limits), api_keys=keys, **arguments
    )
    if not settings.is_local and not keys:
        print(
            f"readagain serve: warning: {settings.host} can be reached from other machines without "
            f"a key; set one in {KEY_VARIABLE} or with --api-key-file, or use a proxy",
            file=sys.stderr,
        )
    serve(settings, lambda url: print(f"readagain serve: {url}", flush=True))
