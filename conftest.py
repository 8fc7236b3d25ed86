"""What is set before anything is imported."""

import os

# Without it scikit-learn skips its array API check.
os.environ["SCIPY_ARRAY_API"] = "1"
# Tests run in as many processes as there are cores; products with more threads would wait for each
# other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
