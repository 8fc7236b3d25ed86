"""The command `predict`."""

import json
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kenyon
from kenyon.cli.answers import Answerer
from kenyon.cli.options import (
    AsJson,
    Elsewhere,
    FalseAlarms,
    Features,
    File,
    Format,
    Model,
    SkipBad,
    Text,
    Top,
    Unknown,
)
from kenyon.cli.progress import showing
from kenyon.cli.reports import bad_rows, count, speed
from kenyon.cli.sources import (
    Source,
    apply_each,
    check_files,
    check_output,
    choose_columns,
    read,
    take,
)

if TYPE_CHECKING:
    from polars import DataFrame

    from kenyon.cli.answers import Answers
    from kenyon.cli.tables import BadRows, Samples

EXAMPLES = """
kenyon predict intents.kenyon new.csv --text question -o answers.csv
kenyon predict intents.kenyon new.csv --text question --top 3 --unknown '?' -o answers.parquet
cat new.csv | kenyon predict intents.kenyon - --text question | head
kenyon predict digits.kenyon new.parquet --json | jq .predicted
kenyon predict pets.kenyon photos/ -o answers.csv
"""
_MAX_ROWS = 2048


def predict(
    model: Model,
    file: File,
    text: Text = None,
    features: Features = None,
    top: Top = 1,
    unknown: Unknown = None,
    false_alarms: FalseAlarms = 0.05,
    novelty: Annotated[
        bool, typer.Option("--novelty", help="Add novelty scores; --unknown adds them too.")
    ] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The table to write.")
    ] = "-",
    output_format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="Its format; by default from its suffix, else csv."),
    ] = None,
    encoder: Elsewhere = None,
    skip_bad: SkipBad = False,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Answer the rows of a file, and write them with their answers.

    The columns of FILE are followed by `predicted` and `probability`; with --top 3 also by
    `predicted_2`, `probability_2`, `predicted_3` and `probability_3`; with --unknown or --novelty
    by `novelty`. An unknown row has no probability. --json prints JSON lines; with --output it
    prints a summary.
    """
    from kenyon.cli.tables import Progress, write_table

    check_files([file])
    if output != "-":
        check_output("--output", output, str(model), file)
    found = kenyon.load(model, encoder=encoder)
    started = time.perf_counter()
    # With --unknown this takes seconds.
    answerer = Answerer(found, top, unknown, false_alarms, novelty)
    columns = choose_columns(found, text, features, None)
    progress = Progress()
    rows, n_unknown = 0, 0
    source = Source(file, file_format, columns)
    lines = as_json and output == "-"
    with (
        bad_rows(skip_bad) as bad,
        write_table(output, "jsonl" if lines else output_format) as writer,
        showing(file, output) as show,
    ):
        for samples in read(source, found, max_rows=_MAX_ROWS, bad=bad, progress=progress):
            samples, answers = _answer(answerer, source, samples, bad)
            if answers is None:
                continue
            writer.write(_add_answers(samples.table, answers, unknown, source.name))
            rows += len(samples.inputs)
            n_unknown += 0 if answers.is_unknown is None else int(answers.is_unknown.sum())
            show(rows, progress)
    if output == "-":
        return
    summary = {
        "output": output,
        "rows": rows,
        "unknown": n_unknown if unknown is not None else None,
        "bad_rows": 0 if bad is None else bad.count,
        "seconds": round(time.perf_counter() - started, 3),
    }
    if as_json:
        print(json.dumps(summary))
    else:
        print(_sentence(summary), file=sys.stderr)


def _sentence(summary: dict[str, Any]) -> str:
    """Return a summary as one sentence."""
    rows, unknown = summary["rows"], summary["unknown"]
    rest = "" if unknown is None else f", {unknown:,} unknown"
    took = speed(rows, summary["seconds"])
    return f"Wrote {summary['output']}: {count(rows, 'row')} {took}{rest}."


def _answer(
    answerer: Answerer, source: Source, samples: "Samples", bad: "BadRows | None"
) -> "tuple[Samples, Answers | None]":
    """Return samples with their answers, without rows that cannot be encoded."""
    try:
        return samples, answerer(samples.inputs)
    except (OSError, ValueError):
        rows = apply_each(lambda inputs, _: answerer(inputs), source, samples, bad)
    if not rows:
        return samples, None
    samples = take(samples, rows)
    return samples, answerer(samples.inputs)


def _add_answers(
    table: "DataFrame", answers: "Answers", unknown: str | None, name: str
) -> "DataFrame":
    """Return a table with the columns of its answers."""
    import polars as pl

    columns: list[pl.Series] = []
    for rank in range(answers.labels.shape[1]):
        ending = "" if rank == 0 else f"_{rank + 1}"
        labels = pl.Series(f"predicted{ending}", answers.labels[:, rank].tolist())
        probabilities = pl.Series(f"probability{ending}", answers.probabilities[:, rank])
        if unknown is not None and rank == 0:
            is_unknown = pl.Series(answers.is_unknown)
            labels = labels.cast(pl.String).zip_with(~is_unknown, pl.Series([unknown]))
            probabilities = probabilities.set(is_unknown, None)
        columns += [labels, probabilities]
    if answers.novelty is not None:
        columns.append(pl.Series("novelty", answers.novelty))
    for column in columns:
        if column.name in table.columns:
            raise ValueError(
                f"{name} has a column {column.name!r} already, which the answers need: rename it"
            )
    return table.with_columns(columns)
