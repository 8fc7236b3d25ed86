"""New results reach the pages."""

from lab.tests.pages.refresh import refresh_tables

SOURCE = """\
| method | ms |
| ------ | -: |
| a      |  9 |
| b      |  2 |
| c      |  3 |

| method | ms |
| ------ | -: |
| a      | 70 |
| b      | 80 |
"""
PAGE = "Text.\n\n<!-- x.md -->\n| method | ms |\n| - | - |\n{}\nMore text.\n"


def test_rows_are_those_of_the_source():
    text, stale = refresh_tables(PAGE.format("| c | 3 |\n| a | 1 |\n"), {"x.md": SOURCE}.get)
    table = "| method | ms |\n| ------ | -: |\n| c      |  3 |\n| a      |  9 |\n"
    assert text == f"Text.\n\n<!-- x.md -->\n{table}\nMore text.\n"
    assert stale == []


def test_the_most_similar_table_is_taken():
    text, _ = refresh_tables(PAGE.format("| a | 71 |\n| b | 80 |\n"), {"x.md": SOURCE}.get)
    assert "|\n| a      | 70 |\n| b      | 80 |\n" in text


def test_a_row_that_has_gone_is_reported():
    page = PAGE.format("| d | 3 |\n")
    assert refresh_tables(page, {"x.md": SOURCE}.get) == (page, ["x.md"])


def test_a_table_of_which_all_rows_are_shown_follows_their_names():
    source = "| file | MB |\n| --- | --: |\n| x-2 | 1 |\n| y-2 | 1 |\n"
    old = "| file | MB |\n| --- | --: |\n| x-1 | 1 |\n| y-1 | 1 |\n"
    text, stale = refresh_tables(f"<!-- x.md -->\n{old}", {"x.md": source}.get)
    assert (text, stale) == (f"<!-- x.md -->\n{source}", [])
