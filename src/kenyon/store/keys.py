"""Keys of a server: who may do what. Secrets are stored as hashes."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from kenyon.store.errors import NoSuchKey

if TYPE_CHECKING:
    from collections.abc import Collection

    from kenyon.store.database import Database

SCOPES = "predict", "teach", "admin"
PREFIX = "kenyon_"
MAX_NAME = 100


class Key(NamedTuple):
    """A key without its secret."""

    id: int
    name: str
    scopes: frozenset[str]
    models: frozenset[str] | None
    """The models that it is for; None: all."""
    created: float
    revoked: float | None = None

    def allows(self, scope: str, model: str | None = None) -> bool:
        """Return whether the key allows something, for a model or, with None, for the server.

        "admin" allows everything that "predict" and "teach" do.
        """
        if self.models is not None and model not in self.models:
            return False
        return scope in self.scopes or "admin" in self.scopes


class KeyRing:
    """The keys of a store.

    Examples
    --------
    >>> import tempfile, kenyon.store
    >>> with tempfile.TemporaryDirectory() as folder, kenyon.store.open(folder) as store:
    ...     key, secret = store.keys.create("page", {"predict"}, models=["intents"])
    ...     found = store.keys.find(secret)
    ...     print(found.allows("predict", "intents"), found.allows("teach", "intents"))
    ...     store.keys.revoke(key.id)
    ...     print(store.keys.find(secret))
    True False
    None
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._keys: dict[bytes, Key] = {}
        self.refresh()

    def create(
        self, name: str, scopes: Collection[str], models: Collection[str] | None = None
    ) -> tuple[Key, str]:
        """Return a new key and its secret, which is not stored.

        Parameters
        ----------
        name : str
            For people; events name it.
        scopes : collection of {"predict", "teach", "admin"}
        models : collection of str, default=None
            The models that it is for. None: all.
        """
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
            raise ValueError(
                f"name must have 1 to {MAX_NAME} printable characters, but is {name!r:.80}"
            )
        if not scopes or isinstance(scopes, str) or not {*scopes} <= {*SCOPES}:
            raise ValueError(f"scopes must be some of {', '.join(SCOPES)}, but are {scopes!r:.80}")
        if models is not None and (isinstance(models, str) or not models):
            raise ValueError(f"models must be names of models or None, but are {models!r:.80}")
        secret = PREFIX + secrets.token_urlsafe(32)
        values = (
            name,
            _hash(secret),
            json.dumps(sorted(scopes)),
            None if models is None else json.dumps(sorted(models)),
            time.time(),
        )
        with self._database.writing() as writer:
            number = writer.add_key(*values)
        self.refresh()
        (key,) = (key for key in self.all() if key.id == number)
        return key, secret

    def all(self) -> list[Key]:
        """Return all keys, also those that were revoked."""
        return sorted(self._keys.values())

    def revoke(self, number: int) -> None:
        """Make a key invalid; raise NoSuchKey if there is no valid key of this number."""
        with self._database.writing() as writer:
            is_done = writer.revoke_key(number, time.time())
        if not is_done:
            raise NoSuchKey(f"there is no valid key {number}")
        self.refresh()

    def find(self, secret: str) -> Key | None:
        """Return the valid key with this secret, or None."""
        wanted, found = _hash(secret), None
        # Every hash is compared, so the time does not tell how near a guess is.
        for each, key in self._keys.items():
            if hmac.compare_digest(each, wanted):
                found = key
        return None if found is None or found.revoked is not None else found

    def refresh(self) -> None:
        """Read the keys again, since other servers may have changed them."""
        # Within the lock, so that keys that were read earlier do not replace later ones.
        with self._database.reading() as reader, self._lock:
            self._keys = {
                digest: Key(
                    number,
                    name,
                    frozenset(json.loads(scopes)),
                    None if models is None else frozenset(json.loads(models)),
                    created,
                    revoked,
                )
                for number, name, digest, scopes, models, created, revoked in reader.all_keys()
            }


def _hash(secret: str) -> bytes:
    # The secret is random and long, so that no slow hash is needed.
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()
