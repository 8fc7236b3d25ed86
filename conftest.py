"""Environment variables, set before any import, and the settings of hypothesis."""

import os
import signal

# Without this one scikit-learn skips its array API check.
os.environ["SCIPY_ARRAY_API"] = "1"
# Tables are as wide as a terminal, and in no colours, wherever the tests run.
os.environ["COLUMNS"] = "80"
os.environ.pop("FORCE_COLOR", None)
# Tests run in one process per core, so each process uses one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

# A busy machine is not a failure.
settings.register_profile("kenyon", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kenyon")

# A runner in the background ignores Ctrl-C, and the programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
