"""The report in a browser: it works, on a phone too, and asks nothing of the network."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from kenyon_lab.reproduction.page import write_page
from kenyon_lab.reproduction.tables import COLUMNS
from lab.tests.reproduction.samples import FIGURES, REPORT

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
PROBE = Path(__file__).with_name("probe.js").read_text(encoding="utf-8")
# Windows of less than 500 pixels are not to be had; frames are.
FRAME = """<!doctype html>
<iframe src="index.html" width="{width}" height="800" style="border: 0"></iframe>
<pre></pre>
<script>onmessage = (event) => (document.querySelector("pre").textContent = event.data)</script>
"""
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--virtual-time-budget=5000", "--enable-logging=stderr", "--dump-dom"),
)


def look(folder, width):
    """Show the page in a frame of this width, and return what the probe noted."""
    path = folder / "index.html"
    write_page(path, REPORT)
    page = path.read_text(encoding="utf-8")
    path.write_text(page.replace("<head>", f"<head><script>{PROBE}</script>", 1), encoding="utf-8")
    frame = folder / "frame.html"
    frame.write_text(FRAME.format(width=width), encoding="utf-8")
    done = subprocess.run(
        [BROWSER, *SWITCHES, f"--user-data-dir={folder / 'profile'}", frame.as_uri()],
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=True,
    )
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    (noted,) = re.findall(r"<pre>(.+?)</pre>", done.stdout, re.DOTALL)
    return json.loads(unescape(noted))


def check_sorted(head):
    """Check that the rows of a column went up, then down; what is missing is last both times."""
    (first, up), (second, down) = head["orders"]
    assert (first, second, head["others"]) == ("ascending", "descending", 0)
    assert head["reached"], "by the keyboard"
    assert sorted(up) == sorted(down), "no row is lost"
    numbers = [float(number) for _, number, _ in up if number is not None]
    texts = [text for _, number, text in up if number is None and text not in ("", "-")]
    n_missing = len(up) - len(numbers) - len(texts)
    assert numbers == sorted(numbers)
    assert texts == sorted(texts, key=str.casefold)
    assert [float(number) for _, number, _ in down if number is not None] == numbers[::-1]
    assert [t for _, number, t in down if number is None and t not in ("", "-")] == texts[::-1]
    for rows in (up, down):
        assert all(text in ("", "-") for _, _, text in rows[len(rows) - n_missing :])


@pytest.mark.skipif(BROWSER is None, reason="neither chromium nor google-chrome is installed")
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_in_a_browser(tmp_path, width):
    noted = look(tmp_path, width)
    assert noted["errors"] == []
    assert noted["fetched"] == []
    assert noted["width"] == width
    assert noted["overflow"] == [0, 0], "the page is no wider than its window"
    assert len(noted["images"]) == len(FIGURES)
    assert min(noted["images"]) > 0
    assert (min(noted["enlarged"]) > width) == (width == 360)

    assert [len(heads) for heads in noted["tables"]] == [5, *2 * [1 + len(COLUMNS)], 4, 4]
    for heads in noted["tables"]:
        for head in heads:
            check_sorted(head)
    names = {head["title"]: [row[0] for row in head["orders"][0][1]] for head in noted["tables"][1]}
    assert names["all"] == ["EWC", "FlyModel", "NCM"], "by the mean"
    assert names["learn, s"][-1] == "EWC", "as numbers: 0.75 before 1,500"
    assert names["loss"][-1] == "NCM", "which has none"
    numbers = [text for _, _, text in noted["tables"][0][1]["orders"][0][1]]
    assert numbers == ["0.28", "0.5", "3", "10", ""]
