"""Distributions: the metadata and files of both wheels, the library's source, and it alone."""

import ast
import re
import subprocess
import sys
import tarfile
from email import message_from_bytes
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
REQUIRED = ["numpy", "safetensors", "scikit-learn", "scipy"]
ABSENT = ["kenyon_lab", "torch", "typer", "rich", "pandas", "polars", "matplotlib", "pytest"]


def test_wheels_and_the_library_alone(tmp_path):
    """One test, so that one worker builds the wheels, once."""
    library, lab = build(tmp_path / "wheels")
    check_library(library)
    check_lab(lab, library)
    environment = install(library, tmp_path / "environment")
    check_import(environment)
    check_first_example(environment)
    check_command(environment)


def test_the_source_distribution_holds_what_a_wheel_is_built_from(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first, second = (build_source(tmp_path / name) for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        files = {member.name.partition("/")[2] for member in archive if member.isfile()}
    built = {".pyc", ".so"}
    paths = (path for folder in ("native", "src") for path in (ROOT / folder).rglob("*"))
    sources = {path for path in paths if path.is_file() and path.suffix not in built}
    others = "CHANGELOG.md CMakeLists.txt LICENSE PKG-INFO README.md pyproject.toml"
    assert files == {str(path.relative_to(ROOT)) for path in sources} | {*others.split()}


COLLECT = """
import pytest, sys
class Absent:
    def find_spec(name, *_):
        if name.partition(".")[0] in sys.argv[1].split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent)
sys.exit(pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""


@pytest.mark.parametrize("benchmark", ["aarch64", "wheels"])
def test_the_tests_of_wheels_are_collected_without_other_packages(benchmark):
    source = (ROOT / "benchmarks" / f"{benchmark}.py").read_text()
    (tests,) = re.findall(r"^TESTS = (\[.*?\])$", source, flags=re.DOTALL | re.MULTILINE)
    absent = " ".join(name for name in ABSENT if name != "pytest")
    command = [sys.executable, "-c", COLLECT, absent, *ast.literal_eval(tests)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stdout + process.stderr


class Wheel:
    """A built wheel."""

    def __init__(self, path):
        self.path = path
        with ZipFile(path) as archive:
            infos = archive.infolist()
            self.files = {info.filename for info in infos if ".dist-info/" not in info.filename}
            self.unpacked_bytes = sum(info.file_size for info in infos)
            (name,) = (info for info in infos if info.filename.endswith(".dist-info/METADATA"))
            self.metadata = message_from_bytes(archive.read(name))
        self.requirements = self.metadata.get_all("Requires-Dist")


def required(requirements):
    """Return the names of the distributions that are required without extras."""
    parsed = map(Requirement, requirements or [])
    return sorted(
        requirement.name
        for requirement in parsed
        if not requirement.marker or requirement.marker.evaluate({"extra": ""})
    )


def pip(*arguments):
    subprocess.run([sys.executable, "-m", "pip", *map(str, arguments)], check=True, timeout=600)


def build(folder):
    """Build both wheels, the library's in the build folder of the installation."""
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    pip("wheel", *options, "--config-settings=build-dir=build/release", ROOT)
    pip("wheel", *options, ROOT / "lab")
    wheels = {path.name.split("-")[0]: Wheel(path) for path in folder.glob("*.whl")}
    return wheels["kenyon"], wheels["kenyon_lab"]


def build_source(folder):
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, folder], cwd=ROOT, check=True)
    return next(folder.glob("*.tar.gz"))


def check_library(wheel):
    assert wheel.metadata["Name"] == "kenyon"
    assert wheel.metadata["Version"] == distribution("kenyon").version
    assert wheel.metadata["License-Expression"] == "BSD-3-Clause"
    assert wheel.metadata.get_all("License-File") == ["LICENSE"]
    assert required(wheel.requirements) == REQUIRED
    assert wheel.path.stat().st_size <= 1.5e6
    assert wheel.unpacked_bytes < 2.5e6
    source = ROOT / "src"
    code = {
        str(path.relative_to(source))
        for pattern in ("*.py", "*.pyi", "py.typed", "*.html", "*.css", "*.js", "*.svg")
        for path in (source / "kenyon").rglob(pattern)
    }
    assert code < wheel.files
    (kernel,) = wheel.files - code
    assert re.fullmatch(r"kenyon/_native\.\S+\.so", kernel)


def check_lab(wheel, library):
    assert wheel.metadata["Name"] == "kenyon-lab"
    assert wheel.metadata["Version"] == distribution("kenyon-lab").version
    licences = set(wheel.metadata["License-Expression"].split(" AND "))
    assert licences == {"BSD-3-Clause", "CC-BY-3.0", "CC-BY-SA-4.0", "MIT"}
    assert f"kenyon=={library.metadata['Version']}" in wheel.requirements
    source = ROOT / "lab" / "src"
    sources = {path for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert wheel.files == {str(path.relative_to(source)) for path in sources}
    packaged = {Path(name).name for name in wheel.files if "/packaged/" in name}
    assert packaged > {"NOTICE.md", "clinc150.npz", "mnist20.npz", "mnist20-distorted.npz"}
    assert wheel.path.stat().st_size < 30e6


def install(wheel, folder):
    """Install the library into an environment that holds its required dependencies only.

    They are links to those of this environment, so pip downloads nothing.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    names, linked = required(wheel.requirements), set()
    while names:
        name = names.pop()
        if name not in linked:
            linked.add(name)
            found = distribution(name)
            names += required(found.requires)
            for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
                (site / top).symlink_to(found.locate_file(top))
    pip("--python", folder / "bin" / "python", "install", "--no-index", wheel.path)
    return folder


def run(environment, *command):
    return subprocess.run(
        [environment / "bin" / command[0], *command[1:]],
        cwd=environment,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def check_import(environment):
    code = f"""
import kenyon, sys
from importlib.util import find_spec
assert kenyon.__file__.startswith(sys.prefix)
print([name for name in {ABSENT} if find_spec(name)])
"""
    process = run(environment, "python", "-c", code)
    assert (process.stdout, process.stderr) == ("[]\n", "")


def check_first_example(environment):
    example = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL)[1]
    process = run(environment, "python", "-c", example)
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines() == re.findall(r"print\(.*# (.*)", example)
    assert (environment / "intents.kenyon").exists()


def check_command(environment):
    process = run(environment, "kenyon", "show", "intents.kenyon")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "The command line needs typer and rich: pip install 'kenyon[cli]'\n"
