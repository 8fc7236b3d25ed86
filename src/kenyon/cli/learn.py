"""The command `learn`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from kenyon.cli.learning import Learner
from kenyon.cli.model_lock import locked
from kenyon.cli.models import open_or_create, parse_settings
from kenyon.cli.options import (
    AsJson,
    Features,
    Files,
    Format,
    KeepTexts,
    Label,
    Settings,
    SkipBad,
    Text,
    Wait,
)
from kenyon.cli.reports import bad_rows, count, speed
from kenyon.cli.sources import Source, check_files, choose_columns, kind_of_file

EXAMPLES = """
kenyon learn intents.kenyon tickets.csv --text question --label intent
kenyon learn digits.kenyon digits.parquet --features 'pixel*' --label digit
kenyon learn pets.kenyon photos/ --encoder mobilenetv2
zcat tickets.jsonl.gz | kenyon learn intents.kenyon - --format jsonl --every 100000
kenyon learn intents.kenyon tickets.csv --set readout=bayes --keep-texts
"""


def learn(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model file, old or new.")],
    files: Files,
    text: Text = None,
    label: Label = "label",
    features: Features = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FOLDER",
            help="For a new model, the encoder: minilm, hashing, or the name or folder of a "
            "sentence-transformers or model2vec model; for images pixels or mobilenetv2. By "
            "default minilm if installed, otherwise hashing. For other models, where it is.",
        ),
    ] = None,
    settings: Settings = None,
    keep_texts: KeepTexts = False,
    every: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Also save after every N rows.")
    ] = None,
    skip_rows: Annotated[
        int, typer.Option(min=0, metavar="N", help="Skip the first N rows of the first FILE.")
    ] = 0,
    skip_bad: SkipBad = False,
    wait: Wait = False,
    file_format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Learn rows of files: create a model, or go on with one.

    MODEL is the old file until all rows are learned, or with --every until the next save; then it
    is replaced at once. Bad rows stop the command, unless --skip-bad is given. After Ctrl-C the
    rows learned so far are saved, and a message tells how to go on; a second Ctrl-C does not save.
    """
    check_files(files)
    parsed = parse_settings(settings or [])
    kind = kind_of_file(files[0], file_format, text, features)
    with locked(model, wait=wait):
        found = open_or_create(model, kind, encoder, parsed, keep_texts)
        columns = choose_columns(found, text, features, label)
        sources = [Source(path, file_format, columns) for path in files]
        with bad_rows(skip_bad) as bad:
            summary = Learner(model, found, sources, every, skip_rows).run(bad)
    print(json.dumps(summary) if as_json else _sentence(summary))


def _sentence(summary: dict[str, Any]) -> str:
    """Return a summary as one sentence."""
    rows, new = summary["rows"], len(summary["new_classes"])
    model = summary["model"]
    what = f"Created {model}" if summary["created"] else f"Wrote {model}"
    return (
        f"{what if rows else f'{model} is unchanged'}: "
        f"learned {count(rows, 'row')} {speed(rows, summary['seconds'])}; "
        f"{count(summary['classes'], 'class')}, {new:,} new; {count(summary['samples'], 'sample')}."
    )
