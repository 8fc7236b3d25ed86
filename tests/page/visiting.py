"""What a visitor does on the page."""

import math

import numpy as np
from playwright.sync_api import expect

__all__ = ["DRAWINGS", "SYMBOLS", "TEXTS", "VECTORS", "Visit", "expect", "scribble"]

# This readout needs no solution of equations after each lesson.
_SETTINGS = {"readout": "bayes"}
TEXTS = {"encoder": "hashing", "settings": _SETTINGS}
DRAWINGS = {"encoder": "pixels", "settings": _SETTINGS}
VECTORS = {"features": 3, "settings": _SETTINGS}


class Visit:
    """A tab with the page.

    Attributes
    ----------
    page : playwright's Page
    errors : list of str
        Errors of scripts, violations of the policy, and requests to elsewhere.
    """

    def __init__(self, page, server):
        self.page, self.server, self.errors = page, server, []
        self.expected_statuses = set()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._listen)
        page.on("dialog", self._refuse)
        page.on("request", self._check)

    def _listen(self, message):
        if message.type not in ("error", "warning"):
            return
        # The browser itself writes down each answer that is a problem.
        is_status = message.text.startswith("Failed to load resource")
        if not (is_status and any(f" {one} " in message.text for one in self.expected_statuses)):
            self.errors.append(message.text)

    def _refuse(self, dialog):
        self.errors.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _check(self, request):
        if not request.url.startswith((self.server.url, "blob:", "data:")):
            self.errors.append(f"a request to {request.url}")

    def open(self, key="", address=""):
        """Open the page with a key in the link, or without one."""
        self.page.goto(f"{self.server.url}/{f'#key={key}' if key else ''}{address}")

    def model(self, name):
        """Open a model from the list."""
        self.page.get_by_role("link", name=name).click()
        expect(self.page.get_by_role("heading", level=1, name=name)).to_be_visible()

    def type(self, sentence):
        """Type a sentence, and wait for the answer to it."""
        self.page.get_by_label("Sentence", exact=True).fill(sentence)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#sentence")).not_to_be_focused()

    def name(self, label):
        """Teach what is shown as a class by its name."""
        self.page.locator("#label").fill(label)
        self.page.get_by_role("button", name="Teach", exact=True).click()
        expect(self.headline).to_contain_text(f"Learned as “{label}”")

    def teach(self, sentence, label):
        self.type(sentence)
        self.name(label)

    @property
    def headline(self):
        return self.page.locator(".headline")

    @property
    def answers(self):
        """The buttons of the answers, the best first."""
        return self.page.locator(".answer")

    def best(self):
        return self.answers.first.locator(".class")

    def event(self, number):
        """The line of an event."""
        return self.page.locator(".timeline li").filter(
            has=self.page.locator(".number", has_text=str(number))
        )

    def draw(self, strokes):
        """Draw strokes, given as points from 0 to 1."""
        canvas = self.page.get_by_label("Drawing area")
        canvas.scroll_into_view_if_needed()
        box, mouse = canvas.bounding_box(), self.page.mouse
        for stroke in strokes:
            places = [
                (box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in stroke
            ]
            mouse.move(*places[0])
            mouse.down()
            for place in places[1:]:
                mouse.move(*place)
            mouse.up()

    def settle(self):
        """Go to the answers, when they have come, as Enter does."""
        canvas = self.page.get_by_label("Drawing area")
        canvas.press("Enter")
        expect(canvas).not_to_be_focused()

    def is_wide(self):
        """Return whether something is wider than the window."""
        script = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        return self.page.evaluate(script)


def _polygon(n, turn=0.0):
    return [
        [
            (math.cos(turn + 2 * math.pi * i / n), math.sin(turn + 2 * math.pi * i / n))
            for i in range(n + 1)
        ]
    ]


SYMBOLS = {
    "circle": _polygon(14),
    "cross": [[(-1, -1), (1, 1)], [(1, -1), (-1, 1)]],
    "plus": [[(-1, 0), (1, 0)], [(0, -1), (0, 1)]],
    "square": _polygon(4, math.pi / 4),
    "triangle": _polygon(3, -math.pi / 2),
    "vee": [[(-1, -1), (0, 1), (1, -1)]],
    "line": [[(-1, 0), (0, 0.02), (1, 0)]],
    "stick": [[(0, -1), (0.02, 0), (0, 1)]],
    "corner": [[(-0.7, -1), (-0.7, 1), (0.7, 1)]],
    "tee": [[(-1, -1), (1, -1)], [(0, -1), (0, 1)]],
    "zed": [[(-1, -1), (1, -1), (-1, 1), (1, 1)]],
    "equals": [[(-1, -0.4), (1, -0.4)], [(-1, 0.4), (1, 0.4)]],
}


def scribble(symbol, rng):
    """Return the strokes of a symbol as an unsteady hand draws them, somewhere on the canvas."""
    angle, size = rng.normal(0, 0.06), rng.uniform(0.2, 0.32)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    place = rng.uniform(0.4, 0.6, 2)
    return [
        (place + size * (np.array(stroke) + rng.normal(0, 0.04, (len(stroke), 2))) @ turn).tolist()
        for stroke in SYMBOLS[symbol]
    ]
