"""Files are written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from kenyon._files import replacing


def write(path, content="new"):
    with replacing(path) as beside:
        assert beside.parent == path.resolve().parent, "or the last step would not be one"
        beside.write_text(content)


def test_a_new_file(tmp_path):
    write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_the_old_file_is_there_until_the_new_one_is(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with replacing(path) as beside:
        beside.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
def test_what_fails_leaves_all_as_it_was(tmp_path, error):
    for name, content in (("old", "old"), ("new", None)):
        if content:
            (tmp_path / name).write_text(content)
        with pytest.raises(error), replacing(tmp_path / name) as beside:  # noqa: PT012
            beside.write_text("half")
            raise error("no")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "old"


def test_an_error_of_the_system_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError, match=f"could not be written: No space left: '{path}'") as caught:  # noqa: SIM117
        with replacing(path):
            raise OSError(28, "No space left", "elsewhere")
    assert caught.value.errno == 28


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"could not be written: .*nowhere/file"):
        write(tmp_path / "nowhere" / "file")


def test_a_folder_in_the_place_of_the_file(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(IsADirectoryError, match=r"could not be written: .*file"):
        write(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_the_rights_of_the_old_file_stay(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as beside:
        beside.write_text("new")
        beside.chmod(0o600)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_rights_that_the_user_gives(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "file")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_what_a_link_points_to_is_replaced_and_not_the_link(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "other" / "file")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "other" / "file").read_text() == "new"


def test_two_writers_do_not_mix(tmp_path):
    path = tmp_path / "file"
    with replacing(path) as first, replacing(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first", "the last to finish"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("path", ["loop", "/"])
def test_what_cannot_be_a_file_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(OSError, match=r"cannot be the path of a file"), replacing(Path(path)):
        raise AssertionError("nothing was refused")
