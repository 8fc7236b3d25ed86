"""`kenyon-lab data list`, `build` and `show`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich import box
from rich.progress import track
from rich.table import Table
from rich.text import Text

from kenyon_lab.console import CORES, messages, printer, say
from kenyon_lab.data import DATASETS, Dataset, load
from kenyon_lab.data.contact_sheet import draw_contact_sheet
from kenyon_lab.data.features import built_path, compare_levels, packaged_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kenyon_lab.data.info import DatasetInfo

MAX_NAMES = 20

data = typer.Typer(help="List, build and show datasets.", no_args_is_help=True)


@data.command("list")
def list_datasets() -> None:
    """List the datasets and the status of each."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("name", "status", "samples", "classes", "tasks", "summary"):
        table.add_column(column, no_wrap=column == "name", overflow="fold", min_width=4)
    for info in DATASETS.values():
        sizes = f"{info.n_train + info.n_test:,}", str(info.n_classes), str(info.n_tasks)
        table.add_row(info.name, _status(info), *sizes, info.summary)
    printer.print(table)


@data.command()
def build(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a dataset.")],
    folder: Annotated[
        Path | None, typer.Option(help="Folder for the features, by default Kenyon's cache.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Number of threads.")] = CORES,
    model: Annotated[str | None, typer.Option(help="MiniLM's name or folder (clinc150).")] = None,
) -> None:
    """Build a dataset from raw data: download its files, and encode them if it has an encoder."""
    if name not in DATASETS:
        raise ValueError(f"NAME must be one of {', '.join(DATASETS)}; got {name!r}")
    if model and DATASETS[name].encoder != "MiniLM":
        raise ValueError(f"--model is for datasets of text; got {model!r} for {name}")
    if not DATASETS[name].encoder:
        say(f"{load(name)}: has no encoder, nothing to build.")
        return
    # Imported here because PyTorch takes seconds to import.
    from kenyon_lab.encoders.build import Builder

    options = {"model": model} if model else {}
    path = Builder(folder, threads, partial(track, console=messages), **options).build(name)
    say(f"Wrote {path}")
    if packaged_path(name).is_file():
        same, near = compare_levels(path, packaged_path(name))
        say(
            f"Compared with the packaged features, which `load` reads, {same:.4%} of the levels "
            f"are equal and {near:.4%} differ by at most one."
        )


@data.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a dataset, or a file.")],
    label: Annotated[str | None, typer.Option(help="The column of labels in a table.")] = None,
    contact_sheet: Annotated[Path | None, typer.Option(help="Path of the contact sheet.")] = None,
) -> None:
    """Show sizes, ranges and class balance, and draw a contact sheet of images."""
    dataset = load(name, label=label)
    table = Table(show_header=False, box=None)
    for row in _describe(dataset):
        table.add_row(*map(Text, row))
    printer.print(table)
    if contact_sheet and not dataset.image_shape:
        raise ValueError(f"--contact-sheet needs images; {dataset.name} holds features")
    if dataset.image_shape:
        path = contact_sheet or Path(f"{dataset.name}.png")
        try:
            draw_contact_sheet(dataset, path)
            say(f"Drew {path}")
        except ImportError as error:
            if contact_sheet:
                raise
            say(f"No contact sheet: {error}", messages)


def _status(info: DatasetInfo) -> str:
    if packaged_path(info.name).is_file():
        return "packaged"
    if info.encoder and built_path(info.name).is_file():
        return "built"
    missing = [source for source in info.sources if not source.is_local()]
    if any(source.url is None for source in missing):
        return "missing"
    if missing:
        return "to download"
    return "to build" if info.encoder else "local"


def _describe(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the rows of the description: a name and a text each."""
    info = DATASETS.get(dataset.name)
    if info:
        yield "summary", info.summary
    for part, X in dataset.samples().items():
        least, most = float(X.min()), float(X.max())
        features = f"{X.shape[1]} features from {least:.4g} to {most:.4g}, mean {X.mean():.4g}"
        zeros = f"{np.mean(X == 0):.1%} zero"
        yield part.replace("_", " "), f"{len(X):,} samples of {features}, {zeros}"
    for part, y in (("train", dataset.y_train), ("test", dataset.y_test)):
        counts = np.bincount(y, minlength=dataset.n_classes)
        yield f"{part}, by class", f"{counts.min():,} to {counts.max():,} samples"
    names = ", ".join(dataset.class_names[:MAX_NAMES])
    more = ", ..." if dataset.n_classes > MAX_NAMES else ""
    yield "classes", f"{dataset.n_classes} in {dataset.n_tasks} tasks: {names}{more}"
    if info:
        yield "licence", info.licence
        yield "cite", info.citation
    if info and info.note:
        yield "note", info.note
