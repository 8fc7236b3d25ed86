"""A process ends quietly while daemon threads are inside the kernel."""

import subprocess
import sys

PROGRAM = """
import threading, time
import numpy as np
from kenyon import FlyClassifier

X = np.random.default_rng(0).random((20000, 100))
y = np.arange(20000) % 5
fly = FlyClassifier(readout="fly", n_threads=1).fit(X[:100], y[:100])
ridge = FlyClassifier(readout="ridge", n_cells=400, n_threads=1).fit(X[:100], y[:100])

def repeat(call):
    while True:
        call()

for call in (lambda: fly.partial_fit(X, y), lambda: ridge.predict(X)):
    threading.Thread(target=repeat, args=(call,), daemon=True).start()
time.sleep(0.5)
"""


def test_daemon_threads_do_not_abort_the_process():
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120
    )
    assert (process.returncode, process.stderr) == (0, "")
