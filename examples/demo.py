"""Two models to try the page on: intents and drawings; `make demo` serves them.

    python examples/demo.py FOLDER [PORT]

The folder is a store. Models that it has are left as they are.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageDraw

import kenyon.store
from kenyon.encoders import TextEncoder
from kenyon.server.run import listen, make_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kenyon.store import Store

TICKETS = Path(__file__).with_name("tickets.csv")
KEY = "demo"
SIZE, INK, WIDTH, FINE = 28, 20, 3, 4
"""Drawings look as those of the page do (`ink.js`)."""
SHAPES: dict[str, list[list[tuple[float, float]]]] = {
    "circle": [[(math.cos(i * 0.3), math.sin(i * 0.3)) for i in range(22)]],
    "cross": [[(-1, -1), (1, 1)], [(1, -1), (-1, 1)]],
    "house": [[(-0.8, 1), (-0.8, -0.1), (0, -1), (0.8, -0.1), (0.8, 1), (-0.8, 1)]],
    "wave": [[(x / 10, 0.45 * math.sin(x / 2)) for x in range(-12, 13)]],
}


def draw(strokes: Any, rng: np.random.Generator) -> np.ndarray:
    """Return strokes as a hand may draw them, in 28 x 28 grey pixels."""
    angle, squeeze = rng.normal(0, 0.12), rng.uniform(0.8, 1.0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    drawn = [(np.array(one) * [squeeze, 1]) @ turn for one in strokes]
    drawn = [one + rng.normal(0, 0.05, one.shape) for one in drawn]
    points = np.concatenate(drawn)
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    scale = INK / (points.max(axis=0) - points.min(axis=0)).max()
    image = Image.new("L", (SIZE * FINE, SIZE * FINE))
    pen = ImageDraw.Draw(image)
    for one in drawn:
        places = FINE * (SIZE / 2 + scale * (one - middle))
        pen.line([tuple(place) for place in places], 255, round(WIDTH * FINE), joint="curve")
    return np.asarray(image.resize((SIZE, SIZE), Image.Resampling.BOX))


def drawings(n: int, seed: int = 0) -> Iterator[tuple[np.ndarray, str]]:
    """Yield n drawings of each shape."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        for label, strokes in SHAPES.items():
            yield draw(strokes, rng), label


def make_models(store: Store) -> None:
    """Create the models that are not there."""
    # This readout answers at once after each lesson, even where a machine is busy.
    settings = {"readout": "bayes"}
    if "intents" not in store.names():
        try:
            encoder = TextEncoder("minilm").fit()
        except ImportError:
            encoder = TextEncoder("hashing").fit()
        with TICKETS.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]
        intents = store.create("intents", settings=settings, encoder=encoder, who=KEY)
        intents.learn(texts, labels, who=KEY)
    if "drawings" not in store.names():
        images, labels = zip(*drawings(10), strict=True)
        sketches = store.create("drawings", settings=settings, encoder="pixels", who=KEY)
        sketches.learn(sketches.encode(np.stack(images)), labels, who=KEY)


def main(folder: str, port: int = 8000) -> None:
    """Serve the models, and print a link that signs in."""
    listener = listen("127.0.0.1", port)
    with listener, kenyon.store.open(folder) as store:
        make_models(store)
        # A secret is shown only once, so each start has a key of its own.
        for key in store.keys.all():
            if key.name == KEY and key.revoked is None:
                store.keys.revoke(key.id)
        _, secret = store.keys.create(KEY, {"admin"})
        address = "http://{}:{}".format(*listener.getsockname()[:2])

        def announce() -> None:
            print(f"Open {address}/#key={secret}", flush=True)
            print(f"key: {secret}", flush=True)

        make_server(store, on_start=announce).run(sockets=[listener])


if __name__ == "__main__":
    try:
        main(sys.argv[1], *(int(port) for port in sys.argv[2:3]))
    except KeyboardInterrupt:
        pass
    except OSError as error:
        sys.exit(str(error))
