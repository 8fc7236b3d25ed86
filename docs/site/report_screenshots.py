"""Pictures of files that Kenyon writes, by a browser: `python -m docs.site.report_screenshots`.

The page of `kenyon evaluate` is made anew; the report of the reproduction is that in report/.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures"
REPORT = ROOT / "report" / "index.html"
BROWSERS = "chromium", "chromium-browser", "google-chrome"


def photograph(browser: str, page: Path, name: str, height: int) -> None:
    """Write a picture of the top of a page."""
    with TemporaryDirectory() as profile:
        subprocess.run(
            [
                *(browser, "--headless=new", "--no-sandbox", "--disable-gpu"),
                *("--hide-scrollbars", f"--user-data-dir={profile}"),
                *(f"--window-size=1100,{height}", f"--screenshot={FIGURES / name}"),
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


def evaluate(folder: Path) -> Path:
    """Return the page of `kenyon evaluate` for the examples of the first page."""
    kenyon = [sys.executable, "-c", "from kenyon.cli import main; main()"]
    examples = ROOT / "examples"
    for arguments in (
        ("learn", "intents.kenyon", examples / "tickets.csv", "--encoder", "hashing"),
        ("evaluate", "intents.kenyon", examples / "test.csv", "--html", "page.html"),
    ):
        subprocess.run([*kenyon, *arguments], cwd=folder, check=True, capture_output=True)
    return folder / "page.html"


def main() -> None:
    """Write all pictures."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no browser was found; one of {', '.join(BROWSERS)} is needed")
    with TemporaryDirectory() as folder:
        photograph(browser, evaluate(Path(folder)), "evaluate.png", 900)
    if not REPORT.exists():
        sys.exit("there is no report/index.html: run `make reproduce` first")
    photograph(browser, REPORT, "report.png", 1000)


if __name__ == "__main__":
    main()
