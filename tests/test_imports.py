"""What is heavy is imported where it is needed, and what is optional is not needed."""

import json
import os
import subprocess
import sys

OPTIONAL = {
    *("torch", "sentence_transformers", "transformers", "matplotlib", "jinja2", "polars", "pandas"),
}
FOR_DOWNLOADS = {"pooch", "requests", "rich", "typer"}
# scikit-learn takes what it finds of these.
SKLEARN = "import sklearn.base, sklearn.datasets, sklearn.utils.validation"
STEPS = {
    "import kenyon": OPTIONAL | FOR_DOWNLOADS,
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
    """Take the steps in a new process, in which some modules cannot be found."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    command = [sys.executable, "-c", SCRIPT, *missing]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def finish(process):
    """Return the modules that there were after each step."""
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return {step: set(names) for step, names in map(json.loads, out.splitlines())}


def test_what_is_not_needed_is_not_imported_and_what_is_optional_may_be_missing(tmp_path):
    complete, bare = start(tmp_path), start(tmp_path, *OPTIONAL)
    assert list(finish(bare)) == [SKLEARN, *STEPS]
    imported = finish(complete)
    for step, heavy in STEPS.items():
        assert heavy & (imported[step] - imported[SKLEARN]) == set(), step
