"""Build the wheel of kenyon for aarch64, as the Python for aarch64.

CMake, Ninja and the compiler are programs of this machine. Run in the root of the repository as
`build_wheel.py FOLDER NANOBIND`, with the folders of the wheel and of nanobind's CMake files.
"""

import sys
from pathlib import Path

from scikit_build_core.build import build_wheel

if __name__ == "__main__":
    settings = {
        "build-dir": "build/aarch64/native",
        "cmake.define.CMAKE_TOOLCHAIN_FILE": str(Path(__file__).with_name("toolchain.cmake")),
        "cmake.define.KENYON_STATIC_STDLIB": "ON",
        "cmake.define.nanobind_DIR": sys.argv[2],
    }
    build_wheel(sys.argv[1], settings)
