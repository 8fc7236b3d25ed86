"""Checks of the sizes that an Arrow file declares.

polars ends the process if it cannot allocate the memory for a size that a damaged file declares, so
all sizes are compared with the file before. The layout is that of the flatbuffers `File.fbs`,
`Message.fbs` and `Schema.fbs` of the Arrow format.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAGIC = b"ARROW1"
_CONTINUATION = 0xFFFFFFFF
_DICTIONARIES, _RECORD_BATCHES = 2, 3  # fields of the footer
_HEADER_TYPE, _HEADER, _BODY_LENGTH = 1, 2, 3  # fields of a message
_LENGTH, _NODES, _BUFFERS, _COMPRESSION = range(4)  # fields of a record batch
_DATA = 1  # field of a dictionary batch
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # types of messages
_MAX_METADATA = 2**28
_MAX_BUFFER = 2**33
"""Largest buffer after decompression."""


class _Block(NamedTuple):
    """The place of a message in the file."""

    offset: int
    metadata_length: int
    body_length: int


class _Table(NamedTuple):
    """A table of a flatbuffer, at a position of its bytes."""

    data: bytes
    position: int

    def find(self, field: int) -> int | None:
        """Return the position of a field, or None if it is absent."""
        vtable = self.position - self.read("<i", self.position)
        if 4 + 2 * field >= self.read("<H", vtable):
            return None
        offset = self.read("<H", vtable + 4 + 2 * field)
        return self.position + offset if offset else None

    def read(self, kind: str, position: int) -> int:
        if position < 0:
            raise ValueError("its metadata point outside themselves")
        return int(struct.unpack_from(kind, self.data, position)[0])

    def number(self, field: int, kind: str) -> int:
        position = self.find(field)
        return 0 if position is None else self.read(kind, position)

    def table(self, field: int) -> _Table | None:
        position = self.find(field)
        return None if position is None else _Table(self.data, position + self.read("<I", position))

    def structs(self, field: int, kind: str) -> list[tuple[int, ...]]:
        """Return a vector of structures."""
        position = self.find(field)
        if position is None:
            return []
        start = position + self.read("<I", position)
        size = self.read("<I", start) * struct.calcsize(kind)
        if start + 4 + size > len(self.data):
            raise ValueError("its metadata are longer than themselves")
        return list(struct.iter_unpack(kind, self.data[start + 4 : start + 4 + size]))


def check_arrow(path: Path, name: str) -> None:
    """Raise ValueError if an Arrow file declares sizes that it does not have."""
    with path.open("rb") as file:
        try:
            size = file.seek(0, 2)
            footer = _read_footer(file, size)
            for block in _blocks(footer):
                _check_block(file, size, block)
        except (IndexError, OverflowError, ValueError, struct.error) as error:
            raise ValueError(
                f"{name} is damaged or not an Arrow IPC file (Feather version 2): {error}"
            ) from error


def _read_footer(file: BinaryIO, size: int) -> _Table:
    ending = 4 + len(MAGIC)
    if size < len(MAGIC) + ending:
        raise ValueError("it ends early")
    length, magic = struct.unpack(f"<i{len(MAGIC)}s", _read(file, size - ending, ending))
    if magic != MAGIC:
        raise ValueError("it ends early")
    if not 0 < length <= min(size - ending - len(MAGIC), _MAX_METADATA):
        raise ValueError(f"its footer has {length} bytes")
    return _root(_read(file, size - ending - length, length))


def _blocks(footer: _Table) -> Iterator[_Block]:
    for field in (_DICTIONARIES, _RECORD_BATCHES):
        for offset, metadata_length, body_length in footer.structs(field, "<qi4xq"):
            yield _Block(offset, metadata_length, body_length)


def _check_block(file: BinaryIO, size: int, block: _Block) -> None:
    inside = min(block) >= 0 and sum(block) <= size
    if not inside or not 8 < block.metadata_length <= _MAX_METADATA:
        raise ValueError("it has a record batch outside the file")
    metadata = _read(file, block.offset, block.metadata_length)
    first, length = struct.unpack_from("<Ii", metadata)
    # Before version 0.15 of Arrow there was no continuation marker.
    start = 8 if first == _CONTINUATION else 4
    declared = length if first == _CONTINUATION else first
    if not 0 < declared <= len(metadata) - start:
        raise ValueError("the metadata of a record batch are longer than their place")
    message = _root(metadata[start : start + declared])
    if message.number(_BODY_LENGTH, "<q") != block.body_length:
        raise ValueError("a record batch has two lengths")
    kind, batch = message.number(_HEADER_TYPE, "<B"), message.table(_HEADER)
    if batch is not None and kind == _DICTIONARY_BATCH:
        batch = batch.table(_DATA)
    if batch is None or kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        raise ValueError("a message is no record batch")
    _check_batch(file, block, batch)


def _check_batch(file: BinaryIO, block: _Block, batch: _Table) -> None:
    if batch.number(_LENGTH, "<q") < 0 or any(
        not 0 <= n_nulls <= length for length, n_nulls in batch.structs(_NODES, "<qq")
    ):
        raise ValueError("a record batch has an impossible number of rows")
    compressed = batch.table(_COMPRESSION) is not None
    start = block.offset + block.metadata_length
    for offset, length in batch.structs(_BUFFERS, "<qq"):
        if offset < 0 or length < 0 or offset + length > block.body_length:
            raise ValueError("a buffer is outside its record batch")
        if compressed and length >= 8:
            (n_bytes,) = struct.unpack("<q", _read(file, start + offset, 8))
            if not -1 <= n_bytes <= _MAX_BUFFER:
                raise ValueError(f"a buffer declares {n_bytes} bytes after decompression")


def _root(data: bytes) -> _Table:
    return _Table(data, struct.unpack_from("<I", data)[0])


def _read(file: BinaryIO, offset: int, n_bytes: int) -> bytes:
    file.seek(offset)
    data = file.read(n_bytes)
    if len(data) < n_bytes:
        raise ValueError("it ends early")
    return data
