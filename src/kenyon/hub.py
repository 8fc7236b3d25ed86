"""Models in the folder layout of the Hugging Face Hub: a file that holds the model, and a card."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from kenyon._files import replacing
from kenyon._validation import type_name
from kenyon.classifier import FlyClassifier
from kenyon.encoders.model_files import is_folder
from kenyon.pipeline import Pipeline, load, load_unchecked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    FilePath = str | PathLike[str]

FILE, CARD = "model.kenyon", "README.md"
BEGIN = "<!-- kenyon: save_pretrained replaces all up to the next comment -->"
END = "<!-- kenyon: end -->"
_MAX_CLASSES = 100
_MAX_LABEL = 60
_TASKS = {"text": "text-classification", "image": "image-classification"}


def save_pretrained(model: FlyClassifier | Pipeline, folder: FilePath) -> Path:
    """Write a model and its card, model.kenyon and README.md, to a folder.

    The folder is what a repository of the Hugging Face Hub holds, so `hf upload USER/NAME FOLDER`
    publishes it. The card names the classes with their numbers of samples, and the SHA-256 of the
    file. If there is a card already, only the part between Kenyon's two comments is replaced; a
    card without them stays as it is.

    Parameters
    ----------
    model : FlyClassifier or Pipeline
        A model that `save` accepts. With `keep_texts` the file holds the texts that were learned.
    folder : str or path
        It is made if it is missing.

    Returns
    -------
    folder : Path

    Examples
    --------
    >>> import tempfile
    >>> from kenyon import FlyClassifier
    >>> from kenyon.hub import from_pretrained, save_pretrained
    >>> fly = FlyClassifier().fit([[1, 0], [0, 1]], ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_pretrained(fly, folder)
    ...     print(from_pretrained(folder).predict([[2, 0]]))
    ['a']
    """
    if not isinstance(model, FlyClassifier | Pipeline):
        raise TypeError(
            "model must be a kenyon.FlyClassifier or a kenyon.pipeline.Pipeline, but is of type "
            f"{type_name(model)}"
        )
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"folder must be a folder, but {str(folder)!r:.200} is a file")
    with _making(folder):
        model.save(folder / FILE)
    _write_card(folder)
    return folder


def from_pretrained(
    name: FilePath, *, revision: str | None = None, encoder: FilePath | None = None
) -> FlyClassifier | Pipeline:
    """Read a model from a folder, or from a repository of the Hugging Face Hub.

    A repository is downloaded once, and again if it has changed; without a network the copy in the
    cache of the Hub is read. The file is checked as `kenyon.load` checks it, and nothing in it is
    executed.

    Parameters
    ----------
    name : str or path
        A folder that `save_pretrained` wrote, or the name of a repository, "USER/NAME".
    revision : str, default=None
        A branch, a tag or a commit of the repository. None: its main branch.
    encoder : str or path, default=None
        The folder, or another name, of the encoder's model, as for `kenyon.load`.

    Returns
    -------
    model : FlyClassifier or Pipeline

    Raises
    ------
    ValueError
        If the file is refused, see `kenyon.load`.
    OSError
        If there is no such folder or repository, or it has no model.
    ImportError
        If huggingface-hub is missing and the model is not a folder, or a package of the encoder is.
    """
    if is_folder(os.fspath(name)):
        if revision is not None:
            raise ValueError(f"revision must be None for a folder, but is {revision!r:.80}")
        return load(Path(name) / FILE, encoder=encoder)
    return load(_download(os.fspath(name), revision), encoder=encoder)


def _download(name: str, revision: str | None) -> Path:
    if name.count("/") != 1:
        # The Hub would be asked several times, for half a minute if there is no network.
        raise FileNotFoundError(
            f"name must be a folder, or a repository of the form USER/NAME, but {name!r:.200} is "
            "neither"
        )
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise ImportError(
            f"there is no folder {name!r}, and to download a model from the Hugging Face Hub needs "
            "huggingface-hub: pip install 'kenyon[hub]'"
        ) from None
    try:
        return Path(hf_hub_download(name, FILE, revision=revision))
    # The library raises errors of many types.
    except Exception as error:
        raise OSError(
            f"name must be a folder, or a repository of the Hugging Face Hub with a file {FILE} "
            f"that is on this machine or can be downloaded, but {name!r:.200} is neither"
        ) from error


@contextmanager
def _making(folder: Path) -> Iterator[None]:
    """Make a folder and those above it, and remove them again if the context fails."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # There may be files of others in them by now.
            for each in made:
                each.rmdir()
        raise


def _write_card(folder: Path) -> None:
    # The file itself, since the model may have learned more since it was saved.
    content, model = (folder / FILE).read_bytes(), load_unchecked(folder / FILE)
    facts = f"{BEGIN}\n{_describe(model, content)}\n{END}".encode()
    card = folder / CARD
    if card.exists():
        before, begin, rest = card.read_bytes().partition(BEGIN.encode())
        _, end, after = rest.partition(END.encode())
        if not (begin and end):
            return
    else:
        before, after = _begin(model, folder.resolve().name).encode(), b"\n"
    with replacing(card) as beside:
        beside.write_bytes(before + facts + after)


def _begin(model: FlyClassifier | Pipeline, title: str) -> str:
    """Return the metadata that the Hub reads, and a title: what is written once."""
    task = [f"pipeline_tag: {_TASKS[model.encoder.kind]}"] if isinstance(model, Pipeline) else []
    lines = "---", "library_name: kenyon", *task, "tags:", "- continual-learning", "- kenyon", "---"
    return "\n".join([*lines, "", f"# {_plain(title)}", "", ""])


def _describe(model: FlyClassifier | Pipeline, content: bytes) -> str:
    """Return the facts of a model and its file in Markdown."""
    counts, labels = model.class_count_.tolist(), model.classes_.tolist()
    n_texts = model.n_texts if isinstance(model, Pipeline) else 0
    digest = hashlib.sha256(content).hexdigest()
    facts = {
        "learned": f"{sum(counts):,} samples of {len(counts):,} classes",
        "input": _describe_input(model),
        "readout": f"`{model.readout_}`",
        "texts": f"{n_texts:,} learned texts can be read in the file" if n_texts else "none kept",
        "file": f"`{FILE}`, {len(content):,} bytes, SHA-256 `{digest}`",
        "written by": f"Kenyon {version('kenyon')}",
    }
    rows = [f"| {_plain(str(each))} | {n:,} |" for each, n in zip(labels, counts, strict=True)]
    if len(rows) > _MAX_CLASSES:
        rows[_MAX_CLASSES:] = [f"| and {len(rows) - _MAX_CLASSES:,} more | |"]
    return "\n".join(
        [
            "A classifier that goes on learning: `learn_one` adds a sample, of a new class too.",
            "",
            "```python",
            "from kenyon.hub import from_pretrained",
            "",
            'model = from_pretrained("USER/NAME")  # or the folder of this card',
            "```",
            "",
            "| model | |",
            "|---|---|",
            *(f"| {name} | {fact} |" for name, fact in facts.items()),
            "",
            "| class | samples |",
            "|---|--:|",
            *rows,
        ]
    )


def _describe_input(model: FlyClassifier | Pipeline) -> str:
    if isinstance(model, FlyClassifier):
        return f"{model.n_features_in_:,} features"
    found = model.encoder.description()
    # The folders above that of an encoder are nobody else's business.
    name = Path(found["model"]).name if Path(found["model"]).is_absolute() else found["model"]
    return (
        f"{found['kind']}s, through the encoder {_plain(name)} with {found['n_features']:,} "
        f"features, SHA-256 `{found['digest']}`"
    )


def _plain(text: str) -> str:
    """Return a text that Markdown shows to the letter, in one line."""
    line = "".join(each if each.isprintable() else "\ufffd" for each in " ".join(text.split()))
    short = line if len(line) <= _MAX_LABEL else f"{line[: _MAX_LABEL - 1]}…"
    return re.sub(r"[!-/:-@\[-`{-~]", r"\\\g<0>", short)
