"""Draws the pictures of the concepts and of the architecture: `python -m docs.site.drawings`.

They are SVG files in docs/figures. The fonts are those of the reader's system.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).resolve().parents[1] / "figures"
TEAL, ORANGE, GREY, DARK = "#00796b", "#d84315", "#b0bec5", "#263238"
PALE = {TEAL: "#e0f2f1", ORANGE: "#fbe9e7", GREY: "#eceff1"}


class Drawing:
    """An SVG picture on white, with a title for those who cannot see it."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height = width, height
        self.parts = [
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
            '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{DARK}"/></marker>'
            "</defs>",
        ]

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 14,
        bold: bool = False,
        left: bool = False,
    ) -> None:
        """Write words around a point, or from it to the right."""
        anchor, weight = "start" if left else "middle", "600" if bold else "400"
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{DARK}" '
            f'text-anchor="{anchor}">{words}</text>'
        )

    def box(
        self, x: float, y: float, width: float, height: float, *lines: str, colour: str = TEAL
    ) -> None:
        """Draw a box; its first line is bold."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
            f'fill="{PALE[colour]}" stroke="{colour}" stroke-width="1.5"/>'
        )
        top = y + height / 2 - 9 * (len(lines) - 1) + 5
        for i, line in enumerate(lines):
            size = 14 if i == 0 else 12
            self.text(x + width / 2, top + 18 * i, line, size=size, bold=i == 0)

    def arrow(self, *points: tuple[float, float]) -> None:
        """Draw a line through points, with a head at its end."""
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(
            f'<path d="M{path}" fill="none" stroke="{DARK}" stroke-width="1.5" '
            'marker-end="url(#end)"/>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> None:
        """Draw a line."""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" '
            f'stroke-width="{width:g}"/>'
        )

    def dot(self, x: float, y: float, radius: float, colour: str) -> None:
        """Draw a dot."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}"/>')

    def __str__(self) -> str:
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" '
            f'font-family="system-ui, sans-serif">\n{body}\n</svg>\n'
        )


def circuit() -> Drawing:
    """Draw an input, its cells, the winners and the counters of two classes."""
    drawing = Drawing(860, 350, "An input, the cells that sum it, the winners, and the counters")
    rng = np.random.default_rng(3)
    n_inputs, n_cells, fan_in, n_active = 8, 18, 3, 4
    x = rng.uniform(0.15, 1, n_inputs)
    wiring = [rng.choice(n_inputs, fan_in, replace=False) for _ in range(n_cells)]
    sums = np.array([x[channels].sum() for channels in wiring])
    active = set(np.argsort(-sums)[:n_active].tolist())
    inputs = [(90, 75 + 28 * i) for i in range(n_inputs)]
    cells = [(370, 58 + 13.5 * i) for i in range(n_cells)]
    classes = {"card": (650, 110), "travel": (650, 230)}
    for i, channels in enumerate(wiring):
        colour, width = (TEAL, 1.5) if i in active else (GREY, 0.5)
        for channel in channels:
            drawing.line(*inputs[channel], *cells[i], colour, width)
        for name, place in classes.items():
            is_learned = i in active and name == "card"
            drawing.line(
                *cells[i], *place, ORANGE if is_learned else GREY, 2.5 if is_learned else 0.3
            )
    for (across, down), value in zip(inputs, x, strict=True):
        drawing.dot(across, down, 4 + 7 * value, TEAL)
    for i, place in enumerate(cells):
        drawing.dot(*place, 6 if i in active else 4, TEAL if i in active else GREY)
    for name, (across, down) in classes.items():
        drawing.box(across, down - 24, 110, 48, name, colour=ORANGE if name == "card" else GREY)
    for across, first, second in (
        (90, "features", "of one sample"),
        (370, "cells", "the largest sums win"),
        (705, "classes", "a counter for each cell"),
    ):
        drawing.text(across, 20, first, bold=True)
        drawing.text(across, 37, second, size=12)
    drawing.text(
        430, 330, "Learning a sample of “card” adds to the orange counters, and to no others."
    )
    return drawing


