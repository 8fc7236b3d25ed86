"""Downloads resume, are checked, and happen once."""

import gc
import gzip
import hashlib
import logging
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import pooch
import pytest

from kenyon_lab.data.download import download
from kenyon_lab.data.source import Source

CONTENT = random.Random(0).randbytes(50_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PACKED = gzip.compress(CONTENT)
OTHER = b"<html>Welcome to our hotel</html>"
both_kinds = pytest.mark.parametrize("decompress", [False, True], ids=["plain", "packed"])


def source(server, decompress=False):
    return Source("one/file.gz" if decompress else "one/plain", DIGEST, server.url, decompress)


def sent(decompress):
    """The server's file for CONTENT."""
    return PACKED if decompress else CONTENT


def path_in(cache, decompress):
    return cache / "sources" / "one" / ("file" if decompress else "plain")


def part_in(cache, decompress):
    path = path_in(cache, decompress)
    return path.with_name(f"{path.name}.part")


def peer(end):
    try:
        return end.getpeername()
    except OSError:
        return None


def open_connections(server):
    """Number of sockets of this process that are connected to the server."""
    sockets = [thing for thing in gc.get_objects() if type(thing) is socket.socket]
    peers = [peer(s) for s in sockets if s.fileno() >= 0]
    return peers.count(server.server_address)


def kept(cache):
    """Names of all files that are not empty."""
    return {path.name for path in cache.rglob("*") if path.is_file() and path.stat().st_size}


@both_kinds
def test_downloads_once(server, cache, decompress):
    server.content = sent(decompress)
    for _ in range(2):
        assert source(server, decompress).fetch() == path_in(cache, decompress)
        assert source(server, decompress).read() == CONTENT
    assert path_in(cache, decompress).read_bytes() == CONTENT
    assert kept(cache) == {path_in(cache, decompress).name}
    assert server.sent == [len(server.content)]


def test_accepts_decompressed_response(server, cache):
    server.content = CONTENT
    assert source(server, decompress=True).read() == CONTENT


@both_kinds
def test_resumes(server, cache, decompress):
    whole = server.content = sent(decompress)
    server.breaks = [10 * 1024, 7 * 1024]
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match=r"the download .* failed .*; the same"):
            source(server, decompress).fetch()
        assert not path_in(cache, decompress).exists()
        assert whole.startswith(part_in(cache, decompress).read_bytes())
        assert source(server, decompress).is_local() is False
    assert part_in(cache, decompress).stat().st_size == 17 * 1024
    assert source(server, decompress).read() == CONTENT
    assert server.ranges == ["bytes=0-", f"bytes={10 * 1024}-", f"bytes={17 * 1024}-"]
    assert sum(server.sent) == len(whole)
    assert kept(cache) == {path_in(cache, decompress).name}


@both_kinds
def test_restarts_without_range_support(server, cache, decompress):
    whole = server.content = sent(decompress)
    server.takes_ranges = False
    server.breaks = [10 * 1024]
    with pytest.raises(FileNotFoundError):
        source(server, decompress).fetch()
    assert source(server, decompress).read() == CONTENT
    assert server.ranges[1] == f"bytes={10 * 1024}-"
    assert server.sent[1] == len(whole)
    assert kept(cache) == {path_in(cache, decompress).name}


def test_restart_truncates_the_part(server, cache):
    server.content, server.takes_ranges = CONTENT, False
    server.breaks = [20 * 1024, 5 * 1024]
    for length in (20 * 1024, 5 * 1024):
        with pytest.raises(FileNotFoundError):
            source(server).fetch()
        assert part_in(cache, False).read_bytes() == CONTENT[:length]
    server.takes_ranges = True
    assert source(server).read() == CONTENT
    assert server.ranges[2] == f"bytes={5 * 1024}-"


@both_kinds
def test_complete_part_needs_no_download(server, cache, decompress):
    server.content = sent(decompress)
    part_in(cache, decompress).parent.mkdir(parents=True)
    part_in(cache, decompress).write_bytes(server.content)
    assert source(server, decompress).read() == CONTENT
    assert server.sent == [0]
    assert kept(cache) == {path_in(cache, decompress).name}
    assert open_connections(server) == 0


