"""Downloads are taken up where they broke off, checked before they count, and made once."""

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
from pathlib import Path

import pooch
import pytest

from kenyon_lab.data import source as source_module
from kenyon_lab.data.download import download
from kenyon_lab.data.source import Source

HERE = Path(source_module.__file__).parent
CONTENT = random.Random(0).randbytes(50_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PACKED = gzip.compress(CONTENT)
OTHER = b"<html>Welcome to our hotel</html>"
both_kinds = pytest.mark.parametrize("repacked", [False, True], ids=["plain", "packed"])


def source(server, repacked=False):
    return Source("one/file.gz" if repacked else "one/plain", DIGEST, server.url, repacked)


def sent(repacked):
    """What the server sends for CONTENT."""
    return PACKED if repacked else CONTENT


def path_in(cache, repacked):
    return cache / "sources" / "one" / ("file" if repacked else "plain")


def part_in(cache, repacked):
    path = path_in(cache, repacked)
    return path.with_name(f"{path.name}.part")


def peer(end):
    try:
        return end.getpeername()
    except OSError:
        return None


def open_connections(server):
    """How many sockets of this process still reach the server."""
    sockets = [thing for thing in gc.get_objects() if type(thing) is socket.socket]
    peers = [peer(s) for s in sockets if s.fileno() >= 0]
    return peers.count(server.server_address)


def kept(cache):
    """The names of all files that hold something."""
    return {path.name for path in cache.rglob("*") if path.is_file() and path.stat().st_size}


@both_kinds
def test_a_missing_file_is_fetched_once_and_kept_unpacked(server, cache, repacked):
    server.content = sent(repacked)
    for _ in range(2):
        assert source(server, repacked).fetch() == path_in(cache, repacked)
        assert source(server, repacked).read() == CONTENT
    assert path_in(cache, repacked).read_bytes() == CONTENT
    assert kept(cache) == {path_in(cache, repacked).name}
    assert server.sent == [len(server.content)]


def test_a_server_that_unpacks_what_it_sends_is_taken_as_it_is(server, cache):
    server.content = CONTENT
    assert source(server, repacked=True).read() == CONTENT


@both_kinds
def test_a_download_is_taken_up_where_it_broke_off(server, cache, repacked):
    whole = server.content = sent(repacked)
    server.breaks = [10 * 1024, 7 * 1024]
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match=r"does not send it .*; the same call"):
            source(server, repacked).fetch()
        assert not path_in(cache, repacked).exists()
        assert whole.startswith(part_in(cache, repacked).read_bytes())
        assert source(server, repacked).is_at_hand() is False
    assert part_in(cache, repacked).stat().st_size == 17 * 1024
    assert source(server, repacked).read() == CONTENT
    assert server.ranges == ["bytes=0-", f"bytes={10 * 1024}-", f"bytes={17 * 1024}-"]
    assert sum(server.sent) == len(whole)
    assert kept(cache) == {path_in(cache, repacked).name}


@both_kinds
def test_a_server_that_takes_no_ranges_sends_all_again(server, cache, repacked):
    whole = server.content = sent(repacked)
    server.takes_ranges = False
    server.breaks = [10 * 1024]
    with pytest.raises(FileNotFoundError):
        source(server, repacked).fetch()
    assert source(server, repacked).read() == CONTENT
    assert server.ranges[1] == f"bytes={10 * 1024}-"
    assert server.sent[1] == len(whole)
    assert kept(cache) == {path_in(cache, repacked).name}


def test_all_sent_again_and_broken_off_sooner_leaves_no_mixture(server, cache):
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
def test_a_part_that_is_complete_needs_nothing_more(server, cache, repacked):
    server.content = sent(repacked)
    part_in(cache, repacked).parent.mkdir(parents=True)
    part_in(cache, repacked).write_bytes(server.content)
    assert source(server, repacked).read() == CONTENT
    assert server.sent == [0]
    assert kept(cache) == {path_in(cache, repacked).name}
    assert open_connections(server) == 0


