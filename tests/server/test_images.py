"""Images as files in base64: the same answers as rows of pixels, and no way to fill the memory."""

import base64
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from kenyon.server.images import MAX_PIXELS, Images
from kenyon.server.problems import Problem
from tests.server.running import problem

RNG = np.random.default_rng(0)


def encoded(image, format_="PNG", **options):
    stream = io.BytesIO()
    image.save(stream, format_, **options)
    return base64.b64encode(stream.getvalue()).decode()


def bomb(width, height):
    """Return a PNG of some bytes that says it has many pixels."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    content = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    return base64.b64encode(content).decode()


def test_a_file_and_its_pixels_are_one_sample(server):
    path = server.new_model("drawings", encoder="pixels")
    grey = RNG.integers(0, 256, (28, 28), dtype=np.uint8)
    rows, file = grey.tolist(), encoded(Image.fromarray(grey))
    samples = [
        {"image": rows, "label": "a"},
        {"image": np.eye(9, dtype=int).tolist(), "label": "b"},
    ]
    server.ask("POST", f"{path}/learn", {"samples": samples})
    body = {"samples": [{"image": rows}, {"image": file}], "after": 1, "top": 2, "novelty": True}
    of_rows, of_file = server.ask("POST", f"{path}/predict", body)["answers"]
    assert of_rows == of_file
    assert of_file["label"] == "a"


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_modes_of_files(mode):
    grey = Image.fromarray(RNG.integers(0, 256, (5, 7), dtype=np.uint8))
    image = grey.convert("RGB").convert(mode) if mode != "I;16" else Image.new(mode, (7, 5))
    assert Images().read(0, encoded(image)).shape == (5, 7, 3)


def test_transparent_is_white():
    assert Images().read(0, encoded(Image.new("RGBA", (2, 2), (0, 0, 0, 0)))).min() == 255


def test_wrong_files_are_refused(server):
    path = server.new_model("drawings", encoder="pixels")
    picture = Image.fromarray(RNG.integers(0, 256, (50, 50), dtype=np.uint8))
    wrong = {
        "not base64!": 400,
        "é": 400,
        "": 422,
        base64.b64encode(b"text").decode(): 422,
        encoded(picture, "BMP"): 422,
        encoded(picture)[:400]: 422,
        bomb(1, 1): 422,
        bomb(60_000, 60_000): 413,
        bomb(2**31 - 1, 2**31 - 1): 413,
    }
    for image, status in wrong.items():
        body = {"samples": [{"image": image, "label": "a"}]}
        problem(server.http.post(f"{path}/learn", json=body), status, "image")
    assert server.ask("GET", path)["event"] == 0


def test_the_pixels_of_all_files_are_limited():
    images = Images()
    large = encoded(Image.new("L", (2048, 2048)))
    for i in range(MAX_PIXELS // 2048**2):
        images.read(i, large)
    with pytest.raises(Problem, match="pixels together at most"):
        images.read(9, encoded(Image.new("L", (1, 1))))
