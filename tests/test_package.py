"""What is installed: everything that is needed, and not much more."""

from pathlib import Path

import kenyon

INSTALLED = [path for path in Path(kenyon.__file__).parent.rglob("*") if path.is_file()]


def test_the_package_stays_below_25_megabytes():
    assert sum(path.stat().st_size for path in INSTALLED if path.suffix != ".pyc") < 25e6


def test_whose_work_the_packaged_data_are_is_said_beside_them():
    (notice,) = (path for path in INSTALLED if path.name == "NOTICE.md")
    for path in notice.parent.iterdir():
        assert path == notice or f"`{path.name}`" in notice.read_text()
