"""`kenyon learn` and `kenyon predict` with a stopwatch for their parts.

Run as `python benchmarks/command_parts.py STARTED TIMES.json learn MODEL FILE ...`, where STARTED
is the time of the start of the process, in seconds since the epoch; benchmarks/commands.py does.
"""

from __future__ import annotations

import sys
from time import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LEARN_PARTS = ("start", "read", "encode", "learn", "solve", "save", "rest")
PREDICT_PARTS = ("start", "load", "read", "encode", "calibrate", "answer", "write", "rest")


class Stopwatch:
    """The seconds of each part; a part that calls another waits for it."""

    def __init__(self, started: float) -> None:
        self.seconds = dict.fromkeys((*LEARN_PARTS, *PREDICT_PARTS), 0.0)
        self._parts = ["start"]
        self._since = started

    def switch(self) -> None:
        """Count the time since the last switch."""
        now = time()
        self.seconds[self._parts[-1]] += now - self._since
        self._since = now

    def enter(self, part: str) -> None:
        self.switch()
        self._parts.append(part)

    def leave(self) -> None:
        self.switch()
        self._parts.pop()

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose time counts for a part."""

        def call(*arguments: Any, **options: Any) -> Any:
            self.enter(part)
            try:
                return function(*arguments, **options)
            finally:
                self.leave()

        return call

    def timed_steps(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a generator function whose steps count for a part."""

        def iterate(*arguments: Any, **options: Any) -> Iterator[Any]:
            steps = iter(function(*arguments, **options))
            step = self.timed(part, lambda: next(steps, None))
            while (found := step()) is not None:
                yield found

        return iterate


def main() -> None:
    started, times, *arguments = sys.argv[1:]
    watch = Stopwatch(float(started))
    # Imported here, since their time belongs to the start.
    import json
    from pathlib import Path

    import kenyon
    from kenyon import FlyClassifier, cli
    from kenyon.cli import app, learning, predict
    from kenyon.cli.tables import TableWriter
    from kenyon.encoders import TextEncoder

    assert app
    answer = FlyClassifier.predict_top

    def predict_top(classifier: FlyClassifier, X: Any, k: int) -> Any:
        # The first probability computes the calibration.
        if not watch.seconds["calibrate"]:
            watch.timed("calibrate", answer)(classifier, X[:1], k)
        return watch.timed("answer", answer)(classifier, X, k)

    patches = {
        (learning, "read"): watch.timed_steps("read", learning.read),
        (learning, "solve"): watch.timed("solve", learning.solve),
        (learning.Learner, "_save"): watch.timed("save", learning.Learner._save),
        (kenyon, "load"): watch.timed("load", kenyon.load),
        (predict, "read"): watch.timed_steps("read", predict.read),
        (TableWriter, "write"): watch.timed("write", TableWriter.write),
        (TextEncoder, "transform"): watch.timed("encode", TextEncoder.transform),
        (FlyClassifier, "partial_fit"): watch.timed("learn", FlyClassifier.partial_fit),
        (FlyClassifier, "predict_top"): predict_top,
    }
    for (owner, name), timed in patches.items():
        setattr(owner, name, timed)
    sys.argv = ["kenyon", *arguments]
    watch.enter("rest")
    try:
        cli.main()
    finally:
        watch.leave()
        Path(times).write_text(json.dumps(watch.seconds))


if __name__ == "__main__":
    main()
