"""CSV files against Python's csv module, for any content and any cut into blocks."""

import csv
import io

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kenyon.cli.tables import BadRows, Columns, read_samples

ALPHABET = "ab,\t\"\n\r é€😀 '#;0"
FIELDS = st.text(st.sampled_from(ALPHABET), max_size=8)
QUIET = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "a.csv"


def written(rows, **options):
    # Before Python 3.13, the writer quotes carriage returns only if they end the lines.
    if any("\r" in field for row in rows for field in row):
        options["quoting"] = csv.QUOTE_ALL
    text = io.StringIO(newline="")
    csv.writer(text, **options).writerows([["q", "y", "z"], *rows])
    return text.getvalue().encode()


def read(path, content, separator=",", **options):
    path.write_bytes(content)
    bad = BadRows()
    form = "csv" if separator == "," else "tsv"
    found, end = [], 0
    for piece in read_samples(str(path), Columns("q", None, "y"), format=form, bad=bad, **options):
        assert piece.inputs == piece.table["q"].to_list()
        assert piece.labels == piece.table["y"].to_list()
        assert piece.end > end
        end = piece.end
        found += piece.table.rows()
    return found, bad, end


@QUIET
@given(
    rows=st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=12),
    separator=st.sampled_from([",", "\t"]),
    terminator=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    block_size=st.integers(1, 80),
    max_rows=st.integers(1, 5),
    final_newline=st.booleans(),
    bom=st.booleans(),
)
def test_rows_equal_those_of_the_csv_module(
    path, rows, separator, terminator, quoting, block_size, max_rows, final_newline, bom
):
    content = written(rows, delimiter=separator, lineterminator=terminator, quoting=quoting)
    if not final_newline:
        content = content.removesuffix(terminator.encode())
    content = b"\xef\xbb\xbf" * bom + content
    found, bad, _ = read(path, content, separator, block_size=block_size, max_rows=max_rows)
    # A text of spaces is a bad row.
    assert found == [row for row in rows if row[0].strip() and row[1]]
    assert bad.count == len(rows) - len(found)


@QUIET
@given(
    body=st.text(st.sampled_from('ab,"\n\r'), max_size=60),
    block_size=st.integers(1, 80),
    skip_rows=st.integers(0, 4),
)
@example(body='a"b,c,d\n', block_size=3, skip_rows=0)
@example(body='a,b,\n"\n', block_size=3, skip_rows=1)
def test_any_text_gives_the_same_rows_in_blocks_and_after_skipping(
    path, body, block_size, skip_rows
):
    content = b"q,y,z\n" + body.encode()
    try:
        whole, all_bad, end = read(path, content)
    except ValueError as error:
        assert "has no rows" in str(error)  # noqa: PT017
        return
    found, bad, end_in_blocks = read(path, content, block_size=block_size)
    assert (found, bad, end_in_blocks) == (whole, all_bad, end)
    if whole and skip_rows < end:
        rest, rest_bad, end_of_rest = read(
            path, content, block_size=block_size, skip_rows=skip_rows
        )
        assert rest == whole[len(whole) - len(rest) :]
        assert len(whole) - len(rest) + all_bad.count - rest_bad.count == skip_rows
        assert end_of_rest in (end, 0)


@QUIET
@given(body=st.text(st.sampled_from('ab,"\n'), max_size=60))
def test_lenient_rows_equal_those_of_the_csv_module(path, body):
    content = "q,y,z\n" + body
    try:
        expected = [tuple(row) for row in csv.reader(io.StringIO(content), strict=True) if row]
    except csv.Error:
        return
    good = [row for row in expected[1:] if len(row) == 3 and row[0] and row[1]]
    if len(expected) > 1:
        found, bad, _ = read(path, content.encode())
        assert found == good
        assert bad.count == len(expected) - 1 - len(good)


def test_large_blocks_with_quotes_are_split_correctly(path):
    rows = [(f'line {i}\n,"{"x" * (i % 50)}', str(i % 7), "") for i in range(30_000)]
    found, bad, end = read(path, written(rows), block_size=2**20)
    assert found == rows
    assert (bad.count, end) == (0, len(rows))
