"""A client of a server of Kenyon, with types, retries and idempotency.

`pip install 'kenyon[client]'`. It needs no store and no server library.
"""

from kenyon.client.client import Client
from kenyon.client.errors import ServerError, Unreachable
from kenyon.client.model import Model

__all__ = ["Client", "Model", "ServerError", "Unreachable"]
