"""The verdicts as Markdown."""

from kenyon_lab.reproduction.judgement import Judgement, Statement
from kenyon_lab.reproduction.verdict import write_verdict


def test_a_row_for_each_statement(tmp_path):
    statement = Statement("Flies fly", "0.5", "If they do.", lambda evidence: None)
    judged = [(statement, Judgement("partly", "0.4±0.1")), (statement, Judgement("not", "0.1"))]
    write_verdict(tmp_path / "verdict.md", ["One of two."], judged, "kenyon-lab reproduce")
    lines = (tmp_path / "verdict.md").read_text().splitlines()
    assert lines[2:4] == ["One of two.", "Made by `kenyon-lab reproduce`."]
    assert lines[-2] == "| Flies fly | 0.5 | 0.4±0.1 | partly | If they do. |"
    assert lines[-1] == "| Flies fly | 0.5 | 0.1 | not | If they do. |"
    assert len({line.count("|") for line in lines[5:]}) == 1