def test_a_download_outlives_unpacking_that_is_broken_off(server, cache, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    server.content = sent(True)
    monkeypatch.setattr("shutil.copyfileobj", interrupt)
    with pytest.raises(KeyboardInterrupt):
        source(server, True).read()
    monkeypatch.undo()
    assert part_in(cache, True).read_bytes() == PACKED


@both_kinds
@pytest.mark.parametrize("length", [100, len(CONTENT) + 100], ids=["short", "long"])
@pytest.mark.parametrize("beginning", [b"", b"\x1f\x8b\x08"], ids=["junk", "gzip"])
def test_a_part_of_something_else_is_not_kept(server, cache, repacked, length, beginning):
    server.content = sent(repacked)
    part_in(cache, repacked).parent.mkdir(parents=True)
    part_in(cache, repacked).write_bytes((beginning + b"junk" * length)[:length])
    with pytest.raises(ValueError, match=f"sha256 is not {DIGEST}; it was not kept"):
        source(server, repacked).fetch()
    assert kept(cache) == set()
    assert not path_in(cache, repacked).exists()
    assert source(server, repacked).read() == CONTENT
    assert open_connections(server) == 0


@both_kinds
@pytest.mark.parametrize(
    "content",
    [OTHER, gzip.compress(OTHER), PACKED[:-9], PACKED[:-4] + b"four", PACKED[:40], b""],
    ids=["page", "packed page", "cut short", "other length", "beginning", "nothing"],
)
def test_something_else_is_refused_and_not_kept(server, cache, repacked, content):
    server.content, server.takes_ranges = content, False
    with pytest.raises(ValueError, match=f"{server.url} sent a file whose sha256 is not {DIGEST}"):
        source(server, repacked).fetch()
    assert kept(cache) == set()
    assert not path_in(cache, repacked).exists()
    assert not part_in(cache, repacked).exists()
    server.content = sent(repacked)
    assert source(server, repacked).read() == CONTENT


@both_kinds
def test_a_damaged_file_in_the_cache_is_fetched_again(server, cache, repacked):
    server.content = sent(repacked)
    path = path_in(cache, repacked)
    path.parent.mkdir(parents=True)
    for damaged in (CONTENT[:-1], b"", CONTENT[:-1] + b"!"):
        path.write_bytes(damaged)
        assert source(server, repacked).read() == CONTENT
        assert path.read_bytes() == CONTENT
    assert server.sent == [len(server.content)] * 3


def test_a_damaged_file_in_the_cache_stays_until_a_better_one_has_come(server, cache):
    server.content = OTHER
    path = path_in(cache, False)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(ValueError, match="was not kept"):
        source(server).fetch()
    assert path.read_bytes() == CONTENT[:-1]
    with pytest.raises(ValueError, match="was not kept"):
        source(server).read()


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_an_error_of_the_server_is_named_and_a_part_outlives_it(server, cache, status):
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


def test_a_server_that_does_not_answer_is_given_up(cache, monkeypatch):
    monkeypatch.setattr(pooch.downloaders, "DEFAULT_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(FileNotFoundError, match="the server did not answer in time"):
            Source("one/plain", DIGEST, url).fetch()
    assert kept(cache) == set()


def test_a_server_that_falls_silent_is_given_up_and_the_part_outlives_it(
    server, cache, monkeypatch
):
    monkeypatch.setattr(pooch.downloaders, "DEFAULT_TIMEOUT", 0.2)
    server.content, server.at_first = CONTENT, 20 * 1024
    server.gate.clear()
    with pytest.raises(FileNotFoundError, match="does not send it"):
        source(server).fetch()
    assert part_in(cache, False).read_bytes() == CONTENT[: 20 * 1024]
    server.gate.set()
    assert source(server).read() == CONTENT
    assert server.ranges[1] == f"bytes={20 * 1024}-"


def test_the_range_refused_at_the_very_start_is_an_error(server, cache):
    server.content = CONTENT
    server.statuses = [416]
    with pytest.raises(FileNotFoundError, match="the server answered 416"):
        source(server).fetch()
    assert kept(cache) == set()
    assert source(server).read() == CONTENT
    assert open_connections(server) == 0


def test_an_answer_without_a_length_that_breaks_off_is_not_taken_for_whole(server, cache):
    server.content, server.says_length = CONTENT, False
    server.breaks = [10 * 1024]
    with pytest.raises((FileNotFoundError, ValueError)):
        source(server).fetch()
    assert not path_in(cache, False).exists()
    assert source(server).read() == CONTENT


@both_kinds
@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
def test_a_server_that_calls_packing_an_encoding(server, cache, repacked, encoding):
    """Servers say of .gz files that they are encoded; what is kept must not depend on it."""
    content = gzip.compress(CONTENT)
    digest = DIGEST if repacked else hashlib.sha256(content).hexdigest()
    server.content, server.headers = content, {"Content-Encoding": encoding}
    fetched = Source("one/file.gz", digest, server.url, repacked)
    assert fetched.read() == CONTENT


def test_files_that_were_unpacked_may_be_read_by_whom_others_may(server, cache):
    modes = []
    for repacked in (False, True):
        server.content = sent(repacked)
        path = source(server, repacked).fetch()
        modes.append(oct(path.stat().st_mode))
        path.unlink()
    assert modes[0] == modes[1]


def test_nothing_is_printed_where_nobody_watches(server, capfd):
    server.content = CONTENT
    source(server).fetch()
    with pytest.raises(FileNotFoundError):
        Source("two", DIGEST, "http://127.0.0.1:9/x").fetch()
    assert capfd.readouterr() == ("", "")


def test_the_logger_of_pooch_is_as_loud_as_before(server, tmp_path):
    before = pooch.get_logger().level
    assert before != logging.WARNING, "or it would prove nothing"
    server.content = OTHER
    with pytest.raises(ValueError, match="was not kept"):
        download(server.url, tmp_path / "file", DIGEST, unpack=False)
    assert pooch.get_logger().level == before


def test_threads_of_one_process_fetch_a_file_once(server, cache):
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


FETCH = f"""
import hashlib, sys, types
# Without their other modules, since scikit-learn takes seconds to import.
for name, folder in (("kenyon", {str(HERE.parent)!r}), ("kenyon_lab.data", {str(HERE)!r})):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from kenyon_lab.data.source import Source
url, digest, repacked = sys.argv[1:]
repacked = repacked == "True"
source = Source("one/file.gz" if repacked else "one/plain", digest, url, repacked)
print("ready", flush=True)
print(hashlib.sha256(source.read()).hexdigest(), flush=True)
"""


def start(server, repacked=False):
    """Start a process that fetches the file."""
    command = [sys.executable, "-c", FETCH, server.url, DIGEST, str(repacked)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_until_ready(process):
    assert process.stdout.readline() == "ready\n"


def test_two_processes_at_once_fetch_a_file_once(server, cache):
    server.content = PACKED
    server.gate.clear()
    processes = [start(server, repacked=True) for _ in range(2)]
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


def test_a_process_killed_amid_a_download_leaves_a_part_that_the_next_one_takes_up(server, cache):
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
    assert not source(server).is_at_hand()
    server.gate.set()
    assert source(server).read() == CONTENT
    assert server.ranges == ["bytes=0-", f"bytes={20 * 1024}-"]
    assert kept(cache) == {"plain"}
