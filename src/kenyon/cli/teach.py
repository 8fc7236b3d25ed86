"""The command `teach`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from kenyon.cli.model_lock import locked
from kenyon.cli.models import TEXT, open_or_create, parse_settings
from kenyon.cli.options import AsJson, KeepTexts, Settings, Wait
from kenyon.cli.teaching import Lesson

EXAMPLES = """
kenyon teach intents.kenyon
kenyon teach intents.kenyon --encoder hashing
printf '%s\\n' 'where is my card?' card_lost | kenyon teach intents.kenyon
"""


def teach(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model file, old or new.")],
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FOLDER",
            help="The encoder of a new model of texts: minilm, hashing, or a name or folder. For "
            "other models, where it is.",
        ),
    ] = None,
    settings: Settings = None,
    keep_texts: KeepTexts = False,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Teach a model line by line: type a text, see the answer, confirm or correct it.

    Enter confirms the answer, another label corrects it; the text is learned with the label at
    once, and the model is saved. :help lists the commands. Lines can also come through a pipe: the
    lines are texts and labels in turn. --json prints one line for each answer and each change.
    """
    parsed = parse_settings(settings or [])
    with locked(model, wait=wait):
        found = open_or_create(model, TEXT, encoder, parsed, keep_texts)
        Lesson(model, found, as_json).run()
    sys.stdout.flush()
