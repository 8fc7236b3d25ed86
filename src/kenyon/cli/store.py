"""The commands `store show`, `store verify`, `store compact` and `store erase`."""

import json
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli.options import AsJson
from kenyon.cli.reports import count
from kenyon.cli.visible import visible_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kenyon.store import Store

SHOW_EXAMPLES = """
kenyon store show models
kenyon store show models --json | jq .models
"""
VERIFY_EXAMPLES = """
kenyon store verify models
kenyon store verify models || echo "restore the backup"
"""
COMPACT_EXAMPLES = """
kenyon store compact models
"""
ERASE_EXAMPLES = """
kenyon store erase models intents --ids customer-17 --ids customer-18
kenyon store erase models intents --before 2026-01-31
"""

Place = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="The folder of a store that nothing else uses, or an address of PostgreSQL.",
    ),
]


def show(place: Place, as_json: AsJson = False) -> None:
    """Show the models and the keys of a store, and its size."""
    with _opened(place) as store:
        content = {
            "folder": store.name,
            "bytes": store.size(),
            "models": [_describe(store, name) for name in store.names()],
            "keys": [
                {
                    "id": key.id,
                    "name": key.name,
                    "scopes": sorted(key.scopes),
                    "models": None if key.models is None else sorted(key.models),
                    "revoked": key.revoked is not None,
                }
                for key in store.keys.all()
            ],
        }
    if as_json:
        print(json.dumps(content, indent=2))
    else:
        _print_tables(content)


def verify(place: Place, as_json: AsJson = False) -> None:
    """Replay all events, and compare with the snapshots and the present sums.

    The exit code is 1 if something differs.
    """
    with _opened(place) as store:
        name, findings = store.name, store.verify()
    n_wrong = sum(not finding.is_right for finding in findings)
    if as_json:
        content = [finding._asdict() for finding in findings]
        print(json.dumps({"folder": name, "wrong": n_wrong, "findings": content}, indent=2))
    else:
        for finding in findings:
            where = f"{finding.model}: " if finding.model else ""
            print(f"{'right' if finding.is_right else 'WRONG'}  {where}{finding.text}")
        print(f"{name}: {count(len(findings), 'comparison')}, {n_wrong:,} wrong.")
    if n_wrong:
        raise typer.Exit(1)


def compact(place: Place, as_json: AsJson = False) -> None:
    """Rewrite the database without free space and without stray copies of erased samples."""
    with _opened(place) as store:
        name, before = store.name, store.size()
        store.compact()
        after = store.size()
    summary = {"folder": name, "bytes_before": before, "bytes": after}
    sentence = f"Compacted {name}: {after / 1e6:,.2f} MB; before, {before / 1e6:,.2f} MB."
    print(json.dumps(summary) if as_json else sentence)


def erase(
    place: Place,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The name of a model.")],
    ids: Annotated[
        list[str] | None,
        typer.Option("--ids", metavar="ID", help="A sample to erase; may be given several times."),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="DATE",
            help="Erase what was learned before a date such as 2026-01-31, or before a time such "
            "as 2026-01-31T12:00, both in UTC.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Unlearn samples and erase their content from all files of a store.

    Nothing brings them back. Copies of the folder elsewhere, such as backups, keep them.
    """
    if (ids is None) == (before is None):
        raise ValueError("either --ids or --before must be given, and not both")
    end = None if before is None else _parse_time(before)
    with _opened(place) as store:
        try:
            found = store[model]
            if end is not None:
                erased = found.unlearn_before(end, who="kenyon store erase")
            else:
                n_rows = found.n_erased
                found.unlearn(ids or [], who="kenyon store erase")
                erased = found.n_erased - n_rows
        except KeyError as error:
            raise ValueError(str(error)) from error
        store.compact()
        name, n_samples = store.name, found.n_samples
    summary = {"folder": name, "model": model, "erased": erased, "samples": n_samples}
    sentence = f"Erased {count(erased, 'sample')} of {model} in {name}; {n_samples:,} remain."
    print(json.dumps(summary) if as_json else sentence)


@contextmanager
def _opened(place: str) -> "Iterator[Store]":
    # The store takes as long to import as all other commands.
    import kenyon.store
    from kenyon.store.store import is_address

    if not is_address(place) and not Path(place, "store.sqlite").is_file():
        raise ValueError(f"STORE must be the folder of a store, but {place} has no store.sqlite")
    with kenyon.store.open(place) as store:
        yield store


def _parse_time(text: str) -> float:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"--before must be a date such as 2026-01-31, but is {text!r:.80}"
        ) from error
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()


def _describe(store: "Store", name: str) -> dict[str, Any]:
    model = store[name]
    return {
        "name": name,
        "event": model.event,
        "classes": len(model.classes()),
        "samples": model.n_samples,
        "features": model.n_features,
        "encoder": None if model.spec.encoder is None else model.spec.encoder["model"],
        "keep_texts": model.spec.keep_texts,
        "settings": model.settings(),
    }


def _print_tables(content: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text(f"{content['folder']}: {content['bytes'] / 1e6:,.2f} MB"))
    models = Table("model", "events", "classes", "samples", "input", "readout", box=box.SIMPLE_HEAD)
    for each in content["models"]:
        models.add_row(
            Text(each["name"], overflow="fold"),
            f"{each['event']:,}",
            f"{each['classes']:,}",
            f"{each['samples']:,}",
            Text(each["encoder"] or f"{each['features']:,} features", overflow="fold"),
            each["settings"]["readout"],
        )
    console.print(models)
    if content["keys"]:
        keys = Table("key", "name", "scopes", "models", "revoked", box=box.SIMPLE_HEAD)
        for each in content["keys"]:
            keys.add_row(
                str(each["id"]),
                Text(visible_label(each["name"]), overflow="fold"),
                ", ".join(each["scopes"]),
                "all" if each["models"] is None else ", ".join(each["models"]),
                "yes" if each["revoked"] else "no",
            )
        console.print(keys)
