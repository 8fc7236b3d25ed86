"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")]
File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A table (.csv, .tsv, .jsonl, .parquet, .npz, .arrow), a folder of images, or - for "
        "standard input.",
    ),
]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Tables (.csv, .tsv, .jsonl, .parquet, .npz, .arrow), folders of images, or - for "
        "standard input.",
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="COLUMN", help="The column of texts; by default 'text'."),
]
Label = Annotated[str, typer.Option("--label", metavar="COLUMN", help="The column of labels.")]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="COLUMNS",
        help="Feature columns instead of texts: names or patterns such as 'x*', separated by "
        "commas. By default those that the model has learned.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="The format of FILE: csv, tsv, jsonl, parquet, npz, arrow or images; by default from "
        "its suffix, and csv for standard input.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="For a new model, a parameter of FlyClassifier."
    ),
]
KeepTexts = Annotated[
    bool, typer.Option("--keep-texts", help="For a new model: keep the texts, to show why.")
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Count and report bad rows instead of stopping.")
]
Elsewhere = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="NAME|FOLDER",
        help="Where the model's encoder is, if it is under another name or in another folder.",
    ),
]
Top = Annotated[
    int, typer.Option("--top", metavar="N", min=1, help="Number of classes for each answer.")
]
Unknown = Annotated[
    str | None,
    typer.Option(
        "--unknown", metavar="LABEL", help="The answer for inputs unlike everything learned."
    ),
]
FalseAlarms = Annotated[
    float,
    typer.Option(
        "--false-alarms",
        metavar="SHARE",
        min=0,
        max=1,
        help="With --unknown, the share of inputs of known classes that may be called unknown.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write the model here and leave MODEL unchanged."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait while another process changes the model.")]
StoreFolder = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="STORE",
        help="The folder of the store, or an address such as postgresql://HOST/DATABASE.",
    ),
]
