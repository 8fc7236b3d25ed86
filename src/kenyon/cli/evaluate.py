"""The command `evaluate`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import kenyon
from kenyon.cli.answers import about_threshold
from kenyon.cli.models import classifier_of
from kenyon.cli.options import (
    AsJson,
    Elsewhere,
    FalseAlarms,
    Features,
    File,
    Format,
    Label,
    Model,
    SkipBad,
    Text,
)
from kenyon.cli.progress import showing
from kenyon.cli.reports import bad_rows, count
from kenyon.cli.sources import Source, apply, check_files, check_output, choose_columns, read

if TYPE_CHECKING:
    from kenyon.cli.evaluation import Result
    from kenyon.cli.models import AnyModel
    from kenyon.cli.tables import BadRows

EXAMPLES = """
kenyon evaluate intents.kenyon test.csv --text question --label intent
kenyon evaluate intents.kenyon test.csv --text question --label intent --html page.html
kenyon evaluate intents.kenyon test.csv --unknown '?' --json | jq .accuracy.value
kenyon evaluate digits.kenyon test.parquet --label digit
"""


def evaluate(
    model: Model,
    file: File,
    text: Text = None,
    label: Label = "label",
    features: Features = None,
    unknown: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="The label in FILE of rows that belong to no class: are they detected?",
        ),
    ] = None,
    false_alarms: FalseAlarms = 0.05,
    html: Annotated[
        Path | None, typer.Option(metavar="PAGE", help="Write an HTML page with figures.")
    ] = None,
    encoder: Elsewhere = None,
    skip_bad: SkipBad = False,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Compare the answers of a model with the labels of a file that it has not learned.

    Prints the accuracy, the calibration, the worst classes and the most frequent confusions. --html
    writes all of it as one page, with figures and the most confident errors; --json prints it for
    machines. Labels that the model does not know count as wrong. With --unknown, novelty scores
    are computed too, which takes longer.
    """
    from kenyon.cli.evaluation.judge import Judge
    from kenyon.cli.tables import Progress

    check_files([file])
    if html is not None:
        check_output("--html", str(html), str(model), file)
        if not html.parent.is_dir():
            raise FileNotFoundError(f"{html} cannot be written: there is no folder {html.parent}")
    found = kenyon.load(model, encoder=encoder)
    judge = Judge(found, unknown, false_alarms)
    columns = choose_columns(found, text, features, label)
    source = Source(file, file_format, columns)
    progress = Progress()
    with bad_rows(skip_bad) as bad, showing(file) as show:
        for samples in read(
            source,
            found,
            max_rows=judge.max_rows,
            bad=bad,
            progress=progress,
            unknown=unknown,
        ):
            apply(judge.add, source, samples, bad)
            show(judge.evaluation.n_rows, progress)
    if not judge.evaluation.n_rows:
        raise ValueError(f"{source.name} has no good rows")
    detection = judge.evaluation.detection
    notes = [] if detection is None else about_threshold(detection.label, detection.threshold)
    for note in notes:
        print(note, file=sys.stderr)
    result = judge.result(explained=as_json or html is not None)
    if html is not None:
        _write_page(html, result, _facts(model, found, source), [*notes, *_about_bad(bad)])
    if as_json:
        n_bad = 0 if bad is None else bad.count
        content = {"model": str(model), "file": file, **result.as_json(), "bad_rows": n_bad}
        print(json.dumps(content))
    else:
        from kenyon.cli.evaluation.summary import print_summary

        print_summary(result)


def _write_page(path: Path, result: "Result", facts: dict[str, str], notes: list[str]) -> None:
    from kenyon.cli.evaluation.page import write_page

    write_page(path, result, facts, notes)
    print(f"Wrote {path}.", file=sys.stderr)


def _facts(path: Path, model: "AnyModel", source: Source) -> dict[str, str]:
    """Return what the page says about the model and the file."""
    encoder = getattr(model, "encoder", None)
    classifier = classifier_of(model)
    return {
        "model": path.name,
        "file": source.name if source.path == "-" else Path(source.path).name,
        "encoder": "none: features" if encoder is None else encoder.name_,
        "readout": classifier.readout_,
        "samples learned": f"{classifier.n_samples_seen_:,}",
        "Kenyon": kenyon.__version__,
    }


def _about_bad(bad: "BadRows | None") -> list[str]:
    if bad is None or not bad.count:
        return []
    skipped = count(bad.count, "bad row")
    return [f"Skipped {skipped}, which row numbers leave out. {'. '.join(bad.sentences)}."]
