"""Files are written completely or not at all."""

import os
import stat
from pathlib import Path

import pytest

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


def test_os_error_names_the_requested_file(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError, match=f"could not be written: No space left: '{path}'") as caught:  # noqa: SIM117
        with replacing(path):
            raise OSError(28, "No space left", "elsewhere")
    assert caught.value.errno == 28


def test_rejects_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"could not be written: .*nowhere/file"):
        write(tmp_path / "nowhere" / "file")


def test_rejects_a_folder(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(IsADirectoryError, match=r"could not be written: .*file"):
        write(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_keeps_the_permissions_of_the_old_file(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as beside:
        beside.write_text("new")
        beside.chmod(0o600)
    assert stat.S_IMODE(path.stat().st_mode) == mode


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


def test_concurrent_writers_do_not_mix(tmp_path):
    path = tmp_path / "file"
    with replacing(path) as first, replacing(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first", "the last to finish wins"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("path", ["loop", "/"])
def test_rejects_impossible_paths(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(OSError, match=r"cannot be the path of a file"), replacing(Path(path)):
        raise AssertionError("nothing was refused")