def test_part_survives_interrupted_decompression(server, cache, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    server.content = sent(True)
    monkeypatch.setattr("kenyon_lab.data.source.decompress", interrupt)
    with pytest.raises(KeyboardInterrupt):
        source(server, True).read()
    monkeypatch.undo()
    assert part_in(cache, True).read_bytes() == PACKED


@both_kinds
@pytest.mark.parametrize("length", [100, len(CONTENT) + 100], ids=["short", "long"])
@pytest.mark.parametrize("beginning", [b"", b"\x1f\x8b\x08"], ids=["junk", "gzip"])
def test_deletes_wrong_part(server, cache, decompress, length, beginning):
    server.content = sent(decompress)
    part_in(cache, decompress).parent.mkdir(parents=True)
    part_in(cache, decompress).write_bytes((beginning + b"junk" * length)[:length])
    with pytest.raises(ValueError, match=f"was deleted: its sha256 is not {DIGEST}"):
        source(server, decompress).fetch()
    assert kept(cache) == set()
    assert not path_in(cache, decompress).exists()
    assert source(server, decompress).read() == CONTENT
    assert open_connections(server) == 0


@both_kinds
@pytest.mark.parametrize(
    "content",
    [OTHER, gzip.compress(OTHER), PACKED[:-9], PACKED[:-4] + b"four", PACKED[:40], b""],
    ids=["page", "packed page", "truncated", "other length", "beginning", "nothing"],
)
def test_rejects_and_deletes_wrong_file(server, cache, decompress, content):
    server.content, server.takes_ranges = content, False
    with pytest.raises(ValueError, match=f"{server.url} was deleted: its sha256 is not {DIGEST}"):
        source(server, decompress).fetch()
    assert kept(cache) == set()
    assert not path_in(cache, decompress).exists()
    assert not part_in(cache, decompress).exists()
    server.content = sent(decompress)
    assert source(server, decompress).read() == CONTENT


@both_kinds
def test_replaces_damaged_cache(server, cache, decompress):
    server.content = sent(decompress)
    path = path_in(cache, decompress)
    path.parent.mkdir(parents=True)
    for damaged in (CONTENT[:-1], b"", CONTENT[:-1] + b"!"):
        path.write_bytes(damaged)
        assert source(server, decompress).read() == CONTENT
        assert path.read_bytes() == CONTENT
    assert server.sent == [len(server.content)] * 3


def test_damaged_cache_stays_if_download_is_wrong(server, cache):
    server.content = OTHER
    path = path_in(cache, False)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(ValueError, match="was deleted"):
        source(server).fetch()
    assert path.read_bytes() == CONTENT[:-1]
    with pytest.raises(ValueError, match="was deleted"):
        source(server).read()


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_part_survives_server_error(server, cache, status):
    server.content = CONTENT
    server.breaks, server.statuses = [10 * 1024], [None, status]
    with pytest.raises(FileNotFoundError):
        source(server).fetch()
    with pytest.raises(FileNotFoundError, match=f"the server answered {status}") as caught:
        source(server).fetch()
    assert "\n" not in str(caught.value)
    assert part_in(cache, False).read_bytes() == CONTENT[: 10 * 1024]
    assert source(server).read() == CONTENT
    assert open_connections(server) == 0


def test_times_out(cache, monkeypatch):
    monkeypatch.setattr(pooch.downloaders, "DEFAULT_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(FileNotFoundError, match="the server did not answer in time"):
            Source("one/plain", DIGEST, url).fetch()
    assert kept(cache) == set()


def test_part_survives_timeout(server, cache, monkeypatch):
    server.content, server.at_first = CONTENT, 20 * 1024
    server.gate.clear()
    with monkeypatch.context() as patch:
        # Long enough for what the server sends at first.
        patch.setattr(pooch.downloaders, "DEFAULT_TIMEOUT", 1)
        with pytest.raises(FileNotFoundError, match=r"the download .* failed"):
            source(server).fetch()
    assert part_in(cache, False).read_bytes() == CONTENT[: 20 * 1024]
    server.gate.set()
    assert source(server).read() == CONTENT
    assert server.ranges[1] == f"bytes={20 * 1024}-"


def test_error_416_without_part(server, cache):
    server.content = CONTENT
    server.statuses = [416]
    with pytest.raises(FileNotFoundError, match="the server answered 416"):
        source(server).fetch()
    assert kept(cache) == set()
    assert source(server).read() == CONTENT
    assert open_connections(server) == 0


def test_rejects_truncated_response_without_length(server, cache):
    server.content, server.says_length = CONTENT, False
    server.breaks = [10 * 1024]
    with pytest.raises((FileNotFoundError, ValueError)):
        source(server).fetch()
    assert not path_in(cache, False).exists()
    assert source(server).read() == CONTENT


@both_kinds
@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_ignores_content_encoding(server, cache, decompress, encoding):
    """The cached content does not depend on the header."""
    content = gzip.compress(CONTENT)
    digest = DIGEST if decompress else hashlib.sha256(content).hexdigest()
    server.content, server.headers = content, {"Content-Encoding": encoding}
    fetched = Source("one/file.gz", digest, server.url, decompress)
    assert fetched.read() == CONTENT


def test_decompressed_files_have_the_same_mode(server, cache):
    modes = []
    for decompress in (False, True):
        server.content = sent(decompress)
        path = source(server, decompress).fetch()
        modes.append(oct(path.stat().st_mode))
        path.unlink()
    assert modes[0] == modes[1]


def test_prints_nothing_without_terminal(server, capfd):
    server.content = CONTENT
    source(server).fetch()
    with pytest.raises(FileNotFoundError):
        Source("two", DIGEST, "http://127.0.0.1:9/x").fetch()
    assert capfd.readouterr() == ("", "")


def test_restores_level_of_logger(server, tmp_path):
    before = pooch.get_logger().level
    assert before != logging.WARNING, "or it would prove nothing"
    server.content = OTHER
    with pytest.raises(ValueError, match="was deleted"):
        download(server.url, tmp_path / "file", DIGEST, decompress=False)
    assert pooch.get_logger().level == before


def test_threads_download_once(server, cache):
    server.content = CONTENT
    server.gate.clear()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(source(server).read())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert server.asked.wait(30)
    server.gate.set()
    for thread in threads:
        thread.join()
    assert found == [CONTENT] * 4
    assert server.sent == [len(CONTENT)]


FETCH = """
import hashlib, sys
from kenyon_lab.data.source import Source
url, digest, decompress = sys.argv[1:]
decompress = decompress == "True"
source = Source("one/file.gz" if decompress else "one/plain", digest, url, decompress)
print("ready", flush=True)
print(hashlib.sha256(source.read()).hexdigest(), flush=True)
"""


def start(server, decompress=False):
    """Start a process that fetches the file."""
    command = [sys.executable, "-c", FETCH, server.url, DIGEST, str(decompress)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_until_ready(process):
    assert process.stdout.readline() == "ready\n"


def test_processes_download_once(server, cache):
    server.content = PACKED
    server.gate.clear()
    processes = [start(server, decompress=True) for _ in range(2)]
    for process in processes:
        wait_until_ready(process)
    assert server.asked.wait(30)
    time.sleep(0.3)
    assert len(server.ranges) == 1, "the other one waits"
    server.gate.set()
    for process in processes:
        assert process.communicate(timeout=60)[0] == f"{DIGEST}\n"
        assert process.returncode == 0
    assert server.sent == [len(PACKED)]
    assert path_in(cache, True).read_bytes() == CONTENT
    assert kept(cache) == {"file"}


def test_resumes_after_kill(server, cache):
    server.content, server.at_first = CONTENT, 20 * 1024
    server.gate.clear()
    process = start(server)
    wait_until_ready(process)
    deadline = time.monotonic() + 30
    part = part_in(cache, False)
    while not (part.exists() and part.stat().st_size == server.at_first):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.communicate()[0] == ""
    assert not path_in(cache, False).exists()
    assert not source(server).is_local()
    server.gate.set()
    assert source(server).read() == CONTENT
    assert server.ranges == ["bytes=0-", f"bytes={20 * 1024}-"]
    assert kept(cache) == {"plain"}
