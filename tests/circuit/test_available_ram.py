"""The RAM that a process can still use, in a container and outside."""

import pytest

from kenyon.circuit import available_ram as module


@pytest.fixture
def container(tmp_path, monkeypatch):
    """Return a folder with the files of a container's limits."""
    for name in ("max", "current", "stat"):
        monkeypatch.setattr(
            module, {"max": "_LIMIT", "current": "_USED"}.get(name, "_STAT"), tmp_path / name
        )
    monkeypatch.setattr(module, "_of_machine", lambda: 10**12)
    return tmp_path


def test_a_container_may_use_what_its_limit_leaves(container):
    (container / "max").write_text("1000\n")
    (container / "current").write_text("990\n")
    (container / "stat").write_text("anon 190\ninactive_file 500\nactive_file 300\nshmem 7\n")
    # Copies of files in memory are freed where memory is needed.
    assert module.available_ram() == 810


@pytest.mark.parametrize("limit", ["max\n", ""])
def test_a_container_without_a_limit_may_use_the_machine(container, limit):
    for name, text in {"max": limit, "current": "990\n", "stat": ""}.items():
        (container / name).write_text(text)
    assert module.available_ram() == 10**12


def test_without_a_container_the_machine_counts(container):
    assert module.available_ram() == 10**12
