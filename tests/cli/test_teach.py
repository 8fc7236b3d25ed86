"""The command `teach`: through a pipe, and in a pseudo-terminal."""

import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time

import pytest

import kenyon
from kenyon import FlyClassifier
from tests.cli.command import PROGRAM, TIMEOUT, assert_error, call, call_json
from tests.cli.samples import digits

HASHING = "--encoder", "hashing", "--set", "n_cells=100"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.kenyon"


def lines(*texts):
    return "".join(f"{text}\n" for text in texts)


def test_texts_and_labels_in_turn(path):
    stdin = lines("my card is lost", "card", "play a song", "song", "", "a song please", "")
    code, out, err = call("teach", path, *HASHING, stdin=stdin)
    assert (code, err) == (0, "Encoder: hashing\n")
    assert out.splitlines() == [
        *(
            "learned card (1 class, 1 sample)",
            "card  100.0%",
            "learned song (2 classes, 2 samples)",
        ),
        *out.splitlines()[3:5],
        "learned song (2 classes, 3 samples)",
    ]
    model = kenyon.load(path)
    assert (model.classes_.tolist(), model.class_count_.tolist()) == (["card", "song"], [1, 2])
    assert model.predict_one("a song") == "song"


def test_corrections_undo_skip_and_colons(path):
    call("teach", path, *HASHING, stdin=lines("a b", "x", "c d", "y"))
    stdin = lines("a b", "::z", "e f", ":skip", "g h", "y", ":undo", "::text", "y", ":quit", "no")
    events = call_json("teach", path, stdin=stdin)
    changes = [event for event in events if "label" in event]
    assert changes == [
        {"learned": "a b", "label": ":z", "classes": 3},
        {"learned": "g h", "label": "y", "classes": 3},
        {"unlearned": "g h", "label": "y", "classes": 3},
        {"learned": ":text", "label": "y", "classes": 3},
    ]
    assert kenyon.load(path).class_count_.tolist() == [1, 1, 2]


def test_why(path):
    call("teach", path, *HASHING, "--keep-texts", stdin=lines("my card", "card", "a song", "song"))
    events = call_json("teach", path, stdin=lines("card", ":why", ":skip"))
    assert [word["word"] for word in events[1]["why"]["words"]] == ["card"]
    assert events[1]["nearest"][0]["text"] == "my card"
    out = call("teach", path, stdin=lines("card", ":why", ":skip"))[1]
    assert "Nearest learned texts" in out


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        ([":undo"], "nothing was learned that :undo could unlearn"),
        ([":nonsense"], "there is no command :nonsense"),
        ([":why"], ":why explains the answer to a text"),
        (["1,2,3"], "must be 64 numbers separated by commas"),
        ([",".join("1" * 64), "one"], "mixed"),
    ],
)
def test_in_a_pipe_an_error_ends_the_lesson(stdin, message, path):
    X, y = digits(50)
    FlyClassifier(n_cells=50).fit(X, y).save(path)
    before = path.read_bytes()
    code, _, err = call("teach", path, stdin=lines(*stdin))
    assert code == 2
    assert message in err
    assert path.read_bytes() == before


def test_a_text_that_is_not_encoded_as_utf_8_is_refused(path):
    stdin = b"my card\ncard\n\xff\ncard\n"
    code, _, err = call("teach", path, "--encoder", "hashing", stdin=stdin)
    assert code == 2
    assert "Error: the text is not encoded as UTF-8" in err
    assert kenyon.load(path).n_samples_seen_ == 1


def test_a_model_of_features(path):
    X, y = digits(50)
    FlyClassifier(n_cells=50).fit(X, y).save(path)
    call_json("teach", path, stdin=lines(",".join(map(str, X[7])), "7"))
    assert kenyon.load(path).class_count_.sum() == 51
    assert_error(call("teach", path, "--keep-texts"), "--keep-texts is for new models")
    assert_error(call("teach", path, "--encoder", "hashing"), "has no encoder")


