"""A real browser on a real server."""

import contextlib
import shutil

import pytest

from tests.page.visiting import Visit
from tests.server.running import serving

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
LOOKS = {
    "desktop-light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "desktop-dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone-light": {
        "viewport": {"width": 375, "height": 812},
        "color_scheme": "light",
        "has_touch": True,
        "is_mobile": True,
    },
    "phone-dark": {
        "viewport": {"width": 375, "height": 812},
        "color_scheme": "dark",
        "has_touch": True,
        "is_mobile": True,
    },
}


@pytest.fixture(scope="package")
def browser():
    if BROWSER is None:
        pytest.skip("neither chromium nor google-chrome is installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def server(tmp_path):
    with serving(tmp_path / "store") as running:
        yield running


@pytest.fixture
def visiting(browser, server):
    """Return a function that opens the page, signed in; at the end nothing may have gone wrong."""
    with contextlib.ExitStack() as contexts:
        visits = []

        def visit(look="desktop-light", key=None, **options):
            context = browser.new_context(**LOOKS[look], **options)
            contexts.callback(context.close)
            context.set_default_timeout(15_000)
            found = Visit(context.new_page(), server)
            visits.append(found)
            found.open(server.admin if key is None else key)
            return found

        yield visit
        for each in visits:
            assert each.errors == []
