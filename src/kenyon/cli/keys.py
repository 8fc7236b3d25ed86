"""The commands `keys create`, `keys list` and `keys revoke`, for a store that nobody serves."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli.options import AsJson, StoreFolder
from kenyon.cli.visible import visible_label

if TYPE_CHECKING:
    from kenyon.store import Store

CREATE_EXAMPLES = """
kenyon keys create phone --scope predict --model intents --store data
kenyon keys create office --scope teach --scope predict --store data
"""
LIST_EXAMPLES = """
kenyon keys list --store data
"""
REVOKE_EXAMPLES = """
kenyon keys revoke 2 --store data
"""


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who uses the key.")],
    store: StoreFolder,
    scopes: Annotated[
        list[str],
        typer.Option("--scope", metavar="SCOPE", help="predict, teach or admin; may be repeated."),
    ],
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model", metavar="MODEL", help="A model that it is for; by default all of them."
        ),
    ] = None,
) -> None:
    """Create a key, and print it; it is not shown again."""
    with _opened(store) as opened:
        _, secret = opened.keys.create(name, set(scopes), models or None)
    print(secret)


def list_keys(store: StoreFolder, as_json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    with _opened(store) as opened:
        keys = opened.keys.all()
    rows: list[dict[str, Any]] = [
        {
            "id": key.id,
            "name": key.name,
            "scopes": sorted(key.scopes),
            "models": None if key.models is None else sorted(key.models),
            "created": key.created,
            "revoked": key.revoked,
        }
        for key in keys
    ]
    for row in rows:
        if as_json:
            print(json.dumps(row))
            continue
        models = "all models" if row["models"] is None else ", ".join(row["models"])
        state = "revoked" if row["revoked"] is not None else "in use"
        created = datetime.fromtimestamp(row["created"], timezone.utc).isoformat(" ", "minutes")
        name, scopes = visible_label(row["name"]), ", ".join(row["scopes"])
        print(f"{row['id']}  {name}  {scopes}  {models}  {created}  {state}")


def revoke(
    key: Annotated[int, typer.Argument(metavar="ID", help="The key's id, as keys list shows it.")],
    store: StoreFolder,
) -> None:
    """Revoke a key."""
    from kenyon.store.errors import NoSuchKey

    with _opened(store) as opened:
        try:
            opened.keys.revoke(key)
        except NoSuchKey as error:
            raise ValueError(str(error)) from error


@contextmanager
def _opened(folder: str) -> Iterator["Store"]:
    import kenyon.store
    from kenyon.store.errors import StoreInUse

    try:
        opened = kenyon.store.open(folder)
    except StoreInUse as error:
        raise OSError(f"{error}: ask its server instead, at /v1/keys") from error
    with opened:
        yield opened