def test_nothing_learned_leaves_no_file(path):
    assert call("teach", path, *HASHING, stdin=lines("a text", ":skip"))[0] == 0
    assert list(path.parent.iterdir()) == []


# The terminal on standard input becomes that of the new session, so that Ctrl-C is a signal.
IN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A program in a pseudo-terminal, and the person in front of it."""

    def __init__(self, *arguments):
        self._file, theirs = pty.openpty()
        attributes = termios.tcgetattr(theirs)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, attributes)
        self._process = subprocess.Popen(
            [sys.executable, "-c", IN_TERMINAL, *map(str, (PROGRAM, *arguments))],
            **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            start_new_session=True,
            env={**os.environ, "TERM": "dumb"},
        )
        os.close(theirs)
        self.shown = ""
        self._place = 0

    def expect(self, text):
        """Wait until the program shows a text; return what it showed before."""
        limit = time.monotonic() + TIMEOUT
        while text not in self.shown[self._place :]:
            assert time.monotonic() < limit, self.shown
            try:
                read = os.read(self._file, 4096)
            except OSError:  # Linux, when the program has ended
                read = b""
            assert read, self.shown
            self.shown += read.decode()
        start, self._place = self._place, self.shown.index(text, self._place) + len(text)
        return self.shown[start : self._place]

    def type(self, text):
        """Type a line."""
        os.write(self._file, f"{text}\n".encode())

    def press(self, key):
        """Press a key."""
        os.write(self._file, key)

    def end(self):
        """Wait for the end of the program, and return its exit code."""
        try:
            while os.read(self._file, 4096):
                pass
        except OSError:
            pass
        os.close(self._file)
        return self._process.wait(TIMEOUT)


def test_in_a_terminal(path):
    terminal = Terminal("teach", path, *HASHING)
    terminal.expect(":help lists the commands.")
    terminal.expect("text> ")
    terminal.type(":help")
    terminal.expect(":undo     unlearn the last text")
    terminal.expect("text> ")
    terminal.type("my card is gone")
    terminal.expect("label> ")
    terminal.type("")
    terminal.expect("Error: a label is needed")
    terminal.expect("label> ")
    terminal.type("card")
    terminal.expect("learned card (1 class, 1 sample)")
    # Saved at once, while the program still runs.
    assert kenyon.load(path).class_count_.tolist() == [1]
    terminal.expect("text> ")
    terminal.type("play a song")
    terminal.expect("label [card]> ")
    terminal.type("song")
    terminal.expect("learned song (2 classes, 2 samples)")
    terminal.expect("text> ")
    terminal.type("sing a song")
    terminal.expect("song   ")
    terminal.expect("label [song]> ")
    terminal.type(":why")
    terminal.expect("Words for and against song")
    terminal.expect("label [song]> ")
    terminal.type("")
    terminal.expect("learned song (2 classes, 3 samples)")
    terminal.expect("text> ")
    terminal.type(":undo")
    terminal.expect("unlearned song (2 classes, 2 samples)")
    terminal.expect("text> ")
    terminal.type(":nonsense")
    terminal.expect("Error: there is no command :nonsense")
    # The lock is held: another process is refused.
    assert_error(call("drop", path, "card"), "another process is changing")
    terminal.expect("text> ")
    terminal.press(b"\x04")
    assert terminal.end() == 0
    assert kenyon.load(path).class_count_.tolist() == [1, 1]
    assert list(path.parent.iterdir()) == [path]


def test_control_c_in_a_terminal_loses_nothing(path):
    terminal = Terminal("teach", path, *HASHING)
    terminal.expect("text> ")
    terminal.type("my card is gone")
    terminal.expect("label> ")
    terminal.type("card")
    terminal.expect("text> ")
    terminal.press(b"\x03")
    assert terminal.end() == 128 + signal.SIGINT
    assert kenyon.load(path).classes_.tolist() == ["card"]
    assert list(path.parent.iterdir()) == [path]
    assert json.loads(call("show", path, "--json")[1])["n_samples"] == 1
