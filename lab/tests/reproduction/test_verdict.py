"""The verdicts as Markdown, and their counts."""

from kenyon_lab.reproduction.verdict import headline, write_verdict
from lab.tests.reproduction.samples import stated


def test_a_row_for_each_statement_and_an_entry_for_each_rule(tmp_path):
    judged = [
        stated("Flies fly", "partly", "0.5", "0.4±0.1", "If they do."),
        stated("Flies ||x||", "not", "", "0.1", "If so.", ours=("reproduced", "0.2")),
        stated("Flies land", "not", "", "0.2", "If they do."),
    ]
    write_verdict(tmp_path / "verdict.md", ["One of two."], judged, "kenyon-lab reproduce")
    lines = (tmp_path / "verdict.md").read_text().splitlines()
    assert lines[2:4] == ["One of two.", "Made by `kenyon-lab reproduce`."]
    assert lines[5].startswith("“As the paper” has")
    assert lines[8] == "| statement | paper | as the paper | verdict | ours | verdict | rule |"
    escaped = "Flies \\|\\|x\\|\\|"
    assert lines[10:13] == [
        "| Flies fly | 0.5 | 0.4±0.1 | partly | the same |  | 1 |",
        f"| {escaped} |  | 0.1 | not | 0.2 | reproduced | 2 |",
        "| Flies land |  | 0.2 | not | the same |  | 1 |",
    ]
    assert len({line.replace("\\|", "").count("|") for line in lines[8:13]}) == 1
    assert lines[13:] == ["", "## The rules", "", "1. If they do.", "2. If so."]


def test_the_first_sentence_counts_the_papers_settings():
    judged = [
        stated("a"),
        stated("b", "partly", ours=("reproduced", "1")),
        stated("c", "not"),
        stated("d", "not", ours=("not measured", "")),
    ]
    assert headline(judged) == [
        "Of 4 statements of the paper that were measured, 1 were reproduced, 1 partly, 2 not.",
        "With our settings, 2 of 3 were reproduced, 0 partly, 1 not.",
    ]


def test_what_could_not_be_judged_is_counted_apart():
    judged = [stated("a"), stated("b", "not comparable"), *2 * [stated("c", "not measured")]]
    assert headline(judged) == [
        "Of 1 statements of the paper that were measured, 1 were reproduced, 0 partly, 0 not.",
        "1 more are not comparable, because the encoder of CIFAR-100 is not the paper's.",
        "2 more were not measured in this run.",
    ]
