"""Run a command, and print its wall time, its CPU time and its peak memory as JSON.

Run as `python -I -S benchmarks/launch.py COMMAND...`. Linux counts the memory of the process that
starts a command as the command's own, so that process must be small: it imports little.
"""

import json
import os
import sys
from time import perf_counter

if __name__ == "__main__":
    start = perf_counter()
    process = os.fork()
    if not process:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.execv(sys.argv[1], sys.argv[1:])
    _, status, usage = os.wait4(process, 0)
    seconds = perf_counter() - start
    cpu = usage.ru_utime + usage.ru_stime
    # Linux counts kilobytes.
    print(json.dumps({"wall": seconds, "cpu": cpu, "peak": usage.ru_maxrss / 1e3}))
    sys.exit(os.waitstatus_to_exitcode(status))
