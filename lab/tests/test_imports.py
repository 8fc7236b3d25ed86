"""Optional packages: none is imported before it is needed, and all may be missing."""

import json
import os
import subprocess
import sys

OPTIONAL = {
    *("torch", "sentence_transformers", "transformers", "matplotlib", "jinja2", "polars", "pandas"),
}
FOR_DOWNLOADS = {"pooch", "requests", "rich", "typer"}
# scikit-learn imports some of these if it finds them.
SKLEARN = "import sklearn.base, sklearn.datasets, sklearn.utils.validation"
STEPS = {
    "import kenyon": OPTIONAL | FOR_DOWNLOADS,
    "import kenyon.cli": OPTIONAL | FOR_DOWNLOADS,
    "import kenyon_lab.data": OPTIONAL | FOR_DOWNLOADS,
    "kenyon_lab.data.load('digits')": OPTIONAL | FOR_DOWNLOADS,
    "kenyon_lab.data.load('mnist20')": OPTIONAL | FOR_DOWNLOADS,
    "import kenyon_lab.cli": OPTIONAL,
}

SCRIPT = f"""
import json, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in sys.argv[1:]:
            raise ModuleNotFoundError("No module named " + name, name=name)

sys.meta_path.insert(0, Missing())
for step in {[SKLEARN, *STEPS]}:
    exec(step)
    print(json.dumps([step, [name for name in sys.modules if "." not in name]]))
"""


def start(folder, *missing):
    """Run the steps in a new process that cannot find some modules."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    command = [sys.executable, "-c", SCRIPT, *missing]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def finish(process):
    """Return the modules that were imported after each step."""
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return {step: set(names) for step, names in map(json.loads, out.splitlines())}


def test_optional_packages_are_imported_late_and_may_be_missing(tmp_path):
    complete, bare = start(tmp_path), start(tmp_path, *OPTIONAL)
    assert list(finish(bare)) == [SKLEARN, *STEPS]
    imported = finish(complete)
    for step, unwanted in STEPS.items():
        assert unwanted & (imported[step] - imported[SKLEARN]) == set(), step
