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

from kenyon_lab.cli.console import CORES, messages, printer, say
from kenyon_lab.data import CATALOGUE, Dataset, load
from kenyon_lab.data.features import built_path, compare_levels, packaged_path
from kenyon_lab.data.sheet import draw_sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kenyon_lab.data.entry import Entry

SHOWN_NAMES = 20

data = typer.Typer(help="Datasets: list them, build them, look at one.", no_args_is_help=True)


@data.command("list")
def list_datasets() -> None:
    """List the datasets and where each would come from."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("name", "from", "samples", "classes", "tasks", "what"):
        table.add_column(column, no_wrap=column == "name", overflow="fold", min_width=4)
    for entry in CATALOGUE.values():
        sizes = f"{entry.n_train + entry.n_test:,}", str(entry.n_classes), str(entry.n_tasks)
        table.add_row(entry.name, _origin(entry), *sizes, entry.summary)
    printer.print(table)


@data.command()
def build(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A dataset of the catalogue.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where the features go, if not to Kenyon's cache.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads to compute on.")] = CORES,
    model: Annotated[str | None, typer.Option(help="MiniLM's name or folder (clinc150).")] = None,
) -> None:
    """Make a dataset from raw data: fetch its files, and encode them if it takes an encoder."""
    if name not in CATALOGUE:
        raise ValueError(f"NAME must be one of {', '.join(CATALOGUE)}; got {name!r}")
    if model and CATALOGUE[name].encoder != "MiniLM":
        raise ValueError(f"--model is for datasets of text; got {model!r} for {name}")
    if not CATALOGUE[name].encoder:
        say(f"{load(name)}: read as it is, nothing to build.")
        return
    # Here, since PyTorch takes seconds to import and is only needed now.
    from kenyon_lab.encoders.build import Builder

    builder = Builder(folder, threads, partial(track, console=messages), model)
    path = builder.build(name)
    say(f"Wrote {path}")
    if packaged_path(name).is_file():
        same, near = compare_levels(path, packaged_path(name))
        say(
            f"Of the levels that come with Kenyon, and which it reads, {same:.4%} are the same and "
            f"{near:.4%} within one."
        )


@data.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A dataset, or a file of your own.")],
    label: Annotated[str | None, typer.Option(help="The column of labels in a table.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Where the contact sheet goes.")] = None,
) -> None:
    """Show sizes, ranges and balance, and a contact sheet where the data are images."""
    dataset = load(name, label=label)
    table = Table(show_header=False, box=None)
    for row in _describe(dataset):
        table.add_row(*map(Text, row))
    printer.print(table)
    if sheet and not dataset.image_shape:
        raise ValueError(f"--sheet needs images; {dataset.name} holds features")
    if dataset.image_shape:
        path = sheet or Path(f"{dataset.name}.png")
        try:
            draw_sheet(dataset, path)
            say(f"Drew {path}")
        except ImportError as error:
            if sheet:
                raise
            say(f"No contact sheet: {error}", messages)


def _origin(entry: Entry) -> str:
    if packaged_path(entry.name).is_file():
        return "packaged"
    if entry.encoder and built_path(entry.name).is_file():
        return "built"
    missing = [source for source in entry.sources if not source.is_at_hand()]
    if any(source.url is None for source in missing):
        return "missing"
    if missing:
        return "to download"
    return "to build" if entry.encoder else "at hand"


def _describe(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a dataset, as names and sentences."""
    entry = CATALOGUE.get(dataset.name)
    if entry:
        yield "what", entry.summary
    for part, X in dataset.samples().items():
        least, most = float(X.min()), float(X.max())
        features = f"{X.shape[1]} features from {least:.4g} to {most:.4g}, mean {X.mean():.4g}"
        zeros = f"{np.mean(X == 0):.1%} zero"
        yield part.replace("_", " "), f"{len(X):,} samples of {features}, {zeros}"
    for part, y in (("train", dataset.y_train), ("test", dataset.y_test)):
        counts = np.bincount(y, minlength=dataset.n_classes)
        yield f"{part}, by class", f"{counts.min():,} to {counts.max():,} samples"
    names = ", ".join(dataset.class_names[:SHOWN_NAMES])
    more = ", ..." if dataset.n_classes > SHOWN_NAMES else ""
    yield "classes", f"{dataset.n_classes} in {dataset.n_tasks} tasks: {names}{more}"
    if entry:
        yield "licence", entry.licence
        yield "cite", entry.citation
    if entry and entry.note:
        yield "note", entry.note
