"""What is installed: everything that is needed, and not much more."""

from pathlib import Path

import kenyon

INSTALLED = [path for path in Path(kenyon.__file__).parent.rglob("*") if path.is_file()]


def test_the_package_stays_below_2_megabytes():
    assert sum(path.stat().st_size for path in INSTALLED if path.suffix != ".pyc") < 2e6
