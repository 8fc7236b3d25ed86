"""The command `unlearn`."""

import json
import time
from typing import TYPE_CHECKING, Any

import kenyon
from kenyon.cli.model_lock import locked
from kenyon.cli.models import classifier_of, solve
from kenyon.cli.options import (
    AsJson,
    Elsewhere,
    Features,
    File,
    Format,
    Label,
    Model,
    SkipBad,
    Text,
    Wait,
)
from kenyon.cli.progress import showing
from kenyon.cli.reports import bad_rows, count
from kenyon.cli.sources import Source, apply, check_files, choose_columns, piece_rows, read

if TYPE_CHECKING:
    from kenyon.cli.models import AnyModel
    from kenyon.cli.tables import BadRows

EXAMPLES = """
kenyon unlearn intents.kenyon erase.csv --text question --label intent
kenyon unlearn digits.kenyon wrong.parquet --label digit --skip-bad
"""


def unlearn(
    model: Model,
    file: File,
    text: Text = None,
    label: Label = "label",
    features: Features = None,
    encoder: Elsewhere = None,
    skip_bad: SkipBad = False,
    wait: Wait = False,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Unlearn rows: afterwards the sums are as if they had never been learned.

    All rows are unlearned, or none: an error or Ctrl-C leaves MODEL as it was. A row that was never
    learned is an error; with --skip-bad it is counted and skipped. Most such rows are found, but
    not all, unless the model keeps its texts.
    """
    check_files([file])
    started = time.perf_counter()
    with locked(model, wait=wait), bad_rows(skip_bad) as bad:
        found = kenyon.load(model, encoder=encoder)
        columns = choose_columns(found, text, features, label)
        # Without weights that each piece would update.
        classifier_of(found).refresh()
        rows = _unlearn_file(Source(file, file_format, columns), found, bad)
        if rows:
            solve(found)
            found.save(model)
    summary = {
        "model": str(model),
        "rows": rows,
        "bad_rows": 0 if bad is None else bad.count,
        "classes": len(found.classes_),
        "samples": found.n_samples_seen_,
        "seconds": round(time.perf_counter() - started, 3),
    }
    print(json.dumps(summary) if as_json else _sentence(summary))


def _unlearn_file(source: Source, model: "AnyModel", bad: "BadRows | None") -> int:
    from kenyon.cli.tables import Progress

    progress, rows = Progress(), 0
    with showing(source.name) as show:
        for samples in read(source, model, max_rows=piece_rows(model), bad=bad, progress=progress):
            rows += apply(model.unlearn, source, samples, bad)
            show(rows, progress)
    return rows


def _sentence(summary: dict[str, Any]) -> str:
    model = summary["model"]
    return (
        f"{f'Wrote {model}' if summary['rows'] else f'{model} is unchanged'}: "
        f"unlearned {count(summary['rows'], 'row')}; "
        f"{count(summary['classes'], 'class')}, {count(summary['samples'], 'sample')}."
    )
