"""Environment variables, set before any import."""

import os

# Without this one scikit-learn skips its array API check.
os.environ["SCIPY_ARRAY_API"] = "1"
# Tests run in one process per core, so each process uses one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
