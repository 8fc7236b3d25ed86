"""Set before SciPy is first imported: without it scikit-learn skips its array API check."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"
