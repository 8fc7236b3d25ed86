"""The commands of `kenyon`: one file for each, registered here."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kenyon.cli import (
    ask,
    edit,
    evaluate,
    keys,
    learn,
    predict,
    serve,
    show,
    store,
    teach,
    unlearn,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# Otherwise a label such as -1 would be read as an option.
LABELS = {"ignore_unknown_options": True}

app = typer.Typer(
    pretty_exceptions_enable=False,
    # Plain help keeps the lines of examples, and reads the same in a pipe.
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        import kenyon

        print(f"kenyon {kenyon.__version__}")
        raise typer.Exit


@app.callback()
def kenyon_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Learn classes from texts, tables and images, and answer.

    Results go to standard output; messages and progress go to standard error. The exit code is 0,
    or 2 after an error, 130 after Ctrl-C and 143 after SIGTERM.
    """


def _add(
    command: Callable[..., None], examples: str, group: typer.Typer = app, **settings: Any
) -> None:
    """Register a command; `examples` holds one command line per line."""
    # The line with a backspace keeps the lines below it as they are.
    epilog = "\b\nExamples:\n" + indent(examples.strip(), "  ")
    group.command(epilog=epilog, **settings)(command)


_add(learn.learn, learn.EXAMPLES)
_add(predict.predict, predict.EXAMPLES)
_add(evaluate.evaluate, evaluate.EXAMPLES)
_add(ask.ask, ask.EXAMPLES)
_add(teach.teach, teach.EXAMPLES)
_add(unlearn.unlearn, unlearn.EXAMPLES)
_add(show.show, show.EXAMPLES)
_add(edit.merge, edit.MERGE_EXAMPLES)
_add(edit.rename, edit.RENAME_EXAMPLES, context_settings=LABELS)
_add(edit.drop, edit.DROP_EXAMPLES, context_settings=LABELS)
_add(serve.serve, serve.EXAMPLES)

_keys = typer.Typer(rich_markup_mode=None, help="Create, list and revoke the keys of a store.")
_add(keys.create, keys.CREATE_EXAMPLES, _keys)
_add(keys.list_keys, keys.LIST_EXAMPLES, _keys, name="list")
_add(keys.revoke, keys.REVOKE_EXAMPLES, _keys)
app.add_typer(_keys, name="keys")

stores = typer.Typer(help="Look after a folder of models whose changes are never lost.")
app.add_typer(stores, name="store")
_add(store.show, store.SHOW_EXAMPLES, stores)
_add(store.verify, store.VERIFY_EXAMPLES, stores)
_add(store.compact, store.COMPACT_EXAMPLES, stores)
_add(store.erase, store.ERASE_EXAMPLES, stores)
