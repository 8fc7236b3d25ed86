"""The commands `merge`, `rename` and `drop`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kenyon
from kenyon.cli.labels import parse_label
from kenyon.cli.model_lock import locked
from kenyon.cli.models import FEATURES, kind_of
from kenyon.cli.options import AsJson, Model, Output, Wait
from kenyon.cli.reports import count

if TYPE_CHECKING:
    from kenyon.cli.models import AnyModel

MERGE_EXAMPLES = """
kenyon merge all.kenyon shard-1.kenyon shard-2.kenyon
kenyon merge all.kenyon all.kenyon more.kenyon
"""
RENAME_EXAMPLES = """
kenyon rename intents.kenyon card_lost lost_card
kenyon rename digits.kenyon -1 10 --output renamed.kenyon
"""
DROP_EXAMPLES = """
kenyon drop intents.kenyon greeting
kenyon drop intents.kenyon greeting --output smaller.kenyon
"""


def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL", help="Model files; one alone is copied.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Write one model that has learned the samples of all models.

    OUT may be one of the models.
    """
    inputs = {path.resolve() for path in models}
    first, *others = models
    if out.exists() and out.resolve() not in inputs and not force:
        raise ValueError(
            f"OUT must be a new file or one of the models, but {out} exists: --force replaces it"
        )
    with locked(out, wait=wait):
        merged = kenyon.pipeline.load_unchecked(first)
        for path in others:
            other = kenyon.pipeline.load_unchecked(path)
            try:
                _merge(merged, other)
            except (OverflowError, ValueError) as error:
                raise ValueError(f"{path} cannot be merged into {first}: {error}") from error
        merged.save(out)
    _report(merged, out, as_json)


def rename(
    model: Model,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The present label.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="A label that the model lacks.")],
    output: Output = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Rename a class."""
    if not new:
        raise ValueError("NEW must not be empty, since files hold no empty labels")
    path = output or model
    with locked(path, wait=wait):
        found = kenyon.pipeline.load_unchecked(model)
        found.rename_class(parse_label(old, found), parse_label(new, found))
        found.save(path)
    _report(found, path, as_json)


def drop(
    model: Model,
    label: Annotated[str, typer.Argument(metavar="CLASS", help="The label of the class.")],
    output: Output = None,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Drop a class.

    With the readout "ridge" its samples stay in the Gram matrix as unlabelled background.
    """
    path = output or model
    with locked(path, wait=wait):
        found = kenyon.pipeline.load_unchecked(model)
        found.drop_class(parse_label(label, found))
        found.save(path)
    _report(found, path, as_json)


def _merge(model: Any, other: "AnyModel") -> None:
    if (kind_of(model) == FEATURES) != (kind_of(other) == FEATURES):
        raise ValueError("only one of them has an encoder")
    model.merge(other)


def _report(model: "AnyModel", path: Path, as_json: bool) -> None:
    classes, samples = len(model.classes_), model.n_samples_seen_
    if as_json:
        print(json.dumps({"model": str(path), "classes": classes, "samples": samples}))
    else:
        print(f"Wrote {path}: {count(classes, 'class')}, {count(samples, 'sample')}.")
