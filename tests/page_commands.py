"""The commands of a page of docs, run by a shell as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path

FENCE = re.compile(r"^```bash\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks_of(page):
    """Return the blocks of a page that are run."""
    return FENCE.findall(page)


def run_blocks(page, folder, replaced=(), **environment):
    """Run the blocks of a page in a folder, as one script, and return the process.

    Parameters
    ----------
    page : str
    folder : Path
    replaced : pairs of str
        What is replaced in the script, such as a port that may be taken here.
    **environment : str
        Further variables.
    """
    # The program that runs these tests, installed or not.
    program = folder / "bin" / "kenyon"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom kenyon.cli import main\nmain()\n")
    program.chmod(0o755)
    script = "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n" + "\n".join(blocks_of(page))
    for old, new in replaced:
        script = script.replace(old, new)
    python = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={
            **os.environ,
            "PATH": os.pathsep.join([str(program.parent), python, os.environ["PATH"]]),
            "KENYON_CACHE_DIR": str(folder / "cache"),
            # Other tests have the other processors, for which threads of BLAS would wait.
            "OMP_NUM_THREADS": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done
