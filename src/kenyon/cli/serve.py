"""The command `serve`."""

from pathlib import Path
from typing import Annotated

import typer

from kenyon.cli.options import StoreFolder

EXAMPLES = """
kenyon serve --store data --port 8000
kenyon serve --store data --host 0.0.0.0 --tls-cert chain.pem --tls-key key.pem
"""
MEGABYTE = 2**20


def serve(
    store: StoreFolder,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0: any that is free.")
    ] = 8000,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; another one needs keys.")
    ] = "127.0.0.1",
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="A certificate chain (PEM).")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="The key of the certificate.")
    ] = None,
    max_body: Annotated[
        int, typer.Option("--max-body", min=1, help="Megabytes of a request.")
    ] = 16,
    max_file: Annotated[
        int, typer.Option("--max-file", min=1, help="Megabytes of an imported or merged model.")
    ] = 256,
    max_batch: Annotated[
        int, typer.Option("--max-batch", min=1, help="Samples of a request.")
    ] = 10_000,
    max_classes: Annotated[
        int, typer.Option("--max-classes", min=1, help="Classes of a model.")
    ] = 10_000,
    log_level: Annotated[
        str, typer.Option("--log-level", help="debug, info, warning or error.")
    ] = "info",
) -> None:
    """Serve the models of a store over HTTP, until Ctrl-C or SIGTERM."""
    if log_level not in ("debug", "info", "warning", "error"):
        raise ValueError(f"--log-level must be debug, info, warning or error, but is {log_level!r}")
    if (tls_cert is None) != (tls_key is None):
        raise ValueError("--tls-cert and --tls-key must be given together")
    for file in (tls_cert, tls_key):
        if file is not None and not file.is_file():
            raise FileNotFoundError(f"there is no file {file}")
    try:
        from kenyon.server import run
        from kenyon.server.limits import Limits
    except ModuleNotFoundError as error:
        raise ImportError(
            f"kenyon serve needs {error.name}: pip install 'kenyon[server]'"
        ) from error
    import kenyon.store

    limits = Limits(
        body=max_body * MEGABYTE,
        file=max_file * MEGABYTE,
        memory=2 * max(max_body, max_file) * MEGABYTE,
        batch=max_batch,
        classes=max_classes,
    )
    tls = None if tls_cert is None or tls_key is None else run.Tls(tls_cert, tls_key)
    with kenyon.store.open(store) as opened:
        run.serve(opened, host=host, port=port, limits=limits, tls=tls, log_level=log_level)
