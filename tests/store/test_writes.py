"""A fault in each call by which a store writes: an error, a short write, or a kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.faults.test_writes import library  # noqa: F401

STRIDE = int(os.environ.get("KENYON_STORE_STRIDE", "17"))
ROOT = Path(__file__).resolve().parents[2]


def test_faults_of_writes(library, tmp_path):  # noqa: F811
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "WRITE_FAULTS_FOLDER": str(tmp_path / "watched"),
    }
    process = subprocess.run(
        [sys.executable, "-m", "tests.store.writing", str(tmp_path), str(STRIDE)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    found = [json.loads(line) for line in process.stdout.splitlines()]
    wrong = [each for each in found if each["wrong"]]
    assert not wrong, "\n".join(map(str, wrong))
    met = Counter(each["fault"] for each in found if each["hit"] or each["killed"])
    assert min(met.values()) > 3
    assert set(met) == {"kill", "short", "ENOSPC", "EIO", "lasting EROFS"}