def sums() -> Drawing:
    """Draw that samples are added in any order, merged and subtracted."""
    drawing = Drawing(860, 330, "Samples are added in any order, merged, and subtracted")
    drawing.box(20, 30, 190, 50, "samples", "in any order", colour=GREY)
    drawing.box(20, 130, 190, 50, "samples elsewhere", "another machine", colour=GREY)
    drawing.box(20, 230, 190, 50, "samples to forget", "unlearn", colour=ORANGE)
    drawing.box(330, 30, 200, 50, "sums", "counters, pairs of cells")
    drawing.box(330, 130, 200, 50, "sums", "of the other machine")
    drawing.box(
        640,
        90,
        200,
        130,
        "one model",
        "the same bits",
        "whatever the order,",
        "the parts, the detour",
    )
    drawing.arrow((210, 55), (326, 55))
    drawing.arrow((210, 155), (326, 155))
    drawing.arrow((530, 55), (585, 55), (585, 130), (636, 130))
    drawing.arrow((530, 155), (636, 155))
    drawing.arrow((210, 255), (585, 255), (585, 185), (636, 185))
    drawing.text(268, 46, "+", size=20, bold=True)
    drawing.text(268, 146, "+", size=20, bold=True)
    drawing.text(610, 122, "+", size=18, bold=True)
    drawing.text(612, 203, "\N{MINUS SIGN}", size=20, bold=True)
    drawing.text(430, 315, "Whole numbers: what was added can be subtracted, without a trace.")
    return drawing


LAYERS = (
    ("cli", "the command kenyon", TEAL),
    ("server · client", "HTTP, keys, the page; a typed client", TEAL),
    ("store", "the log, snapshots, erasure", TEAL),
    ("dask · hub · onnx · river", "other people's tools", TEAL),
    ("pipeline", "an encoder and a classifier as one model", TEAL),
    ("combiner · encoders", "parts for other engines; texts and images to vectors", TEAL),
    ("classifier · coder", "FlyClassifier, SparseCoder", TEAL),
    ("text_explanation", "the effects of words on an answer", TEAL),
    (
        "calibration · explanation · novelty · suggest · top · model_file",
        "what a model can tell",
        TEAL,
    ),
    ("learned · model_checks", "what a model has learned as plain values; their checks", TEAL),
    ("readouts", "fly, bayes, ridge: all that reads a memory", TEAL),
    (
        "_validation · _files · _sparse · kept_texts",
        "arguments, atomic files, matrices, texts",
        GREY,
    ),
    ("circuit", "layer 1, the memories (sums), locks and versions", ORANGE),
    ("kernel (C++)", "encode: quantise, project, select; memory: counters, pairs", ORANGE),
)


def architecture() -> Drawing:
    """Draw the layers of the library and the lab beside them."""
    height = 52
    drawing = Drawing(860, 60 + height * len(LAYERS), "The layers of the library, and the lab")
    drawing.text(300, 26, "kenyon: each layer imports only those below", bold=True)
    drawing.text(735, 26, "kenyon-lab", bold=True)
    for i, (name, what, colour) in enumerate(LAYERS):
        drawing.box(20, 42 + height * i, 570, height - 8, name, what, colour=colour)
    parts = ("cli", "reproduction", "figures", "experiments", "theory", "protocol")
    lab = (*parts, "methods · encoders", "data", "shared")
    for i, name in enumerate(lab):
        drawing.box(640, 42 + 44 * i, 190, 36, name, colour=GREY)
    end = 42 + 44 * len(lab)
    drawing.arrow((735, end - 8), (735, end + 60), (596, end + 60))
    drawing.text(735, end + 82, "imports the library,", size=12)
    drawing.text(735, end + 98, "never the other way", size=12)
    return drawing


DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "architecture": architecture,
    "circuit": circuit,
    "sums": sums,
}


def main() -> None:
    """Draw all pictures."""
    for name, draw in DRAWINGS.items():
        (FOLDER / f"{name}.svg").write_text(str(draw()), encoding="utf-8")


if __name__ == "__main__":
    main()
