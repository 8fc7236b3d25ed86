"""KMNIST, the images of Japanese characters that LeNet5 is trained on."""

from __future__ import annotations

from kenyon_lab.data.source import Source


def _source(name: str, sha256: str) -> Source:
    host = "http://codh.rois.ac.jp/kmnist/dataset/kmnist"
    return Source(f"kmnist/{name}", sha256, f"{host}/{name}")


TEST_SOURCES = (
    _source(
        "kmnist-test-imgs.npz", "9e19e2c2cc48cc89322e26acda94ae1b6534a91cdfc0b35e85eb90d2c86830e8"
    ),
    _source(
        "kmnist-test-labels.npz", "660f13a4705431ea2a6391c41ecbe384cd0d932c595a101ec4f3b8989e785046"
    ),
)
# Digests of the compressed files: none of the decompressed content is published.
TRAIN_SOURCES = (
    _source(
        "train-images-idx3-ubyte.gz",
        "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
    ),
    _source(
        "train-labels-idx1-ubyte.gz",
        "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
    ),
)
