"""Encoding in chunks: interrupted and continued, with stale and damaged chunks."""

import numpy as np
import pytest
import torch

from kenyon_lab.encoders import chunks
from kenyon_lab.encoders.chunks import encode_in_chunks
from kenyon_lab.encoders.encoder import no_progress
from kenyon_lab.encoders.image_encoder import ImageEncoder

IMAGES = np.random.default_rng(2).integers(0, 256, (23, 4, 4, 3), dtype=np.uint8)


class Flat(ImageEncoder):
    """A linear encoder that counts the images it encodes."""

    n_features = 5
    batch_size = 3

    def __init__(self, size=4, seed=0):
        torch.manual_seed(seed)
        super().__init__(torch.nn.Linear(48, 5), size)
        self.n_encoded = 0

    def _encode(self, batch):
        self.n_encoded += len(batch)
        return self._network(torch.from_numpy(batch.reshape(len(batch), -1) / np.float32(255)))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks of six images: 6, 6, 6 and 5."""
    monkeypatch.setattr(chunks, "BATCHES", 2)


@pytest.fixture
def encode(tmp_path):
    def encode(encoder, images=IMAGES, n_threads=1, progress=no_progress):
        return encode_in_chunks(encoder, images, tmp_path / "chunks", n_threads, progress)

    return encode


def stop_after(n):
    def progress(sequence, description):
        for i, item in enumerate(sequence):
            if i == n:
                raise KeyboardInterrupt
            yield item

    return progress


def test_equal_to_one_pass(encode):
    features = encode(Flat())
    np.testing.assert_array_equal(features, Flat().encode(IMAGES), strict=True)


def test_continues_after_an_interruption(encode, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        encode(Flat(), progress=stop_after(2))
    assert len(list((tmp_path / "chunks").iterdir())) == 2
    encoder = Flat()
    features = encode(encoder)
    assert encoder.n_encoded == len(IMAGES) - 12
    np.testing.assert_array_equal(features, Flat().encode(IMAGES), strict=True)


@pytest.mark.parametrize(
    ("encoder", "n_threads"),
    [(Flat(size=5), 1), (Flat(seed=1), 1), (Flat(), 2)],
    ids=["size", "weights", "threads"],
)
def test_chunks_of_another_computation_are_not_used(encode, encoder, n_threads):
    encode(Flat())
    encoder.n_encoded = 0
    features = encode(encoder, n_threads=n_threads)
    assert encoder.n_encoded == len(IMAGES)
    np.testing.assert_array_equal(features, encoder.encode(IMAGES, n_threads=n_threads))


def test_chunks_of_other_images_are_not_used(encode):
    encode(Flat())
    other = IMAGES.copy()
    other[7, 0, 0, 0] ^= 1
    encoder = Flat()
    features = encode(encoder, other)
    assert encoder.n_encoded == 6, "the second chunk alone"
    np.testing.assert_array_equal(features, Flat().encode(other))


def test_chunks_follow_their_images(encode):
    """The order of the features is that of the images, wherever their chunks come from."""
    encode(Flat())
    moved = np.concatenate([IMAGES[12:18], IMAGES[:6]])
    encoder = Flat()
    np.testing.assert_array_equal(encode(encoder, moved), Flat().encode(moved))
    assert encoder.n_encoded == 0


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"nonsense" * 30, None])
def test_damaged_chunks_are_encoded_again(encode, tmp_path, content):
    encode(Flat())
    for path in (tmp_path / "chunks").iterdir():
        path.write_bytes(path.read_bytes()[:-4] if content is None else content)
    encoder = Flat()
    np.testing.assert_array_equal(encode(encoder), Flat().encode(IMAGES))
    assert encoder.n_encoded == len(IMAGES)


@pytest.mark.parametrize(
    "other", [np.zeros((6, 4), np.float32), np.zeros((6, 5)), np.array({}, dtype=object)]
)
def test_chunks_of_another_shape_are_encoded_again(encode, tmp_path, other):
    encode(Flat())
    for path in (tmp_path / "chunks").iterdir():
        np.save(path, other)
    np.testing.assert_array_equal(encode(Flat()), Flat().encode(IMAGES))


def test_progress(encode, progress):
    encode(Flat(), progress=progress)
    assert progress.shown == [("Encoding by Flat", 4)]


def test_no_images(encode):
    assert encode(Flat(), IMAGES[:0]).shape == (0, 5)
