#!/bin/sh
# Runs the Python of the folder that holds this file, by qemu, as an early 64-bit ARM processor. The
# name of this file becomes sys.executable, so that Python finds its folder and subprocesses run
# under qemu too.
root="$(cd "$(dirname "$0")/../.." && pwd)"
exec qemu-aarch64 -cpu cortex-a72 -L "$root" -0 "$root/usr/bin/python" "$root/usr/bin/python3" "$@"
