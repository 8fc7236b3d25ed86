"""The dialogue of `teach`: texts, answers, corrections."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from kenyon.cli.answers import Answerer
from kenyon.cli.ask import answer_one, explain, print_answer, print_why
from kenyon.cli.inputs import accept_all_bytes, parse_input
from kenyon.cli.interrupts import deferred
from kenyon.cli.labels import parse_label
from kenyon.cli.models import TEXT, kind_of
from kenyon.cli.reports import count

if TYPE_CHECKING:
    from pathlib import Path

    from kenyon.cli.models import AnyModel

HELP = """\
  Enter     the answer is right: learn it
  a label   the right answer: learn it
  :skip     learn nothing, next text
  :why      the words that spoke for the answer
  :undo     unlearn the last text
  :quit     end (also Ctrl-D)
  :help     this list
A text or label that begins with a colon is typed with two."""
_REFUSALS = ImportError, OverflowError, TypeError, ValueError


class _Quit(Exception):  # noqa: N818
    """The end of the lesson."""


class _Line(NamedTuple):
    """A line that was typed: a text, or a command without its colon."""

    text: str
    command: str | None = None


class Lesson:
    """A dialogue that changes a model, and saves it after each change.

    Parameters
    ----------
    path : Path
    model : FlyClassifier or Pipeline
        Fitted or new.
    as_json : bool
        Print a line of JSON for each answer and each change.
    """

    def __init__(self, path: Path, model: AnyModel, as_json: bool) -> None:
        self._path, self._model, self._as_json = path, model, as_json
        accept_all_bytes()
        self._is_interactive = sys.stdin.isatty()
        self._learned: list[tuple[str, Any]] = []
        self._text: str | None = None

    def run(self) -> None:
        """Read texts and labels until the input ends."""
        if self._is_interactive:
            import readline  # noqa: F401

            self._say(f"Teaching {self._path}: {self._size()}. :help lists the commands.")
        try:
            while True:
                line = self._read("text> ")
                if line.command is not None:
                    self._obey(line.command)
                elif line.text.strip():
                    self._teach(line.text)
        except _Quit:
            self._say(f"{self._path}: {self._size()}.")

    def _teach(self, text: str) -> None:
        """Answer one text, and learn it with its label."""
        self._text = text
        try:
            guess = self._answer(text)
        except (*_REFUSALS, FileNotFoundError) as error:
            self._refuse(error)
            return
        while True:
            line = self._read("label> " if guess is None else f"label [{guess}]> ")
            if line.command == "skip":
                return
            if line.command is not None:
                self._obey(line.command)
                if line.command == "undo":
                    guess = self._answer(text)
                continue
            if not line.text.strip() and guess is None:
                self._refuse(ValueError("a label is needed; :skip learns nothing"))
                continue
            given = line.text.strip()
            label = parse_label(given, self._model) if given and self._classes() else given or guess
            try:
                self._learn(text, label)
            except _REFUSALS as error:
                self._refuse(error)
                continue
            return

    def _answer(self, text: str) -> Any:
        """Print the answer to a text, and return its label, or None without any class."""
        if not self._classes():
            parse_input(text, self._model)
            return None
        answer = answer_one(Answerer(self._model, 3, None, 0.05), self._model, text, why=False)
        if self._as_json:
            print(json.dumps(answer), flush=True)
        else:
            print_answer(answer)
        return answer["predicted"]

    def _learn(self, text: str, label: Any) -> None:
        # An interrupt waits until the file holds what was learned.
        with deferred():
            self._model.partial_fit(parse_input(text, self._model), [label])
            self._model.save(self._path)
            self._learned.append((text, label))
        self._tell("learned", text, label)

    def _undo(self) -> None:
        if not self._learned:
            raise ValueError("nothing was learned that :undo could unlearn")
        text, label = self._learned[-1]
        with deferred():
            self._model.unlearn(parse_input(text, self._model), [label])
            self._model.save(self._path)
            self._learned.pop()
        self._tell("unlearned", text, label)

    def _obey(self, command: str) -> None:
        """Run a command other than :skip, which belongs to a label."""
        try:
            if command == "quit":
                raise _Quit
            if command == "help":
                self._say(HELP)
            elif command == "undo":
                self._undo()
            elif command == "why":
                self._explain()
            elif command != "skip":
                raise ValueError(f"there is no command :{command}; :help lists them")
        except _REFUSALS as error:
            self._refuse(error)

    def _explain(self) -> None:
        if self._text is None or kind_of(self._model) != TEXT or not self._classes():
            raise ValueError(":why explains the answer to a text")
        found = explain(self._model, self._text)
        if self._as_json:
            print(json.dumps({"input": self._text, **found}), flush=True)
        else:
            print_why(found)

    def _read(self, prompt: str) -> _Line:
        """Read a line; raise _Quit at the end of the input."""
        if self._is_interactive:
            try:
                line = input(prompt)
            except EOFError:
                print()
                raise _Quit from None
        else:
            line = sys.stdin.readline()
            if not line:
                raise _Quit
            line = line.rstrip("\r\n")
        if line.startswith("::"):
            return _Line(line[1:])
        if line.startswith(":"):
            return _Line("", line[1:].strip())
        return _Line(line)

    def _classes(self) -> list[Any]:
        return self._model.classes_.tolist() if hasattr(self._model, "classes_") else []

    def _size(self) -> str:
        n_samples = self._model.n_samples_seen_ if self._classes() else 0
        return f"{count(len(self._classes()), 'class')}, {count(n_samples, 'sample')}"

    def _tell(self, change: str, text: str, label: Any) -> None:
        if self._as_json:
            print(json.dumps({change: text, "label": label, "classes": len(self._classes())}))
        else:
            print(f"{change} {label} ({self._size()})")
        sys.stdout.flush()

    def _say(self, sentence: str) -> None:
        """Print a message for people who type."""
        if self._is_interactive:
            print(sentence, file=sys.stderr if self._as_json else sys.stdout, flush=True)

    def _refuse(self, error: Exception) -> None:
        """Print an error and go on; in a pipe, where the next line would be wrong, raise it."""
        if not self._is_interactive:
            raise error
        print(f"Error: {error}", file=sys.stderr, flush=True)
