"""The routes of keys; they need the scope admin for all models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from kenyon.server.call import Reply
from kenyon.server.problems import Problem, refusing
from kenyon.server.wire import KeyInfo, KeyList, NewKey, Scope

if TYPE_CHECKING:
    from kenyon.server.call import Call
    from kenyon.store import Key


async def list_keys(call: Call) -> KeyList:
    """List all keys, without their secrets."""
    return KeyList(keys=[_describe(key) for key in call.service.store.keys.all()])


async def create_key(call: Call) -> NewKey:
    """Create a key; its secret is shown this once."""
    request, keys = await call.json(), call.service.store.keys
    with refusing():
        key, secret = await call.service.pool.run(
            keys.create, request.name, set(request.scopes), request.models
        )
    return NewKey(
        id=key.id,
        name=key.name,
        scopes=_scopes(key),
        models=_models(key),
        key=secret,
    )


async def revoke_key(call: Call) -> Reply:
    """Revoke a key, at once."""
    number = call.params["id"]
    if not re.fullmatch("[0-9]{1,18}", number):
        raise Problem(404, f"there is no key {number!r:.80}")
    await call.service.pool.run(call.service.store.keys.revoke, int(number))
    return Reply(b"", "")


def _describe(key: Key) -> KeyInfo:
    return KeyInfo(
        id=key.id,
        name=key.name,
        scopes=_scopes(key),
        models=_models(key),
        created=key.created,
        revoked=key.revoked,
    )


def _models(key: Key) -> list[str] | None:
    return None if key.models is None else sorted(key.models)


def _scopes(key: Key) -> list[Scope]:
    return [scope for scope in get_args(Scope) if scope in key.scopes]
