"""The pages in a browser: no errors, no requests, and nothing wider than its place."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from kenyon.cli.evaluation.page import write_page
from tests.cli.evaluation.pages import FACTS, RESULTS, few, hostile, many, ten, thirty

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
PROBE = Path(__file__).with_name("probe.js").read_text(encoding="utf-8")
WIDTHS = (360, 1200)
# One start of the browser for all pages. Narrow windows are not to be had; frames are.
FRAMES = """<!doctype html>
<pre></pre>
<script>
const noted = {{}};
onmessage = (event) => {{
  const frames = [...document.querySelectorAll("iframe")];
  const frame = frames.find((each) => each.contentWindow === event.source);
  noted[frame.id] = JSON.parse(event.data);
  document.querySelector("pre").textContent = JSON.stringify(noted);
}};
</script>
{frames}
"""
FRAME = """<iframe id="{name} {width}" src="{name}.html" width="{width}" height="800"
    style="border: 0"></iframe>"""
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--virtual-time-budget=10000", "--enable-logging=stderr", "--dump-dom"),
)


@pytest.fixture(scope="module")
def noted(tmp_path_factory):
    """Return what the probe noted, by page and width."""
    if BROWSER is None:
        pytest.skip("neither chromium nor google-chrome is installed")
    folder = tmp_path_factory.mktemp("pages")
    for make in RESULTS:
        path = folder / f"{make.__name__}.html"
        write_page(path, make(), FACTS, ["A note."])
        page = path.read_text(encoding="utf-8")
        probed = page.replace("<head>", f"<head><script>{PROBE}</script>", 1)
        path.write_text(probed, encoding="utf-8")
    frames = (FRAME.format(name=make.__name__, width=width) for make in RESULTS for width in WIDTHS)
    index = folder / "frames.html"
    index.write_text(FRAMES.format(frames="\n".join(frames)), encoding="utf-8")
    done = subprocess.run(
        [BROWSER, *SWITCHES, f"--user-data-dir={folder / 'profile'}", index.as_uri()],
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    (content,) = re.findall(r"<pre>(.+?)</pre>", done.stdout, re.DOTALL)
    return json.loads(unescape(content))


def test_every_page_was_shown(noted):
    assert len(noted) == len(RESULTS) * len(WIDTHS)


def test_pages_in_a_browser(noted):
    for name, page in noted.items():
        assert page["errors"] == [], name
        assert page["fetched"] == [], name
        assert page["scripts"] == 2, "the probe and the page's own"
        assert page["title"] == "intents.kenyon on test.csv"
        assert page["overflow"] == 0, f"{name} is wider than its window"
        assert str(page["width"]) == name.split()[1]


def test_figures_in_a_browser(noted):
    for name, page in noted.items():
        for figure in page["figures"]:
            assert min(figure["size"]) > 50, (name, figure["title"])
            assert figure["outside"] == [], (name, figure["title"])
            assert figure["collisions"] == [], (name, figure["title"])
    expected = [
        "Reliability diagram",
        "Accuracy against coverage",
        "Accuracy by class",
        "Confusion matrix",
    ]
    for make in (ten, thirty, many):
        assert [each["title"] for each in noted[f"{make.__name__} 360"]["figures"]] == expected
    for make in (few, hostile):
        titles = [each["title"] for each in noted[f"{make.__name__} 360"]["figures"]]
        assert titles == [*expected, "Novelty scores"]


def test_tables_in_a_browser(noted):
    for page in noted.values():
        for title, orders in page["tables"]:
            for (is_so, keys), sign in zip(orders, (1, -1), strict=True):
                assert is_so, title
                numbers = [sign * float(key) for key in keys if key is not None]
                assert numbers == sorted(numbers), title
                assert all(key is None for key in keys[len(numbers) :]), "missing ones are last"


def test_words_are_marked_in_a_browser(noted):
    assert noted["few 360"]["marks"] == sum(len(error.words) for error in few().errors)
