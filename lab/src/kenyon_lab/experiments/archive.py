"""Where findings are kept: a JSON file for each experiment and seed."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kenyon_lab.experiments.catalogue import EXPERIMENTS
from kenyon_lab.protocol.circumstances import machine, versions
from kenyon_lab.shared import replacing

if TYPE_CHECKING:
    from os import PathLike


@dataclass(frozen=True, eq=False)
class Finding:
    """What came of an experiment with one seed, and with what it was obtained."""

    experiment: str
    seed: int
    found: dict[str, Any]
    seconds: float
    versions: dict[str, str]
    machine: dict[str, str | int]
    date: str


class _Found(dict[str, Any]):
    """What was found; whoever asks for what is not there learns which file lacks it."""

    def __init__(self, found: dict[str, Any], path: Path) -> None:
        super().__init__(found)
        self.path = path

    def __missing__(self, key: str) -> Any:
        raise ValueError(f"{self.path} lacks {key!r}: delete it, to have it measured again")


class Archive:
    """Findings, each in a file of its own, which is there whole or not at all.

    An experiment that was done is not done again: whoever changes one deletes its findings.

    Parameters
    ----------
    folder : str or path
        Findings are in ``experiments/name-seed.json``.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder) / "experiments"

    def find(self, experiment: str, seed: int) -> Finding | None:
        """Return what was found, if the experiment was done before."""
        path = self._path(experiment, seed)
        if not path.is_file():
            return None
        try:
            finding = Finding(**json.loads(path.read_text(encoding="utf-8")))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} does not hold a finding: {error}") from error
        return replace(finding, found=_Found(finding.found, path))

    def measure(self, experiment: str, seed: int) -> Finding:
        """Do an experiment, and keep what was found."""
        start = time.perf_counter()
        found = EXPERIMENTS[experiment].measure(seed)
        finding = Finding(
            experiment,
            seed,
            found,
            round(time.perf_counter() - start, 3),
            versions(),
            machine(),
            f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
        )
        path = self._path(experiment, seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside:
            content = json.dumps(asdict(finding), allow_nan=False)
            beside.write_text(content + "\n", encoding="utf-8")
        return finding

    def _path(self, experiment: str, seed: int) -> Path:
        return self.folder / f"{experiment}-{seed}.json"
