"""Models whose changes are never lost: a database of all events, and snapshots."""

from __future__ import annotations

import os
import re
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenyon.store.checking import check_file, check_place, check_text
from kenyon.store.committer import Committer
from kenyon.store.errors import Conflict, NoSuchModel, StoreFailed, StoreInUse
from kenyon.store.folder_lock import FolderLock
from kenyon.store.keys import KeyRing
from kenyon.store.model import StoredModel
from kenyon.store.preparing import check_merge
from kenyon.store.replay import read_file
from kenyon.store.replica import Replica
from kenyon.store.snapshots import Files, FolderFiles, Snapshots, TableFiles, remove_all_but
from kenyon.store.spec import Spec, resolve
from kenyon.store.sqlite import SqliteDatabase
from kenyon.store.verifying import Finding, verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    from typing_extensions import Self

    from kenyon.encoders.encoder import Encoder
    from kenyon.store.database import Database
    from kenyon.store.follower import Follower

_POSTGRES = "postgresql", "postgres"
_DATABASE = "store.sqlite"
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}", re.ASCII)


class Store:
    """Models in a folder or a database, none of whose changes is lost once a call has returned.

    `kenyon.store.open` makes these objects. One process at a time has a folder open; it may use it
    from any number of threads. A database of PostgreSQL may be open in several processes.

    Attributes
    ----------
    folder : Path or None
        None for a database of PostgreSQL.
    keys : KeyRing
        The keys of a server.

    Examples
    --------
    >>> import tempfile, kenyon.store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with kenyon.store.open(folder) as store:
    ...         digits = store.create("digits", features=2)
    ...         print(digits.learn([[1, 0], [0, 1]], ["a", "b"], ids=["first", "second"]).event)
    ...         print(digits.unlearn(["second"]).event, digits.classes())
    ...     with kenyon.store.open(folder) as store:
    ...         print(store.names(), store["digits"].predict([[2, 0]]))
    1
    2 {'a': 1}
    ['digits'] ['a']
    """

    def __init__(self, place: str | PathLike[str]) -> None:
        # One call at a time creates, deletes or closes.
        self._changing = threading.Lock()
        self._is_closed, self._pid = False, os.getpid()
        self._lock: FolderLock | None = None
        self._follower: Follower | None = None
        self.folder: Path | None = None
        self._models: dict[str, StoredModel] = {}
        try:
            check_place(place)
            if is_address(place):
                self._open_postgres(str(place))
            else:
                self._open_folder(Path(place))
        except BaseException:
            self._unlock()
            raise

    def _open_folder(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self.folder)
        except StoreInUse:
            raise
        except OSError as error:
            reason = error.strerror or error
            raise StoreFailed(f"the store {self.folder} could not be opened: {reason}") from error
        _check_complete(self.folder)
        self._start(SqliteDatabase(self.folder / _DATABASE))

    def _open_postgres(self, url: str) -> None:
        from kenyon.store.follower import Follower
        from kenyon.store.postgres import PostgresDatabase

        database = PostgresDatabase(url)
        self._start(database)
        self._follower = Follower(database, self._refresh, self._progress, self._reload)

    def _start(self, database: Database) -> None:
        self._database = database
        with ExitStack() as opened:
            opened.callback(database.close)
            self.keys = KeyRing(database)
            self._committer = Committer(database)
            opened.callback(self._committer.close)
            self._read_models()
            if self.folder is not None:
                self._remove_snapshots_without_record(self.folder / "snapshots")
            opened.pop_all()

    def names(self) -> list[str]:
        """Return the names of all models, sorted."""
        return sorted(self._models)

    def __getitem__(self, name: str) -> StoredModel:
        """Return a model, or raise NoSuchModel."""
        model = self._models.get(name)
        if model is None:
            raise NoSuchModel(f"there is no model {name!r:.80}")
        return model

    def create(
        self,
        name: str,
        features: int | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        encoder: str | Encoder | None = None,
        keep_texts: bool = False,
        who: str = "",
    ) -> StoredModel:
        """Add a model that has learned nothing.

        Parameters
        ----------
        name : str
            Up to 100 letters, digits, "-", "_" and ".".
        features : int, default=None
            The number of features of a sample, for a model of vectors.
        settings : dict, default=None
            Parameters of `FlyClassifier`. All are stored resolved. Not decay or compartments, with
            which no sample could be removed.
        encoder : str or encoder, default=None
            For a model of texts or images: the argument of `TextEncoder`, such as "minilm" or
            "hashing", or "pixels" or "mobilenetv2", or an encoder of `kenyon.encoders`.
        keep_texts : bool, default=False
            Whether the texts that are learned are stored, too.
        who : str, default=""
            Who asked.

        Returns
        -------
        model : StoredModel

        Raises
        ------
        Conflict
            If there is a model of this name.
        ValueError, TypeError, ImportError, OSError
            If an argument is invalid, the encoder is missing, or the disk fails.
        """
        _check_name(name)
        check_text("who", who)
        spec, _ = resolve(features, {} if settings is None else settings, encoder, keep_texts)
        return self._add(name, spec, who)

    def import_model(self, name: str, file: bytes, *, who: str = "") -> StoredModel:
        """Add a model from the content of a `.kenyon` file.

        Its samples are not in the file, so they cannot be unlearned here.
        """
        _check_name(name)
        check_text("who", who)
        classifier, description = read_file(check_file(file), "the file")
        spec = Spec.of(classifier, None, keep_texts=False)
        spec = Spec(spec.parameters, spec.circuit, description)
        if spec.window is not None:
            raise ValueError("a model with a window cannot be imported: its samples have an order")
        request = check_merge(spec, file)
        model = self._add(name, spec, who)
        try:
            model.submit(request, who=who).result()
        except BaseException:
            self.delete(name)
            raise
        return model

    def delete(self, name: str) -> None:
        """Delete a model with all of its events, and erase its content."""
        with self._changing_models():
            replica = self[name].replica
            try:
                with self._database.writing([replica.number]) as writer:
                    writer.delete_model(replica.number)
                    # The committer writes nothing for it any more, or it would stay for ever.
                    replica.is_deleted = True
            except BaseException:
                replica.is_deleted = False
                raise
            del self._models[name]
            replica.snapshots.files.erase(replica.summary().event + 1)
            replica.close()
            if not self._database.clean():
                self._committer.clean()

    def compact(self) -> None:
        """Rewrite the database without free space; changes wait meanwhile."""
        self._database.compact()

    def verify(self) -> list[Finding]:
        """Replay all events of all models, and compare with their snapshots and present sums."""
        problems = self._database.check()
        found = [Finding("", 0, "", False, text) for text in problems]
        for name in self.names():
            found += verify(self._database, self[name])
        return found

    @property
    def name(self) -> str:
        """The folder, or the address without a password."""
        return self._database.name

    def size(self) -> int:
        """Return the bytes of all files, or of the tables."""
        return self._database.size()

    @property
    def n_waiting(self) -> int:
        """The number of changes that wait to be written."""
        return self._committer.n_waiting

    @property
    def n_commits(self) -> int:
        """The number of transactions that were written."""
        return self._committer.n_commits

    def close(self) -> None:
        """Write what waits, and snapshots, and let other processes open the store."""
        if self._is_closed or self._pid != os.getpid():
            return
        with self._changing:
            if self._is_closed:
                return
            self._is_closed = True
        try:
            if self._follower is not None:
                self._follower.close()
            self._committer.close()
            for model in [*self._models.values()]:
                model.replica.close()
            self._database.close()
        finally:
            self._unlock()

    @contextmanager
    def _changing_models(self) -> Iterator[None]:
        """Let one thread at a time create or delete a model, while the store is open."""
        # Before the lock, which may stay locked for ever in a process that was forked.
        self._database.check_open()
        with self._changing:
            if self._is_closed:
                raise StoreFailed("the store is closed")
            yield

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, name: str, spec: Spec, who: str) -> StoredModel:
        with self._changing_models():
            if name in self._models:
                raise Conflict(f"there is a model {name!r} already")
            try:
                with self._database.writing() as writer:
                    number = writer.add_model(name, time.time(), who, spec.to_json())
            except Conflict:
                # Another server has added it just now.
                self._read_models()
                raise Conflict(f"there is a model {name!r} already") from None
            model = self._models[name] = self._open_model(number, name, spec)
            return model

    def _read_models(self) -> None:
        """Add the models that others have created, and leave out those that were deleted."""
        with self._database.reading() as reader:
            found = {name: (number, spec) for number, name, spec, _ in reader.models()}
        for name, model in [*self._models.items()]:
            if name not in found or found[name][0] != model.replica.number:
                model.replica.is_deleted = True
                del self._models[name]
                model.replica.close()
        for name, (number, spec) in found.items():
            if name not in self._models:
                self._models[name] = self._open_model(number, name, Spec(**spec))

    def _remove_snapshots_without_record(self, folder: Path) -> None:
        """Remove files of snapshots whose content may have been erased."""
        with self._database.reading() as reader:
            valid = {
                FolderFiles(folder, number).path(event)
                for number, *_ in reader.models()
                for event, _ in reader.snapshots(number)
            }
        remove_all_but(folder, valid)

    def _refresh(self) -> None:
        """Notice the models, keys and events of other servers."""
        with self._database.reading() as reader:
            numbers = {number for number, *_ in reader.models()}
            last = reader.last_events()
        with self._changing:
            if self._is_closed:
                return
            if numbers != {replica.number for replica in self._replicas()}:
                self._read_models()
            replicas = self._replicas()
        self.keys.refresh()
        for replica in replicas:
            replica.follow(last.get(replica.number, 0))

    def _progress(self) -> dict[int, int]:
        """Return the events that this process has published."""
        with self._changing:
            replicas = self._replicas()
        found = {replica.number: replica.progress for replica in replicas}
        return {number: event for number, event in found.items() if event is not None}

    def _reload(self, numbers: set[int]) -> None:
        with self._changing:
            replicas = self._replicas()
        for replica in replicas:
            if replica.number in numbers:
                replica.reload()

    def _replicas(self) -> list[Replica]:
        return [model.replica for model in self._models.values()]

    def _open_model(self, number: int, name: str, spec: Spec) -> StoredModel:
        database, committer = self._database, self._committer
        files: Files = TableFiles(number)
        if self.folder is not None:
            files = FolderFiles(self.folder / "snapshots", number)
        snapshots = Snapshots(files, database, number)
        replica = Replica(number, name, spec, database, committer, snapshots)
        return StoredModel(replica, database, committer)


