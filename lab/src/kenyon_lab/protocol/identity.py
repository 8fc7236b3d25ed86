"""The digests by which results are found."""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar


class Identity:
    """Base of requests and of the records that answer them.

    A request and its record have the same digest. It is computed from every attribute that
    determines the result, so a result of other code, parameters or data has another digest.
    """

    kind: ClassVar[str]
    determined_by: ClassVar[tuple[str, ...]]  # The attributes that determine the result.
    location: ClassVar[str]  # The path in the folder of a store, as a format of the request.

    @property
    def digest(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the identity as sorted JSON."""
        identity = {"kind": self.kind, **{name: getattr(self, name) for name in self.determined_by}}
        text = json.dumps(identity, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def path(self) -> str:
        """The path of the record in the folder of a store."""
        return self.location.format(self)

    def accepts(self, record: Any) -> bool:
        """Return whether a record with this digest has everything that is requested."""
        return True


class RunIdentity(Identity):
    """Everything that determines a run."""

    kind = "run"
    determined_by = (
        *("method", "code_version", "parameters", "fingerprint"),
        *("order", "permuted", "seed"),
    )
    location = "runs/{0.method}/{0.order}-{0.seed}-{0.digest}.json"


class ExperimentIdentity(Identity):
    """Everything that determines the result of an experiment."""

    kind = "experiment"
    determined_by = ("experiment", "code_version", "fingerprints", "seed")
    location = "experiments/{0.experiment}-{0.seed}-{0.digest}.json"


class SearchIdentity(Identity):
    """Everything that determines the choice of a grid search."""

    kind = "search"
    determined_by = (
        *("method", "code_version", "fixed", "grid", "fingerprint"),
        *("order", "permuted", "seeds"),
    )
    location = "searches/{0.method}-{0.order}-{0.digest}.json"
