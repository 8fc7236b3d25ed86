"""Atomic writes, and files of tensors in the safetensors format."""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
import re
import secrets
import stat
import warnings
from contextlib import contextmanager, suppress
from io import BytesIO, FileIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from safetensors import deserialize, safe_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[Any]]

_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    **{f"U{size}": np.dtype(f"<u{size // 8}") for size in (8, 16, 32, 64)},
    **{f"I{size}": np.dtype(f"<i{size // 8}") for size in (8, 16, 32, 64)},
    **{f"F{size}": np.dtype(f"<f{size // 8}") for size in (16, 32, 64)},
}
_DTYPE_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_METADATA = "__metadata__"
_SIZE_BYTES = 8
MAX_HEADER_BYTES = 1 << 25
"""The longest header: as Python objects it takes up to 25 times as much memory."""
_TOKEN_BYTES = 6
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    # Other links have been followed.
    stat.S_IFLNK: "a loop of symbolic links",
}
_ERRNOS = {stat.S_IFDIR: errno.EISDIR, stat.S_IFLNK: errno.ELOOP}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, and replace `path` by this file when the block ends.

    At every moment `path` holds the old content or the whole new content, also if the process is
    killed. The new file has the mode of the old one and, where the process may set them, its owner
    and group. A symbolic link stays, and its target is replaced. Temporary files that killed
    processes left beside `path` are removed.

    The block writes to the temporary file, which exists already. A block that replaces this file
    by another one loses the lock that protects it from other processes that save to `path`.

    Raises
    ------
    OSError
        If `path` is neither a regular file nor free, or the block or a write raises it: one
        sentence about `path`, with the errno of the cause. The old file is then unchanged.

    Warns
    -----
    RuntimeWarning
        If the file was replaced, but its folder could not be synced.
    """
    try:
        target = _follow_links(path)
        old = _find_regular_file(target)
        _remove_orphans(target)
        with _temporary_file(target, old) as beside:
            default_mode = beside.stat().st_mode
            yield beside
            # A long block leaves time for changes of the old file.
            old = _find_regular_file(target) or old
            if old is not None:
                _keep_owner(beside, old)
            # Some libraries create files that only their owner may read.
            beside.chmod(stat.S_IMODE(old.st_mode if old else default_mode))
            with beside.open("rb") as file:
                os.fsync(file.fileno())
            beside.replace(target)
    except OSError as error:
        raise _describe(path, error) from error
    # The new file is in place, so an error would wrongly say that the old one still is.
    try:
        _sync_folder(target.parent)
    except FileNotFoundError as error:
        # The folder has been removed meanwhile, and the file with it.
        raise _describe(path, error) from error
    except OSError as error:
        warnings.warn(
            f"{path} was written, but a power failure may bring the old file back, because its "
            f"folder could not be synced: {error.strerror or error}",
            RuntimeWarning,
            stacklevel=2,
        )


def _describe(path: Path, error: OSError) -> OSError:
    """Return the error of a failed write as a sentence, with its errno and the type for it."""
    described = type(OSError(error.errno, ""))(
        f"{path} could not be written: {error.strerror or error}"
    )
    # As an argument, the errno would precede the sentence.
    described.errno = error.errno
    return described


def _follow_links(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # Python before 3.13
        raise OSError(errno.ELOOP, f"it is {_KINDS[stat.S_IFLNK]}") from error
    except ValueError as error:
        raise OSError(errno.EINVAL, f"it cannot be the path of a file ({error})") from error


def _find_regular_file(target: Path) -> os.stat_result | None:
    """Return the status of a file, or None if there is none; raise OSError for other things.

    Nothing is opened, since opening a FIFO waits for its other end.
    """
    try:
        found = target.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISREG(found.st_mode):
        return found
    kind = stat.S_IFMT(found.st_mode)
    what = _KINDS.get(kind, "a special file")
    code = _ERRNOS.get(kind, errno.EEXIST)
    raise OSError(code, f"it is {what}, and only a regular file can be replaced")


@contextmanager
def _temporary_file(target: Path, old: os.stat_result | None) -> Iterator[Path]:
    """Yield the path of a new file beside the target; lock it for the block, then remove it."""
    # Nobody may read the new file who may not read the old one.
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777 | 0o600

    def create(name: str, flags: int) -> int:
        return os.open(name, flags, mode)

    while True:
        beside = target.with_name(f".{target.name}.{secrets.token_hex(_TOKEN_BYTES)}.part")
        # An interrupt can reach the first removal or the second, but not both.
        try:
            try:
                with FileIO(beside, "x", opener=create) as file:
                    if _lock(file, beside):
                        yield beside
                        return
            finally:
                _remove(beside)
        finally:
            _remove(beside)


def _lock(file: FileIO, path: Path) -> bool:
    """Lock a new file; return False if another process took it for an orphan before."""
    try:
        # Unlike the locks of lockf, this one stays when the block opens and closes the file.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # The file system has no locks, so nobody removes orphans.
        return True
    return os.path.lexists(path)


def _remove_orphans(target: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote the target."""
    pattern = rf"\.{re.escape(target.name)}\.[0-9a-f]{{{2 * _TOKEN_BYTES}}}\.part"
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if re.fullmatch(pattern, entry.name):
                _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    """Remove a regular file, unless a writer holds its lock or locks are not supported."""
    with suppress(OSError):
        if not stat.S_ISREG(path.lstat().st_mode):
            return
        # NFS locks only files that are open for writing, and an orphan may be read-only.
        access = os.O_RDWR if os.access(path, os.W_OK) else os.O_RDONLY
        descriptor = os.open(path, access | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _keep_owner(path: Path, old: os.stat_result) -> None:
    """Give a file the owner and the group of the old one, or only the group, if allowed."""
    new = path.stat()
    if (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid):
        return
    try:
        os.chown(path, old.st_uid, old.st_gid)
    except OSError:
        with suppress(OSError):
            os.chown(path, -1, old.st_gid)


class TensorFile:
    """A safetensors file, mapped into memory, or its content: its tensors are read-only views.

    Raises
    ------
    OSError, SafetensorError
        If it cannot be read, or is no safetensors file.
    """

    def __init__(self, source: Path | bytes) -> None:
        self._bytes = _checked(source) if isinstance(source, bytes) else _map(source)
        self._start = _SIZE_BYTES + int.from_bytes(self._bytes[:_SIZE_BYTES], "little")
        self._header = parse_json(self._bytes[_SIZE_BYTES : self._start].decode())
        self.metadata: dict[str, str] = self._header.pop(_METADATA, {})

    @property
    def n_tensors(self) -> int:
        """The number of tensors."""
        return len(self._header)

    def tensors(self) -> Tensors:
        """Return all tensors; raise ValueError for a type that NumPy lacks."""
        return {name: self._view(**place) for name, place in self._header.items()}

    def _view(self, dtype: str, shape: list[int], data_offsets: list[int]) -> NDArray[Any]:
        if dtype not in _DTYPES:
            raise ValueError(f"a tensor is of the type {dtype!r}")
        first, end = (self._start + offset for offset in data_offsets)
        view = np.frombuffer(memoryview(self._bytes)[first:end], _DTYPES[dtype]).reshape(shape)
        check_booleans(view)
        # Other programs may write tensors at places that the kernel cannot read.
        return np.require(view, requirements="A")


def check_booleans(tensor: NDArray[Any]) -> None:
    """Raise ValueError if a tensor holds booleans that are neither true nor false."""
    if tensor.dtype == np.bool_ and tensor.view(np.uint8).max(initial=0) > 1:
        # NumPy counts such bytes when it makes room for the elements that a mask selects.
        raise ValueError("a tensor of booleans holds bytes other than 0 and 1")


def _map(path: Path) -> mmap:
    """Return the bytes of a file whose format safetensors has checked."""
    with path.open("rb") as file:
        _check_header_size(file.read(_SIZE_BYTES))
    # All bytes belong to exactly one tensor, and so on.
    with safe_open(path, framework="numpy"):
        pass
    with path.open("rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def _checked(content: bytes) -> bytes:
    """Return the bytes of a file after the same checks."""
    _check_header_size(content)
    deserialize(content)
    return content


def _check_header_size(start: bytes) -> None:
    size = int.from_bytes(start[:_SIZE_BYTES], "little")
    if size > MAX_HEADER_BYTES:
        raise ValueError(f"its header has {size} bytes, more than {MAX_HEADER_BYTES}")


def parse_json(text: str) -> Any:
    """Parse JSON as the standard defines it: no NaN, no infinity, no repeated keys."""
    return json.loads(
        text,
        object_pairs_hook=_unique,
        parse_constant=_refuse_constant,
        parse_float=_finite,
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its header repeats a key")
    return found


def _refuse_constant(text: str) -> float:
    raise ValueError(f"its header holds {text}")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"its header holds the number {text:.40}")
    return number


def write_tensors(path: Path, tensors: Tensors, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file atomically; equal arguments give equal bytes."""
    with replacing(path) as beside, beside.open("wb") as file:
        _write(file, tensors, metadata or {})


def tensor_bytes(tensors: Tensors, metadata: dict[str, str]) -> bytes:
    """Return the content of the file that `write_tensors` writes."""
    file = BytesIO()
    _write(file, tensors, metadata)
    return file.getvalue()


def _write(file: BinaryIO, tensors: Tensors, metadata: dict[str, str]) -> None:
    header: dict[str, Any] = {_METADATA: metadata}
    end = 0
    # The widest types first, so that each tensor is aligned.
    names = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    for name in names:
        tensor, start = tensors[name], end
        end += tensor.nbytes
        dtype, offsets = _DTYPE_NAMES[tensor.dtype], [start, end]
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": offsets}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _SIZE_BYTES)
    if len(text) > MAX_HEADER_BYTES:
        raise ValueError(
            f"the header would have {len(text)} bytes, more than {MAX_HEADER_BYTES}: the labels or "
            "names are too long"
        )
    file.write(len(text).to_bytes(_SIZE_BYTES, "little") + text)
    for name in names:
        file.write(np.ascontiguousarray(tensors[name]).data)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
