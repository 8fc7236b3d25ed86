"""The two wheels: their metadata, their files, and the library installed alone."""

import re
import subprocess
import sys
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

# One worker builds and installs; the others go on with other tests.
pytestmark = pytest.mark.xdist_group("wheels")


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

    @property
    def requirements(self):
        """The names of the distributions that it needs without extras."""
        return sorted(needed(self.metadata.get_all("Requires-Dist")))


def needed(requirements):
    for requirement in map(Requirement, requirements or []):
        if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
            yield requirement.name


def pip(*arguments):
    subprocess.run([sys.executable, "-m", "pip", *map(str, arguments)], check=True, timeout=600)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Build both wheels, the library's in the folder that it was installed from."""
    folder = tmp_path_factory.mktemp("wheels")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    pip(*build, "--config-settings=build-dir=build/release", ROOT)
    pip(*build, ROOT / "lab")
    return {path.name.split("-")[0]: Wheel(path) for path in folder.glob("*.whl")}


@pytest.fixture(scope="module")
def environment(wheels, tmp_path_factory):
    """Install the library into an environment that holds its required dependencies only.

    They are links to those of this environment, and pip finds them satisfied: no download.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    todo, linked = [*wheels["kenyon"].requirements], set()
    while todo:
        name = todo.pop()
        if name not in linked:
            linked.add(name)
            found = distribution(name)
            todo += needed(found.requires)
            for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
                (site / top).symlink_to(found.locate_file(top))
    pip("--python", folder / "bin" / "python", "install", "--no-index", wheels["kenyon"].path)
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


def test_the_library_is_small_and_under_one_licence(wheels):
    wheel = wheels["kenyon"]
    assert wheel.metadata["Name"] == "kenyon"
    assert wheel.metadata["Version"] == distribution("kenyon").version
    assert wheel.metadata["License-Expression"] == "BSD-3-Clause"
    assert wheel.metadata.get_all("License-File") == ["LICENSE"]
    assert wheel.path.stat().st_size <= 1.5e6
    assert wheel.unpacked_bytes < 2e6


def test_the_library_holds_code_only(wheels):
    source = ROOT / "src"
    expected = {
        str(path.relative_to(source))
        for pattern in ("*.py", "*.pyi", "py.typed")
        for path in (source / "kenyon").rglob(pattern)
    }
    files = wheels["kenyon"].files
    (kernel,) = files - expected
    assert re.fullmatch(r"kenyon/_native\.\S+\.so", kernel)
    assert expected < files


def test_the_library_requires_four_distributions(wheels):
    assert wheels["kenyon"].requirements == REQUIRED


def test_the_lab_holds_the_packaged_features_and_their_licences(wheels):
    wheel = wheels["kenyon_lab"]
    assert wheel.metadata["Name"] == "kenyon-lab"
    assert wheel.metadata["Version"] == distribution("kenyon-lab").version
    licences = set(wheel.metadata["License-Expression"].split(" AND "))
    assert licences == {"BSD-3-Clause", "CC-BY-3.0", "CC-BY-SA-4.0", "MIT"}
    source = ROOT / "lab" / "src"
    sources = {
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert wheel.files == sources
    packaged = {Path(name).name for name in wheel.files if "/packaged/" in name}
    assert packaged > {"NOTICE.md", "clinc150.npz", "mnist20.npz"}


def test_the_lab_requires_this_version_of_the_library(wheels):
    version = wheels["kenyon"].metadata["Version"]
    required = wheels["kenyon_lab"].metadata.get_all("Requires-Dist")
    assert f"kenyon=={version}" in required


def test_the_library_alone_runs_the_first_example(environment):
    example = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL)[1]
    process = run(environment, "python", "-c", example)
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines() == re.findall(r"print\(.*# (.*)", example)
    assert (environment / "digits.kenyon").exists()


def test_the_library_alone_is_imported_without_anything_else(environment):
    code = f"""
import kenyon, sys
from importlib.util import find_spec
assert kenyon.__file__.startswith(sys.prefix)
print([name for name in {ABSENT} if find_spec(name)])
"""
    process = run(environment, "python", "-c", code)
    assert (process.stdout, process.stderr) == ("[]\n", "")


def test_the_command_without_its_extra_names_the_extra(environment):
    process = run(environment, "kenyon", "show", "digits.kenyon")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "The command line needs typer and rich: pip install 'kenyon[cli]'\n"
