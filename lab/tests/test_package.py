"""What the lab brings along."""

from pathlib import Path

import kenyon_lab

PACKAGED = Path(kenyon_lab.__file__).parent / "data" / "packaged"


def test_the_notice_names_every_packaged_file():
    notice = PACKAGED / "NOTICE.md"
    for path in PACKAGED.iterdir():
        assert path == notice or f"`{path.name}`" in notice.read_text()
