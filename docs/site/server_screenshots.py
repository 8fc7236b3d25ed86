"""Pictures of the server's page, by a browser: `python -m docs.site.server_screenshots FOLDER`.

`make screenshots` runs it for docs/figures.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo.py"
MAX_BYTES = 150_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
DESKTOP = {"viewport": {"width": 1200, "height": 1180}, "device_scale_factor": 1.25}
PHONE = {
    "viewport": {"width": 375, "height": 760},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}
LESSONS = [
    ("somebody took my purse with the card", "card"),
    ("I want to fly to Oslo in May", "travel"),
    ("turn the volume down", "music"),
    ("my PIN is blocked", "card"),
    ("is there a train to Graz tonight", "travel"),
    ("will it rain on Sunday", "weather"),
    ("how cold is it outside", "weather"),
    ("do I need an umbrella today", "weather"),
    ("skip this track", "music"),
    ("which platform does the bus leave from", "travel"),
    ("the sun is shining", "weather"),
    ("charge my card twice", "card"),
]
FLOWER = [
    [(0.5, 0.5), (0.42, 0.3), (0.5, 0.16), (0.58, 0.3), (0.5, 0.5), (0.3, 0.42), (0.16, 0.5)],
    [(0.16, 0.5), (0.3, 0.58), (0.5, 0.5), (0.42, 0.7), (0.5, 0.84), (0.58, 0.7), (0.5, 0.5)],
    [(0.5, 0.5), (0.7, 0.58), (0.84, 0.5), (0.7, 0.42), (0.5, 0.5)],
]
HOUSE = [[(0.28, 0.8), (0.27, 0.45), (0.5, 0.2), (0.72, 0.44), (0.71, 0.8), (0.28, 0.81)]]


@contextmanager
def demo() -> Iterator[str]:
    """Run the demonstration, and yield the link that signs in."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(DEMO), folder, "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                yield server.stdout.readline().split()[1]
            finally:
                server.terminate()


def save(page: Any, path: Path) -> None:
    """Write what the window shows as a small PNG."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(600)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path}: {image.width} x {image.height}, {size // 1000} kB")
    if size > MAX_BYTES:
        raise SystemExit(f"{path} has more than {MAX_BYTES} bytes")


def teach(page: Any, sentence: str, label: str) -> None:
    """Teach a sentence."""
    ask(page, sentence)
    page.locator("#label").fill(label)
    page.get_by_role("button", name="Teach", exact=True).click()
    page.get_by_text(f"Learned as “{label}”").wait_for()


def ask(page: Any, sentence: str) -> None:
    """Type a sentence, and wait for its answer."""
    page.get_by_label("Sentence", exact=True).fill(sentence)
    page.keyboard.press("Enter")
    page.locator(".reply:not(.old) .answer").first.wait_for()


def draw(page: Any, strokes: list[list[tuple[float, float]]]) -> None:
    """Draw strokes, and wait for the answer."""
    box = page.get_by_label("Drawing area").bounding_box()
    for stroke in strokes:
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in stroke]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place, steps=4)
        page.mouse.up()
    page.get_by_label("Drawing area").press("Enter")
    page.locator(".reply:not(.old) .answer").first.wait_for()


def main(folder: Path) -> None:
    """Make all pictures."""
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with demo() as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)

        def visit(model: str, **options: Any) -> Any:
            page = browser.new_context(**options).new_page()
            page.goto(link)
            page.get_by_role("link", name=model).click()
            page.get_by_role("heading", level=1, name=model).wait_for()
            return page

        page = visit("intents", **DESKTOP, color_scheme="light")
        for sentence, label in LESSONS:
            teach(page, sentence, label)
        ask(page, "will there be snow in Vienna")
        page.locator(".words").wait_for()
        save(page, folder / "page-light.png")

        page = visit("drawings", **DESKTOP, color_scheme="dark")
        draw(page, FLOWER)
        page.locator("#label").fill("flower")
        page.keyboard.press("Enter")
        page.get_by_text("Learned as “flower”").wait_for()
        draw(page, HOUSE)
        save(page, folder / "page-dark.png")

        page = visit("drawings", **PHONE, color_scheme="light")
        draw(page, HOUSE)
        page.evaluate("scrollTo(0, 0)")
        save(page, folder / "page-phone.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
