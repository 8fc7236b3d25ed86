"""The commands, each a few lines over `kenyon.load` and `FlyClassifier`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from kenyon import load
from kenyon.model_file import format_version

if TYPE_CHECKING:
    from kenyon.classifier import FlyClassifier

# Otherwise a label such as -1 would be read as an option.
LABELS = {"ignore_unknown_options": True}

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that save wrote.")]
Output = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the model here and leave MODEL unchanged."),
]

app = typer.Typer(
    help="Show, merge and edit saved models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def show(
    model: Model,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the parameters, the circuit, the classes and the sizes of a model."""
    content = describe(model)
    if as_json:
        print(json.dumps(content, indent=2))
    else:
        _print_tables(content)


@app.command()
def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    model: Model,
    others: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="More of them.")],
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Write one model that has learned the samples of all models.

    OUT may be one of the models.
    """
    inputs = {path.resolve() for path in (model, *others)}
    if out.exists() and out.resolve() not in inputs and not force:
        raise ValueError(
            f"OUT must be a new file or one of the models, but {out} exists: --force replaces it"
        )
    merged = load(model)
    for path in others:
        other = load(path)
        try:
            merged.merge(other)
        except (OverflowError, ValueError) as error:
            raise ValueError(f"{path} cannot be merged into {model}: {error}") from error
    _save(merged, out)


@app.command(context_settings=LABELS)
def rename(
    model: Model,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The present label.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="A label that the model lacks.")],
    output: Output = None,
) -> None:
    """Rename a class."""
    fly = load(model)
    fly.rename_class(_label(old, fly), _label(new, fly))
    _save(fly, output or model)


@app.command(context_settings=LABELS)
def drop(
    model: Model,
    label: Annotated[str, typer.Argument(metavar="CLASS", help="The label of the class.")],
    output: Output = None,
) -> None:
    """Drop a class.

    With the readout "ridge" its samples stay in the Gram matrix as unlabelled background.
    """
    fly = load(model)
    fly.drop_class(_label(label, fly))
    _save(fly, output or model)


def describe(path: Path) -> dict[str, Any]:
    """Return the content of a model file as values that JSON can hold."""
    fly = load(path)
    parameters = fly.get_params(deep=False)
    counts = zip(fly.classes_.tolist(), fly.class_count_.tolist(), strict=True)
    return {
        "file": str(path),
        "format_version": format_version(path),
        "readout": parameters.pop("readout"),
        "parameters": parameters,
        "circuit": fly.circuit_.coder.parameters(),
        "classes": [{"label": label, "samples": samples} for label, samples in counts],
        "n_samples": fly.n_samples_seen_,
        "nbytes": fly.nbytes,
    }


def _print_tables(content: dict[str, Any]) -> None:
    summary = {
        "file": content["file"],
        "format version": content["format_version"],
        "readout": content["readout"],
        "classes": f"{len(content['classes']):,}",
        "samples": f"{content['n_samples']:,}",
        "in memory": f"{content['nbytes'] / 1e6:,.2f} MB",
    }
    console = Console()
    sections = {
        "Model": summary,
        "Circuit": content["circuit"],
        "Parameters": content["parameters"],
    }
    for title, section in sections.items():
        table = Table(title=title, box=box.SIMPLE, show_header=False, title_justify="left")
        for name, value in section.items():
            table.add_row(name, _plain(value))
        console.print(table)
    classes = Table("class", Column("samples", justify="right"), box=box.SIMPLE_HEAD)
    for row in content["classes"]:
        classes.add_row(_plain(row["label"]), f"{row['samples']:,}")
    console.print(classes)


def _plain(value: Any) -> Text:
    """Return a value as text in which rich reads no markup."""
    return Text(str(value), overflow="fold")


def _label(text: str, fly: FlyClassifier) -> Any:
    """Return the label that a text names: a number if the labels of the model are numbers."""
    labels = {str(label): label for label in fly.classes_.tolist()}
    if text in labels:
        return labels[text]
    if any(isinstance(label, str) for label in labels.values()):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return int(text) if text.lstrip("+-").isdecimal() else number


def _save(fly: FlyClassifier, path: Path) -> None:
    fly.save(path)
    classes, samples = len(fly.classes_), fly.n_samples_seen_
    plural = "" if classes == 1 else "es"
    print(f"Wrote {path}: {classes:,} class{plural}, {samples:,} samples.")
