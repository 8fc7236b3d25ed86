"""Two commands at once on one store, and a store with a damaged record."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kenyon_lab.protocol.record import RunRecord
from kenyon_lab.protocol.store import Store
from lab.tests.cli.command import KENYON
from lab.tests.protocol.samples import clusters

UNLIKE = {"learn_seconds", "predict_seconds", "peak_rss", "date"}
"""Fields that two equal runs need not share."""
SAME = ("--methods", "ncm,slda")
TOGETHER = {
    "the same jobs": (SAME, SAME),
    "one job in common": (("--methods", "ncm"), ("--methods", "slda,ncm", "--no-single-task")),
}


def runs(store):
    """Return the content of each record, without times."""
    return {
        store.path(record): {
            key: value for key, value in json.loads(record.to_json()).items() if key not in UNLIKE
        }
        for record in store.records(RunRecord)
    }


@pytest.mark.parametrize(("first", "second"), TOGETHER.values(), ids=TOGETHER.keys())
def test_two_benches_at_once(run, here, first, second):
    np.savez("mine.npz", **clusters())
    for options in (first, second):
        assert run("bench", "mine.npz", *options, "--store", "alone")[0] == 0
    alone = runs(Store("alone"))

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [*KENYON, "bench", "mine.npz", "--jobs", "1", "--store", "shared"]
    # The runs take no time, so the commands are equally fast.
    processes = [subprocess.Popen([*command, *options], **pipes) for options in (first, second)]
    try:
        said = [process.communicate(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    for process, (out, err) in zip(processes, said, strict=True):
        assert process.returncode == 0, err
        assert out.endswith("Finished runs are in shared.\n")
        assert err.count("NCM, shuffled, seed 0: accuracy ") == 1

    shared = runs(Store("shared"))
    assert {Path("shared", path.relative_to("alone")) for path in alone} == shared.keys()
    for path, content in alone.items():
        assert shared[Path("shared", path.relative_to("alone"))] == content
    files = {path for path in Path("shared").rglob("*") if path.is_file()}
    assert files == shared.keys(), "there are no temporary files"


@pytest.mark.parametrize("content", ["", '{"format": 2,', "{}"], ids=["empty", "cut", "other"])
def test_a_damaged_record_is_named_and_left_alone(run, here, content):
    np.savez("mine.npz", **clusters())
    command = ("bench", "mine.npz", "--methods", "ncm,slda")
    assert run(*command)[0] == 0
    before = runs(Store("results"))
    damaged = next(path for path in before if "ncm" in path.parts)
    damaged.write_text(content)

    code, out, err = run(*command)
    assert (code, out, len(err)) == (2, [], 1)
    assert err[0].startswith(f"Error: {damaged} is not the record of a run: ")
    assert damaged.read_text() == content

    damaged.unlink()
    code, _, err = run(*command)
    assert code == 0
    assert [line.endswith("done before") for line in err] == [True, False]
    assert runs(Store("results")) == before


def test_temporary_files_are_not_read(run, here):
    np.savez("mine.npz", **clusters())
    command = ("bench", "mine.npz", "--methods", "ncm")
    run(*command)
    (path,) = runs(Store("results"))
    path.rename(path.with_name(f".{path.name}.0123456789ab.part"))
    assert not runs(Store("results"))
    code, _, err = run(*command)
    assert code == 0
    assert not err[0].endswith("done before")
    assert list(runs(Store("results"))) == [path]
