"""Who may do what: keys and their scopes."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING

from kenyon.server.problems import Problem

if TYPE_CHECKING:
    from kenyon.server.call import Call
    from kenyon.store import Key

SCOPES = "predict", "teach", "admin"
ANY = "any"
"""The scope of routes that need some key: for a model, one with some scope for this model."""

_HOW = "send the header Authorization: Bearer KEY"


def find_key(call: Call) -> Key:
    """Return the key of a request, or raise the problem with it."""
    scheme, _, secret = call.headers.get(b"authorization", b"").partition(b" ")
    if call.route.has_basic and scheme.lower() == b"basic":
        secret = _password(secret)
    elif scheme.lower() != b"bearer":
        secret = b""
    if not secret:
        raise Problem(401, f"a key is needed: {_HOW}", www_authenticate="Bearer")
    key = call.service.store.keys.find(secret.strip().decode("latin-1"))
    if key is None:
        raise Problem(
            401,
            "the key is not known, or was revoked",
            www_authenticate='Bearer error="invalid_token"',
        )
    return key


def _password(credentials: bytes) -> bytes:
    """Return the password of basic authentication; the user's name does not matter."""
    try:
        return b64decode(credentials.strip(), validate=True).partition(b":")[2]
    except ValueError:
        return b""


def authorise(call: Call, scope: str) -> Key:
    """Return the key of a request if it has a scope for its model, or raise the problem.

    If the key is not for the model, the answer is the same whether or not the model exists.
    """
    key, model = find_key(call), call.params.get("name")
    if scope == ANY:
        if model is None or any(key.allows(one, model) for one in SCOPES):
            return key
        raise Problem(403, f"the key {key.name!r} is not for the model {model!r:.120}")
    if not key.allows(scope, model):
        of_what = "all models" if model is None else f"the model {model!r:.120}"
        raise Problem(403, f"the key {key.name!r} has no scope {scope} for {of_what}")
    return key


def require(call: Call, scope: str, why: str) -> None:
    """Raise the problem that a request needs a further scope, because of what it asks."""
    assert call.key is not None
    if not call.key.allows(scope, call.params.get("name")):
        raise Problem(403, f"the key {call.key.name!r} has no scope {scope}, which is needed {why}")
