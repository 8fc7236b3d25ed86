"""The command line, as a program and as a call."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from unittest.mock import patch

from kenyon_lab import cli
from kenyon_lab.protocol.workers import Failed, Finished, Learned, Started

KENYON = [sys.executable, "-c", "from kenyon_lab.cli import main; main()"]


def run(*arguments):
    """Run the command line in this process: exit code, lines of output, lines of errors."""
    out, err = StringIO(), StringIO()
    code = 0
    with (
        patch.object(sys, "argv", ["kenyon", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return code, lines, err.getvalue().splitlines()


def run_here(jobs, n_jobs, store):
    """Do as `run_all` does, but in this process."""
    found = {job.digest: store.find(job) for job in jobs}
    for job in jobs:
        if found[job.digest]:
            yield Finished(job, found[job.digest], cached=True)
    for job in jobs:
        if found[job.digest]:
            continue
        yield Started(job)
        learned = []
        try:
            record = job.run(lambda *told, learned=learned: learned.append(told))
        except Exception as error:
            yield Failed(job, str(error))
        else:
            yield from (Learned(job, *told) for told in learned)
            yield Finished(job, store.put_run(job, record))
