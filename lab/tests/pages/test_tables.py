"""Every table with numbers equals the results that it names."""

import re

import pytest

from lab.tests.pages.pages import PAGES, RESULTS, Table, tables

METHODS = "lab/tests/test_readme.py compares it with the declared methods"
NO_RESULT = "numbers are names or definitions, not results"
SIZES = "advice, with a size that linked pages measure"
SERVER = "tests/server/test_docs.py compares it with the routes and limits in the code"
UNSOURCED = {
    ("docs/bench.md", "measure | definition"): NO_RESULT,
    ("docs/benchmarks.md", "result | what was measured | command"): NO_RESULT,
    ("docs/guides/classes.md", "readout | memory for a class | one prediction"): SIZES,
    ("docs/guides/drift.md", "what changes | take | price"): NO_RESULT,
    ("docs/bench.md", "name | method | what it does"): METHODS,
    ("docs/commands.md", "format | suffix | remark"): NO_RESULT,
    ("docs/encoders.md", "`TextEncoder(...)` | features | needs"): NO_RESULT,
    ("docs/data.md", "name | samples | features | classes | tasks | origin"): (
        "lab/tests/test_readme.py compares it with the declared datasets"
    ),
    ("docs/data.md", "encoder | weights | from"): "names and sizes of files",
    ("docs/onnx.md", "output | shape | content"): NO_RESULT,
    ("docs/onnx.md", "result | in the file"): "tests/onnx/test_graph.py tests every row",
    ("docs/readouts.md", "you have | take | because"): SIZES,
    ("docs/reliability.md", "limit | value"): (
        "tests/test_reliability_page.py compares it with the limits in the code"
    ),
    ("docs/reproduction.md", "figure | content | made from"): NO_RESULT,
    (
        "docs/theory.md",
        "lowest class | v1 forgets a | v3 forgets a | smallest, v1 | smallest, v3",
    ): "proved beside it, and checked by `kenyon-lab theory`",
    (
        "docs/verdict.md",
        "statement | paper | as the paper | verdict | ours | verdict | rule",
    ): "lab/tests/test_readme.py compares the whole page with the results",
    ("docs/server.md", "request | scope | what it does"): SERVER,
    ("docs/server.md", "status | meaning"): SERVER,
    ("docs/server.md", "limit | default | option"): SERVER,
}
"""Tables with digits and without a source, by page and header, and why they need none."""

NUMBERED = [
    (page, table)
    for page, text in PAGES.items()
    for table in tables(text)
    if any(re.search(r"\d", cell) for row in table.rows for cell in row)
]


@pytest.mark.parametrize(
    ("page", "table"), NUMBERED, ids=[f"{page}: {table.header}" for page, table in NUMBERED]
)
def test_a_table_equals_its_source_to_the_letter(page, table):
    source = re.fullmatch(r"<!-- (\S+\.md) -->", table.above)
    if source is None:
        assert (page, table.header) in UNSOURCED, "a table of numbers must name its source"
        return
    measured = tables((RESULTS / source[1]).read_text(encoding="utf-8"))
    alike = [other.rows for other in measured if other.header == table.header]
    assert alike, "no table of the source has this header"
    assert any(all(row in rows for row in table.rows) for rows in alike)


def test_every_exception_is_a_table():
    assert set(UNSOURCED) <= {(page, table.header) for page, table in NUMBERED}


def test_the_reader_of_tables():
    text = "# A\n\n<!-- x.md -->\n| a | b |\n|---|--:|\n| 1 \\| 2 | - |\n"
    text += "\n```\n| no |\n```\n## B\n|c|\n"
    first, second = tables(text)
    assert first == Table("<!-- x.md -->", "A", [["a", "b"], ["1 \\| 2", "-"]])
    assert second == Table("## B", "B", [["c"]])
