"""Requests with samples, from bodies of JSON.

One call for megabytes would keep the interpreter for tens of milliseconds, in which no other
request is answered. So long bodies are decoded in a thread, sample by sample.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

import msgspec
import numpy as np

from kenyon.server.bodies import decode_json

if TYPE_CHECKING:
    from kenyon.server.call import Call

LONG = 2**18
"""Bytes of a body that the event loop does not decode itself: shorter ones take up to 2 ms."""


class _Decoders(NamedTuple):
    """Decoders of a request whose samples stay JSON, and of one sample."""

    envelope: msgspec.json.Decoder[Any]
    sample: msgspec.json.Decoder[Any]


async def read_samples(call: Call) -> Any:
    """Return a request with samples, or raise the problem with it."""
    body = await call.body()
    if len(body) < LONG:
        return decode_json(body, call.route.decoder)
    assert call.route.takes is not None
    return await call.service.pool.run(decode_long, body, call.route.takes)


def decode_long(body: bytes, request: type[msgspec.Struct]) -> Any:
    """Return a body as a request, decoded sample by sample; its vectors are arrays.

    Parameters
    ----------
    body : bytes
    request : type
        A struct with the field `samples`; its base has all other fields.
    """
    envelope, sample = _decoders(request)
    fields = msgspec.structs.asdict(decode_json(body, envelope))
    raw = fields.pop("samples")
    samples = []
    for i, each in enumerate(raw):
        decoded = decode_json(each, sample, f"$.samples[{i}]")
        if decoded.vector is not None:
            # Lists of numbers take four times the memory, and long to be freed all at once.
            decoded.vector = np.array(decoded.vector, dtype=np.float64)
        samples.append(decoded)
    return request(samples=samples, **fields)


@cache
def _decoders(request: type[msgspec.Struct]) -> _Decoders:
    samples = get_type_hints(request, include_extras=True)["samples"]
    listed, length = get_args(samples)
    (sample,) = get_args(listed)
    raw = Annotated[list[msgspec.Raw], length]
    envelope = msgspec.defstruct(
        "Envelope", [("samples", raw)], bases=request.__bases__, kw_only=True
    )
    return _Decoders(msgspec.json.Decoder(envelope), msgspec.json.Decoder(sample))
