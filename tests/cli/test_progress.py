"""The progress bar."""

import io
import sys

import pytest

from kenyon.cli.progress import showing
from kenyon.cli.tables import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("total", [1000, None])
def test_rows_and_rate_on_a_terminal(total, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    with showing("model [red].kenyon") as show:
        show(1234, Progress("bytes", 500, total))
    text = sys.stderr.getvalue()
    assert "model [red].kenyon" in text
    assert "1,234 rows" in text
    assert "rows/s" in text


def test_nothing_beside_a_table_on_the_same_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())
    with showing("new.csv", "-") as show:
        show(5, Progress())
    assert sys.stderr.getvalue() == ""


def test_nothing_without_a_terminal(capsys):
    with showing("new.csv") as show:
        show(5, Progress())
    assert capsys.readouterr() == ("", "")
