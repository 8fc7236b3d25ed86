"""A pickle that executes code."""

from pathlib import Path


class Bomb:
    """Creates the file `trace` when it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)