def open(place: str | PathLike[str]) -> Store:  # noqa: A001
    """Open the store in a folder, or in a database of PostgreSQL, or make one there.

    Parameters
    ----------
    place : str or path
        A folder, or "postgresql://USER:PASSWORD@HOST:PORT/DATABASE", which any number of processes
        may have open at once (extra `postgres`).

    Returns
    -------
    store : Store

    Raises
    ------
    StoreInUse
        If another process has it open.
    StoreFailed
        If the folder or the database cannot be read or written, or holds something else.
    """
    return Store(place)


def is_address(place: object) -> bool:
    """Return whether a place of a store is an address of PostgreSQL, and not a folder.

    Raises
    ------
    ValueError
        If it is the address of something else. The rest of it may hold a password.
    """
    if not isinstance(place, str) or (found := _SCHEME.match(place)) is None:
        return False
    if found[1] not in _POSTGRES:
        raise ValueError(
            "a store must be a folder or begin with postgresql://, but begins with "
            f"{found[1]:.40}://"
        )
    return True


def _check_complete(folder: Path) -> None:
    """Raise StoreFailed if the database was removed: a new one would hide what is lost."""
    if not (folder / _DATABASE).exists():
        for rest in (folder / f"{_DATABASE}-wal", *(folder / "snapshots").glob("*.kenyon")):
            if rest.exists():
                raise StoreFailed(
                    f"the store {folder} has no {_DATABASE}, but {rest.name}: put the file back, "
                    "or remove the rest of the store"
                )


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            "name must be 1 to 100 letters, digits, '-', '_' and '.', not beginning with '.', but "
            f"is {name!r:.80}"
        )
