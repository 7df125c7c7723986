"""`readagain serve`: headlines over HTTP, and a page to try them on."""

from typing import Annotated

import typer


def command(
    *,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes any free one.")] = 8000,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="A bundled model, or a model folder; may be repeated."),
    ] = None,
) -> None:
    """Answer requests for headlines over HTTP."""
    import uvicorn

    from readagain.serve.app import build_app
    from readagain.serve.logs import start_logging
    from readagain.serve.models import LoadedModels
    from readagain.serve.settings import ServeSettings

    settings = ServeSettings(host=host, port=port, models=tuple(model or ["news"]))
    start_logging()
    app = build_app(settings, LoadedModels.load(settings))
    config = uvicorn.Config(app, host=host, port=port, log_config=None, access_log=False)
    sock = config.bind_socket()
    print(f"readagain serve: http://{host}:{sock.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[sock])
