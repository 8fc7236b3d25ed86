"""Bodies of requests: read within limits, and decoded from JSON or `.npy`."""

from __future__ import annotations

import asyncio
import io
import sys
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
import numpy as np

from kenyon.server.problems import Problem

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kenyon.server.call import Call

    T = TypeVar("T")

JSON, NPY, MODEL_FILE = "application/json", "application/x-npy", "application/octet-stream"
DRAIN_SECONDS, DRAIN_BYTES = 2, 2**26
MIN_RATE = 2**20
"""Bytes a second at which a long body must arrive."""
MAX_FIELDS = 100


class TooSlow(Exception):  # noqa: N818
    """The time for a block was over."""


class Deadline:
    """A block that must end within some seconds, or raises `TooSlow`.

    `asyncio.timeout` needs Python 3.11, and `asyncio.wait_for` a task of its own.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_over = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._is_over and kind is asyncio.CancelledError:
            # Since Python 3.11 a task counts its cancellations.
            if sys.version_info >= (3, 11):
                self._task.uncancel()
            raise TooSlow from error

    def _end(self) -> None:
        self._is_over = True
        self._task.cancel()


async def read_body(call: Call, limit: int) -> bytes:
    """Return the body of a request, or raise a problem if it is too long or comes too slowly.

    The bytes are counted in the load of the server until the request has been answered.
    """
    coding = call.headers.get(b"content-encoding", b"identity").decode("latin-1")
    if coding.lower() != "identity":
        raise Problem(415, f"a body must not be compressed, but Content-Encoding is {coding!r:.80}")
    length = _declared_length(call)
    if length > limit:
        raise _refuse(call, limit)
    call.reserve(length)
    seconds = call.service.limits.read_seconds + length / MIN_RATE
    try:
        with Deadline(seconds):
            body, more = await _receive(call)
            if not more and len(body) <= length:  # nearly always: one piece, with its length
                return body
            pieces, total = [body], len(body)
            while True:
                if total > limit:
                    raise _refuse(call, limit)
                call.reserve(max(0, total - call.reserved))
                if not more:
                    return b"".join(pieces)
                body, more = await _receive(call)
                pieces.append(body)
                total += len(body)
    except TooSlow:
        raise Problem(
            408, f"the body did not arrive within {round(seconds)} seconds", connection="close"
        ) from None


def _declared_length(call: Call) -> int:
    """Return the length that the header says; 0 for a body in chunks."""
    value = call.headers.get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


async def _receive(call: Call) -> tuple[bytes, bool]:
    message = await call.receive()
    if message["type"] == "http.disconnect":
        raise Problem(400, "the connection was closed before the end of the body")
    return message.get("body", b""), message.get("more_body", False)


def _refuse(call: Call, limit: int) -> Problem:
    """Return the problem of a long body.

    The answer is only read by clients that have sent their body, or notice the answer while they
    send. So the connection stays open for a moment, in which the rest is thrown away.
    """
    call.drain = DRAIN_SECONDS
    return Problem(
        413, f"the body is longer than {limit} bytes, the limit of this server", connection="close"
    )


async def drain(call: Call) -> None:
    """Throw the rest of a body away, for a moment."""
    n_bytes = 0
    try:
        with Deadline(call.drain):
            while n_bytes < DRAIN_BYTES:
                message = await call.receive()
                if message["type"] == "http.disconnect" or not message.get("more_body"):
                    return
                n_bytes += len(message["body"])
    except TooSlow:
        return


def media_type(call: Call) -> str:
    """Return the media type of a body, without parameters."""
    given = call.headers.get(b"content-type", b"").decode("latin-1")
    return given.partition(";")[0].strip().lower()


def wrong_type(call: Call, *expected: str) -> Problem:
    """Return the problem of a body of another type."""
    given = call.headers.get(b"content-type", b"").decode("latin-1")
    return Problem(415, f"Content-Type must be {' or '.join(expected)}, but is {given!r:.80}")


def decode_json(
    body: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T] | None, place: str = "$"
) -> T:
    """Return JSON as the decoder's type, or raise the problem with it.

    Parameters
    ----------
    body : bytes
    decoder : Decoder
    place : str, default="$"
        Where in the request it is, for the problem.
    """
    assert decoder is not None
    try:
        return decoder.decode(body)
    except RecursionError:
        raise Problem(400, "the body is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise Problem(400, f"the body is not UTF-8: {error.reason}") from None
    except msgspec.ValidationError as error:
        raise Problem(400, f"the body does not fit: {_describe(error, place)}") from None
    except (msgspec.DecodeError, ValueError) as error:
        raise Problem(400, f"the body is not JSON: {error}") from None


def _describe(error: msgspec.ValidationError, place: str) -> str:
    """Return what is wrong and where, as in "Expected `str`, got `int` - at `$.label`"."""
    text = str(error)
    if place == "$":
        return text
    what, found, path = text.rpartition(" - at `$")
    return f"{what} - at `{place}{path}" if found else f"{text} - at `{place}`"


def decode_query(call: Call, expected: type[T]) -> T:
    """Return the query as an object, or raise the problem with it."""
    query = call.scope["query_string"]
    try:
        text = query.decode("ascii")
        pairs = parse_qsl(text, True, errors="strict", max_num_fields=MAX_FIELDS)
        return msgspec.convert(dict(pairs), expected, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(400, f"the query does not fit: {error}") from None
    except ValueError:
        raise Problem(400, "the query is not URL-encoded UTF-8") from None


def decode_npy(body: bytes) -> NDArray[Any]:
    """Return a body in NumPy's format as an array, which shares its memory.

    `numpy.load` would allocate what the header says before it looks at the length.
    """
    stream = io.BytesIO(body)
    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            header = np.lib.format.read_array_header_1_0(stream)
        elif version == (2, 0):
            header = np.lib.format.read_array_header_2_0(stream)
        else:
            raise ValueError(f"version {version} is not supported")
        shape, is_fortran, dtype = header
        if dtype.hasobject or dtype.itemsize == 0:
            raise ValueError(f"the type {str(dtype)!r:.80} is not supported")
        count = 1
        for n in shape:
            count *= n
        given = len(body) - stream.tell()
        if count * dtype.itemsize != given:
            raise ValueError(f"an array of shape {shape} cannot have {given} bytes")
        array = np.frombuffer(body, dtype, count, stream.tell())
        return array.reshape(shape, order="F" if is_fortran else "C")
    # The header is a Python literal: what a hostile one raises is not documented.
    except Exception as error:
        raise Problem(400, f"the body is no .npy file: {str(error)[:200]}") from None
