"""The client: models and keys of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon.client.model import Model, model_path
from kenyon.client.transport import MODEL_FILE, Transport
from kenyon.server.wire import (
    CreateKey,
    CreateModel,
    KeyInfo,
    KeyList,
    ModelInfo,
    ModelList,
    NewKey,
)

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

    from typing_extensions import Self


class Client:
    """A connection to a server of Kenyon. Threads may share it.

    Requests are sent again, after pauses that double, when the server cannot be reached, is busy
    (429) or cannot work now (503). Every change has an idempotency key, so a change that is sent
    again is made once.

    Parameters
    ----------
    url : str
        The address that `kenyon serve` prints.
    key : str
    timeout : float, default=30
        Seconds without a byte from the server.
    retries : int, default=8
        How often a request is sent again; 8 are tried over about 20 seconds.
    verify : bool or ssl.SSLContext, default=True
        How the server's certificate is checked, as for httpx.

    Examples
    --------
    >>> from kenyon.client import Client
    >>> client = Client("http://127.0.0.1:8000", "kenyon_...")
    >>> intents = client.model("intents")
    >>> client.close()
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 30,
        retries: int = 8,
        verify: bool | ssl.SSLContext = True,
    ) -> None:
        self._transport = Transport(url, key, timeout, retries, verify)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.http.close()

    def models(self) -> list[ModelInfo]:
        """Return the models that the key is for."""
        return self._transport.ask(ModelList, "GET", "/v1/models").models

    def model(self, name: str) -> Model:
        """Return a model by its name, without asking the server."""
        return Model(self._transport, name)

    def create(
        self,
        name: str,
        features: int | None = None,
        settings: dict[str, Any] | None = None,
        *,
        encoder: str | None = None,
        keep_texts: bool = False,
    ) -> Model:
        """Create a model. If it is there already, with the same settings, nothing happens.

        Parameters
        ----------
        name : str
        features : int, default=None
            The width of vectors. Exactly one of features and encoder must be given.
        settings : dict, default=None
            Parameters of `FlyClassifier`.
        encoder : {"text", "minilm", "hashing", "pixels"}, default=None
        keep_texts : bool, default=False
            Whether the store keeps the texts that are learned.

        Returns
        -------
        model : Model
        """
        body = CreateModel(
            features=features,
            encoder=encoder,  # type: ignore[arg-type]
            settings=settings or {},
            keep_texts=keep_texts,
        )
        self._transport.send("PUT", model_path(name), body)
        return self.model(name)

    def import_model(self, name: str, file: bytes) -> Model:
        """Create a model from the content of a `.kenyon` file."""
        self._transport.send(
            "POST",
            model_path(name, "import"),
            content=file,
            media_type=MODEL_FILE,
            # The second of two would find the model of the first, and fail.
            is_repeatable=False,
        )
        return self.model(name)

    def keys(self) -> list[KeyInfo]:
        """Return all keys, without their secrets."""
        return self._transport.ask(KeyList, "GET", "/v1/keys").keys

    def create_key(
        self, name: str, scopes: Iterable[str], models: Iterable[str] | None = None
    ) -> NewKey:
        """Create a key.

        Parameters
        ----------
        name : str
            Who uses it; events say so.
        scopes : iterable of {"predict", "teach", "admin"}
        models : iterable of str, default=None
            None: all models, and those to come.

        Returns
        -------
        key : NewKey
            `key.key` is the secret, which is not shown again.
        """
        body = CreateKey(
            name=name,
            scopes=[*scopes],  # type: ignore[list-item]
            models=None if models is None else [*models],
        )
        # Sent again it would make a second key, and the first would stay without a use.
        return self._transport.ask(NewKey, "POST", "/v1/keys", body, is_repeatable=False)

    def revoke_key(self, id: int) -> None:  # noqa: A002
        """Revoke a key, at once."""
        self._transport.send("DELETE", f"/v1/keys/{id}")
