"""Wheels from the source distribution in dist/, tested, and their sizes and import times.

Run by `make wheels` as `python benchmarks/wheels.py PYTHON...`. Builds a wheel for each interpreter
that no earlier wheel serves, gives it the oldest tag that auditwheel allows, and runs tests of the
library in an empty environment of each interpreter, without a compiler. Writes
benchmarks/results/wheels.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import report

ROOT = Path(__file__).parents[1]
DIST, FOLDER = ROOT / "dist", ROOT / "build" / "wheels"
TESTS = ["tests/circuit", "tests/test_model_file_golden.py", "tests/test_model_page.py"]
IMPORTS = (
    *("import numpy", "import scipy", "import sklearn", "import sklearn.linear_model"),
    *("import kenyon", "from kenyon import FlyClassifier"),
)
ROUNDS = 15
IMPORT = """
import time
start = time.process_time()
{statement}
print(time.process_time() - start)
"""
TESTED = """\
Each interpreter installed its wheel into an empty environment, in which there was no compiler, and
ran the tests of the circuit, of the golden models and of the golden cases. No test failed."""
MEASURED = f"""\
MB are 10⁶ bytes. "Installed" is the folder of the package without bytecode. Import times are CPU
times of a new process, the least of {ROUNDS}, with Python {{python}}; each round runs each
statement once, so that a busy moment meets all of them. `import kenyon` imports its names when they
are first used. The time of Kenyon's own modules, without those of others that they import, is
elapsed time (`-X importtime`)."""


class Environment:
    """An empty environment of an interpreter, into which a wheel in dist/ is installed."""

    def __init__(self, python: str) -> None:
        self.version = version_of(python)
        self.folder = FOLDER / f"python{self.version}"
        self.python = str(self.folder / "bin" / "python")
        run(python, "-m", "venv", "--without-pip", str(self.folder))
        install = pip(self.python, "install", "--only-binary=:all:", f"--find-links={DIST}")
        run(*install, "--no-index", "--no-deps", "kenyon")
        run(*install, "kenyon", "hypothesis", "pytest", "pytest-timeout")
        (self.package,) = self.folder.glob("lib/python*/site-packages/kenyon")

    def module(self) -> str:
        """Return the name of the kernel's file."""
        (path,) = self.package.glob("_native*.so")
        return path.name

    def n_passed(self) -> str:
        """Run the tests from a copy, without a compiler, and return how many passed."""
        copy = self.folder / "checkout"
        for folder in ("tests", "docs"):
            shutil.copytree(ROOT / folder, copy / folder)
        for name in ("conftest.py", "pyproject.toml"):
            shutil.copy(ROOT / name, copy)
        process = subprocess.run(
            [self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS],
            cwd=copy,
            env={"PATH": os.fspath(self.folder / "bin")},
            text=True,
            capture_output=True,
        )
        if process.returncode:
            sys.exit(process.stdout + process.stderr)
        return process.stdout.splitlines()[-1].split()[0]

    def import_times(self) -> list[list[str]]:
        """Return a row for each statement: the least time that it takes in milliseconds."""
        times: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for statement in IMPORTS:
                seconds = output(self.python, "-c", IMPORT.format(statement=statement))
                times.setdefault(statement, []).append(1e3 * float(seconds))
            times.setdefault("of it the modules of Kenyon", []).append(self.own_time())
        return [[f"{name}, ms", f"{min(found):.0f}"] for name, found in times.items()]

    def own_time(self) -> float:
        """Return the time in milliseconds that the modules of Kenyon alone take."""
        command = [self.python, "-X", "importtime", "-c", IMPORTS[-1]]
        trace = subprocess.run(command, cwd=FOLDER, text=True, capture_output=True, check=True)
        fields = [line.split("|") for line in trace.stderr.splitlines()[1:]]
        own = (own for own, _, name in fields if name.strip().split(".")[0] == "kenyon")
        return sum(int(time.removeprefix("import time:")) for time in own) / 1e3


def run(*command: str) -> None:
    """Run a command outside of the repository, with the tools of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(command, cwd=FOLDER, env={**os.environ, "PATH": path}, check=True)


def output(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.check_output(command, cwd=FOLDER, text=True).strip()


def find(python: str) -> str:
    """Return the path of an interpreter, which pip needs instead of a name."""
    path = shutil.which(python)
    if path is None:
        sys.exit(f"There is no interpreter {python}.")
    return path


def pip(python: str, *arguments: str) -> list[str]:
    """Return a command of this environment's pip for another interpreter."""
    return [sys.executable, "-m", "pip", "--quiet", "--python", python, *arguments]


def version_of(python: str) -> str:
    """Return the version of an interpreter."""
    return output(python, "-c", "import platform; print(platform.python_version())")


def build(python: str) -> None:
    """Build the wheel of an interpreter, unless an earlier one serves it."""
    minor = int(version_of(python).split(".")[1])
    if minor >= 12 and any(DIST.glob("kenyon-*-abi3-*.whl")):
        return
    (source,) = DIST.glob("kenyon-*.tar.gz")
    built = FOLDER / f"built-{minor}"
    static = "--config-settings=cmake.define.KENYON_STATIC_STDLIB=ON"
    run(*pip(python, "wheel", "--no-deps", static, f"--wheel-dir={built}", str(source)))
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "auditwheel", "repair", f"--wheel-dir={DIST}", str(wheel))


def megabytes(n_bytes: int) -> str:
    """Return a number of bytes in MB."""
    return f"{n_bytes / 1e6:.2f}"


def sizes(environment: Environment) -> list[list[str]]:
    """Return a row for each size in MB."""
    files = sorted([*DIST.glob("*.tar.gz"), *DIST.glob("*.whl")])
    installed = [path for path in environment.package.rglob("*") if path.suffix != ".pyc"]
    kernel = environment.package / environment.module()
    return [
        *([f"`{path.name}`, MB", megabytes(path.stat().st_size)] for path in files),
        ["installed, MB", megabytes(sum(path.stat().st_size for path in installed))],
        ["of it the kernel, MB", megabytes(kernel.stat().st_size)],
    ]


def check_source() -> str:
    """Check what the source distribution holds, and return it in words."""
    (source,) = DIST.glob("kenyon-*.tar.gz")
    with tarfile.open(source) as archive:
        files = [Path(*Path(name).parts[1:]) for name in archive.getnames()]
    tops = sorted({file.parts[0] for file in files})
    return f"The source distribution has {len(files)} files: {', '.join(tops)}."


def main() -> None:
    """Build, test, measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    pythons = [find(python) for python in parser.parse_args().pythons]
    environment = report.environment("seeds of the tests")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for python in pythons:
        build(python)
    environments = [Environment(python) for python in pythons]
    tested = [[env.version, env.module(), env.n_passed()] for env in environments]
    last = environments[-1]
    report.publish(
        "wheels.md",
        "# Wheels",
        environment,
        TESTED,
        report.table(["Python", "kernel", "tests passed"], tested),
        f"{MEASURED.format(python=last.version)} {check_source()}",
        report.table(["size or time", ""], [*sizes(last), *last.import_times()]),
    )


if __name__ == "__main__":
    main()
