"""The kernel's tests on aarch64, under qemu-user. Run by `make aarch64`.

Builds the wheel with the cross compiler, installs it for the Python in build/aarch64/root, runs the
tests there and writes benchmarks/results/aarch64.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from time import perf_counter

import nanobind
import report

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "aarch64"
PYTHON = FOLDER / "root" / "usr" / "bin" / "python"
TESTS = [
    "tests/circuit",
    "tests/readouts",
    "tests/test_classifier.py",
    "tests/test_extinction.py",
    "tests/test_model_file_golden.py",
    "tests/test_model_page.py",
    "tests/test_window.py",
]
METHOD = """\
qemu-user executes a Python of Debian for aarch64 as a Cortex-A72, an early 64-bit ARM processor,
and the wheel that the cross compiler built from the same commit. The tests are those of x86-64:
`tests/circuit/test_bits.py` compares codes, counters, pairs, the calibration sample, scores and
class weights with digests that were written on x86-64; `tests/test_model_file_golden.py` compares
models with files that were saved on x86-64; `tests/test_model_page.py` runs the golden cases of
docs/model.md. Seconds are sums over tests, under emulation: they say nothing about the speed of
ARM."""


def build() -> Path:
    """Build the wheel, repair it for the oldest tag that it satisfies, and install it."""
    built, repaired = FOLDER / "built", FOLDER / "wheels"
    for folder in (built, repaired):
        for old in folder.glob("*.whl"):
            old.unlink()
    cmake = Path(nanobind.cmake_dir())
    run(PYTHON, "tests/aarch64/build_wheel.py", built, cmake)
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", repaired, *built.glob("*.whl"))
    (wheel,) = repaired.glob("*.whl")
    (packages,) = FOLDER.glob("root/usr/local/lib/python*/dist-packages")
    version = packages.parent.name.removeprefix("python")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
    platform = wheel.stem.split("-")[-1].split(".")[-1]
    target = ["--target", packages, "--platform", platform, "--python-version", version]
    run(*pip, *target, "--only-binary=:all:", wheel)
    return wheel


def run(*command: str | Path, **options: object) -> None:
    """Run a command in the root of the repository, with the tools of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    environment.pop("PYTHONPATH", None)
    subprocess.run(list(map(str, command)), cwd=ROOT, env=environment, check=True, **options)


def run_tests() -> list[list[str]]:
    """Run the tests; return rows of files or folders, with tests passed, skipped, seconds."""
    results = FOLDER / "tests.xml"
    pytest = [PYTHON, "-m", "pytest", "-n", "2", "-q", "-p", "no:cacheprovider"]
    run(*pytest, f"--junitxml={results}", *TESTS)
    passed, skipped, seconds = Counter[str](), Counter[str](), Counter[str]()
    for case in ElementTree.parse(results).iter("testcase"):
        file = case.attrib["classname"].replace(".", "/")
        name = next(test for test in TESTS if file.startswith(test.removesuffix(".py")))
        (skipped if case.find("skipped") is not None else passed)[name] += 1
        seconds[name] += float(case.attrib["time"])
    return [[test, f"{passed[test]}", f"{skipped[test]}", f"{seconds[test]:.0f}"] for test in TESTS]


def versions() -> str:
    """Return the versions of the emulator, the compiler and the packages under emulation."""
    commands = (["qemu-aarch64", "--version"], ["aarch64-linux-gnu-g++", "--version"])
    lines = [first_line(*command) for command in commands]
    code = """
import platform
from importlib.metadata import version
import kenyon._native as native
names = "kenyon", "numpy", "scipy", "scikit-learn"
versions = (f"{name} {version(name)}" for name in names)
python = f"Python {platform.python_version()}"
print(platform.machine(), *native.instruction_sets(), python, *versions, sep=", ")
"""
    return "\n".join(f"- {line}" for line in [*lines, first_line(str(PYTHON), "-c", code)])


def first_line(*command: str) -> str:
    """Return the first line that a command prints."""
    return subprocess.check_output(command, text=True, cwd=FOLDER).splitlines()[0]


def main() -> None:
    """Build, test and write the page."""
    environment = report.environment("seeds of the tests")
    wheel = build()
    start = perf_counter()
    rows = run_tests()
    minutes = (perf_counter() - start) / 60
    wheel_line = f"- Wheel: `{wheel.name}`, {wheel.stat().st_size / 1e6:.2f} MB"
    report.publish(
        "aarch64.md",
        "# aarch64",
        "\n".join([environment, versions(), wheel_line]),
        METHOD,
        f"No test failed. The run took {minutes:.0f} minutes in two processes.",
        report.table(["tests", "passed", "skipped", "seconds"], rows),
    )


if __name__ == "__main__":
    main()
