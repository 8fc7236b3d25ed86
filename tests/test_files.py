"""Files are written completely or not at all."""

import errno
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from kenyon import _files
from kenyon._files import replacing


def write(path, content="new"):
    with replacing(path) as beside:
        assert beside.parent == path.resolve().parent, "renaming is atomic within one folder only"
        beside.write_text(content)


def test_writes_a_new_file(tmp_path):
    write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_replaces_the_old_file_at_the_end(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with replacing(path) as beside:
        beside.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
def test_an_error_changes_nothing(tmp_path, error):
    for name, content in (("old", "old"), ("new", None)):
        if content:
            (tmp_path / name).write_text(content)
        with pytest.raises(error), replacing(tmp_path / name) as beside:  # noqa: PT012
            beside.write_text("half")
            raise error("no")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "old"


def error_of(path):
    """Return the error of a refused write, which must not change the folder."""
    before = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    with pytest.raises(OSError) as caught:
        write(path)
    if before:
        assert sorted(path.parent.iterdir()) == before
    return caught.value


def test_an_error_is_one_sentence_about_the_path(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError) as caught, replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device", "elsewhere")
    assert str(caught.value) == f"{path} could not be written: No space left on device"
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(OSError) as caught, replacing(path):
        raise OSError("gone")
    assert str(caught.value) == f"{path} could not be written: gone"


def test_an_error_names_the_path_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error = error_of(Path("nowhere") / "file")
    assert isinstance(error, FileNotFoundError)
    assert str(error) == "nowhere/file could not be written: No such file or directory"
    assert error.errno == errno.ENOENT


def test_rejects_a_path_with_a_zero(tmp_path):
    with pytest.raises(OSError, match="it cannot be the path of a file"):
        write(tmp_path / "a\0b")


@pytest.fixture
def in_time():
    """Raise an error if a call waits for the other end of a FIFO."""

    def stop(*_):
        raise RuntimeError("a call has waited for ten seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def listening(monkeypatch):
    """Return a function that makes a socket; its path may be at most 107 bytes long."""
    with socket.socket(socket.AF_UNIX) as server:

        def bind(path):
            monkeypatch.chdir(path.parent)
            server.bind(path.name)

        yield bind


@pytest.mark.parametrize(
    ("kind", "what", "error"),
    [
        ("fifo", "a FIFO", FileExistsError),
        ("socket", "a socket", FileExistsError),
        ("folder", "a folder", IsADirectoryError),
        ("device", "a character device", FileExistsError),
    ],
)
@pytest.mark.parametrize("linked", [False, True], ids=["itself", "link"])
def test_rejects_what_is_no_regular_file(tmp_path, in_time, listening, kind, what, error, linked):
    path = tmp_path / "special"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        listening(path)
    elif kind == "folder":
        path.mkdir()
    else:  # Nothing writes to it: a link to a device is refused as the device is.
        path.symlink_to("/dev/null")
    if linked:
        path = tmp_path / "link"
        path.symlink_to("special")
    before = path.lstat()
    found = error_of(path)
    assert type(found) is error
    assert str(found) == (
        f"{path} could not be written: it is {what}, and only a regular file can be replaced"
    )
    assert os.path.samestat(path.lstat(), before)


def test_rejects_the_root_folder():
    with pytest.raises(IsADirectoryError, match=r"^/ could not be written: it is a folder, and"):
        write(Path("/"))


def test_rejects_a_loop_of_links(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    error = error_of(tmp_path / "one")
    assert error.errno == errno.ELOOP
    assert str(error).startswith(f"{tmp_path / 'one'} could not be written: it is a loop of")


def test_rejects_a_fifo_that_appears_while_the_block_writes(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(FileExistsError, match="it is a FIFO"), replacing(path) as beside:  # noqa: PT012
        beside.write_text("new")
        os.mkfifo(path)
    assert path.is_fifo()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_keeps_the_permissions_of_the_old_file(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as beside:
        beside.write_text("new")
        beside.chmod(0o600)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_keeps_permissions_that_change_while_the_block_writes(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o644)
    with replacing(path) as beside:
        beside.write_text("new")
        path.chmod(0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nobody_else_may_read_the_new_file_before_it_is_in_place(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o400)
    with replacing(path) as beside:
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600
        beside.write_text("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_root_keeps_owner_and_group(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    os.chown(path, 1234, 5678)
    path.chmod(0o640)
    write(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 5678, 0o640)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_others_keep_the_mode_alone():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_text("old")
        path.chmod(0o664)
        path.parent.chmod(0o777)
        os.seteuid(65534)
        try:
            write(path)
        finally:
            os.seteuid(0)
        found = path.stat()
        assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (65534, 0o664)
        assert path.read_text() == "new"


def test_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "file")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_replaces_the_target_of_a_link(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "other" / "file")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "other" / "file").read_text() == "new"


def test_creates_the_target_of_a_link(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to("other/file")
    write(tmp_path / "first")
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert (tmp_path / "other" / "file").read_text() == "new"
    assert len(list((tmp_path / "other").iterdir())) == 1


def test_rejects_a_link_into_a_missing_folder(tmp_path):
    (tmp_path / "link").symlink_to("nowhere/file")
    assert isinstance(error_of(tmp_path / "link"), FileNotFoundError)
    assert (tmp_path / "link").is_symlink()


def test_concurrent_writers_do_not_mix(tmp_path):
    path = tmp_path / "file"
    with replacing(path) as first, replacing(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first", "the last to finish wins"
    assert len(list(tmp_path.iterdir())) == 1


PROCESS = f"""
import importlib.util, sys
from pathlib import Path
# Without the rest of the package, which takes long to import.
spec = importlib.util.spec_from_file_location("files", {str(_files.__file__)!r})
files = importlib.util.module_from_spec(spec)
spec.loader.exec_module(files)
path = Path(sys.argv[1])
"""
STOPS = """
with files.replacing(path) as beside:
    beside.write_text("half")
    print(beside, flush=True)
    sys.stdin.read()
"""
REPEATS = """
print("ready", flush=True)
enough, i = Path(sys.argv[3]), 0
while i < 150 or not enough.exists():
    with files.replacing(path) as beside:
        beside.write_text(sys.argv[2] * (i % 150 + 1000))
    i += 1
"""


@contextmanager
def process(code, path, *arguments):
    """Start a process that has printed its first line."""
    command = [sys.executable, "-c", PROCESS + code, str(path), *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as started:
        try:
            yield started, started.stdout.readline().strip()
        finally:
            started.kill()


def test_removes_the_orphan_of_a_killed_process(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with process(STOPS, path) as (writer, beside):
        write(path, "while the other process writes")
        assert Path(beside).read_text() == "half"
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert Path(beside).read_text() == "half", "a killed process removes nothing"
        assert path.read_text() == "while the other process writes"
        write(tmp_path / "other")
        assert Path(beside).exists(), "it belongs to another file"
        write(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "other"]


def test_a_live_process_finishes_after_others(tmp_path):
    path = tmp_path / "file"
    with process(STOPS, path) as (writer, _):
        write(path)
        _, errors = writer.communicate(timeout=60)
        assert (writer.returncode, errors) == (0, "")
    assert path.read_text() == "half"
    assert len(list(tmp_path.iterdir())) == 1


def test_processes_that_write_at_once(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    enough, seen = tmp_path / "enough", set()
    with (
        process(REPEATS, path, "a", str(enough)) as (one, _),
        process(REPEATS, path, "b", str(enough)) as (two, _),
    ):
        while one.poll() is None or two.poll() is None:
            content = path.read_text()
            assert content == "old" or (len(set(content)) == 1 and len(content) >= 1000)
            seen.add(content[0])
            # Either may be the faster one.
            if seen >= {"a", "b"} or one.poll() or two.poll():
                enough.touch()
        assert [(other.returncode, other.stderr.read()) for other in (one, two)] == [(0, "")] * 2
    assert seen >= {"a", "b"}
    assert {*tmp_path.iterdir()} == {path, enough}


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_removes_only_unlocked_files_of_its_own_pattern(tmp_path, mode):
    others = [".file.0.part", ".file.0123456789ab.part.txt", "file.0123456789ab.part"]
    for name in [".file.0123456789ab.part", *others]:
        (tmp_path / name).touch(mode)
    os.mkfifo(tmp_path / ".file.ffffffffffff.part")
    write(tmp_path / "file")
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"file", ".file.ffffffffffff.part", *others}


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch, when):
    lock, removed = fcntl.flock, []

    def remove_first(file, operation):
        if not removed:
            (beside,) = tmp_path.iterdir()
            removed.append(beside)
            beside.unlink()
            if when == "meanwhile":
                raise BlockingIOError(errno.EWOULDBLOCK, "the other process has the lock")
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", remove_first)
    with replacing(tmp_path / "file") as beside:
        assert removed != [beside]
        beside.write_text("new")
    assert removed
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_without_locks_no_orphan_is_removed(tmp_path, monkeypatch):
    def fail(file, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    orphan = tmp_path / ".file.0123456789ab.part"
    orphan.touch()
    write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "new"
    assert orphan.exists()


def test_a_block_may_replace_the_temporary_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    with replacing(path) as beside:
        (tmp_path / "by a library").write_text("new")
        (tmp_path / "by a library").replace(beside)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(list(tmp_path.iterdir())) == 1


def test_warns_if_the_folder_cannot_be_synced(tmp_path, monkeypatch):
    def fail(folder):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(_files, "_sync_folder", fail)
    sentence = "file was written, but .* could not be synced: Input/output error"
    with pytest.warns(RuntimeWarning, match=sentence):
        write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "new"


@contextmanager
def interrupted_at(n):
    """Raise KeyboardInterrupt before the n-th instruction of kenyon._files; count all of them."""
    count = [0]

    def trace(frame, event, _):
        if frame.f_code.co_filename != _files.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            count[0] += 1
            if count[0] == n:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield count
    finally:
        sys.settrace(before)


# An object that an interrupt keeps from its `with` statement is closed as garbage.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("old", ["old", None])
@pytest.mark.parametrize("fails", [False, True], ids=["written", "failed"])
def test_an_interrupt_at_any_instruction(tmp_path, old, fails):
    path, n, interrupted = tmp_path / "file", 0, True
    while interrupted:
        n += 1
        path.unlink(missing_ok=True)
        if old:
            path.write_text(old)
        try:
            with interrupted_at(n) as count, replacing(path) as beside:
                beside.write_text("new")
                if fails:
                    raise ValueError("a failed block has a file to remove")
        except KeyboardInterrupt:
            pass
        except ValueError:
            interrupted = False
        else:
            interrupted = False
        assert (path.read_text() if path.exists() else None) in (old, "new")
        assert list(tmp_path.iterdir()) == [path] * path.exists()
    assert count[0] < n
    assert n > 200
