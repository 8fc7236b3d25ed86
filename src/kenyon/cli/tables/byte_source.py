"""The bytes of a text file, read in blocks and consumed by records."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from kenyon.cli.tables.samples import Progress

BLOCK_SIZE = 2**22
"""Bytes that are parsed at once."""
MAX_RECORD = 2**24
"""Largest record. Without a bound, an unclosed quote would read the whole file into memory."""
_PEEK_BYTES = 2**20
_BOM = b"\xef\xbb\xbf"
_MAGIC = {
    b"\x1f\x8b": "compressed by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"PK\x03\x04": "a zip archive",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\x93NUMPY": "a NumPy array",
    b"\xff\xfe": "encoded as UTF-16",
    b"\xfe\xff": "encoded as UTF-16",
}


class ByteSource:
    """The bytes of a file that are not consumed yet, and the number of their first line.

    Parameters
    ----------
    file : binary file
    name : str
        The file in errors.
    progress : Progress
    block_size : int

    Raises
    ------
    ValueError
        If the file is empty, or its first bytes are those of no text file.
    """

    def __init__(
        self, file: BinaryIO, name: str, progress: Progress, block_size: int = BLOCK_SIZE
    ) -> None:
        self.name = name
        self.line = 1
        self._file = file
        self._progress = progress
        self._block_size = block_size
        self._data = b""
        self._start = 0
        # The first bytes tell the kind of the file.
        self._size = max(block_size, 8)
        self._at_end = False
        self._fill(self._size)
        for magic, what in _MAGIC.items():
            if self._data.startswith(magic):
                raise ValueError(f"{name} is {what}; expected text encoded as UTF-8")
        if self._data.startswith(_BOM):
            self._start = len(_BOM)
        if not self.available and self._at_end:
            raise ValueError(f"{name} is empty")

    @property
    def available(self) -> int:
        """Number of bytes that are read and not consumed."""
        return len(self._data) - self._start

    def _fill(self, n_bytes: int) -> None:
        """Read until this number of bytes is available, or the file ends."""
        pieces = [self._data[self._start :]]
        missing = n_bytes - self.available
        while missing > 0 and not self._at_end:
            piece = self._file.read(missing)
            self._at_end = not piece
            self._progress.done += len(piece)
            missing -= len(piece)
            pieces.append(piece)
        self._data, self._start = b"".join(pieces), 0

    def block(self) -> bytes:
        """Return the next block without consuming it; the last one may be shorter."""
        self._fill(self._size)
        return self._data[: self._size]

    def is_last(self, block: bytes) -> bool:
        """Return whether the file ends with this block."""
        return self._at_end and len(block) == self.available

    def peek(self) -> bytes:
        """Return the first lines of the file, about a megabyte, without consuming them."""
        self._fill(_PEEK_BYTES)
        while self._data.find(b"\n") < 0 and not self._at_end and self.available <= MAX_RECORD:
            self._fill(2 * self.available)
        return self._data[self._start :]

    def grow(self) -> None:
        """Double the block, which holds no whole record.

        Raises
        ------
        ValueError
            If the block is as large as `MAX_RECORD`.
        """
        if self._size >= MAX_RECORD:
            self.refuse_length()
        self._size = min(2 * self._size, MAX_RECORD)

    def consume(self, n_bytes: int) -> None:
        """Drop the first bytes, which end with a line."""
        stop = self._start + n_bytes
        self.line += self._data.count(b"\n", self._start, stop)
        self._start = stop
        self._size = self._block_size

    def take_line(self) -> bytes:
        """Consume and return the next line, or b"" at the end of the file."""
        searched = 0
        while (stop := self._data.find(b"\n", self._start + searched)) < 0 and not self._at_end:
            if (searched := self.available) > MAX_RECORD:
                self.refuse_length()
            self._fill(max(self._block_size, 2 * self.available))
        stop = len(self._data) if stop < 0 else stop + 1
        line = self._data[self._start : stop]
        self._start = stop
        self.line += 1
        return line

    def refuse_length(self) -> None:
        """Raise ValueError about the record at the first line that is not consumed."""
        raise ValueError(
            f"{self.name}, line {self.line}: the record is longer than {MAX_RECORD:,} bytes; is "
            "a quote or a line end missing?"
        )
