"""Results by what they are of."""

from lab.tests.figures.samples import evidence


def test_datasets_and_methods_that_there_are():
    found = evidence(("mnist20", "clinc150"), ("fly", "gem"))
    assert found.datasets(["gem", "ewc"]) == ["mnist20", "clinc150"]
    assert found.datasets(["ewc"]) == []
    assert list(found.of("mnist20", ["gem", "ewc", "fly"])) == ["gem", "fly"]
    assert found.of("tiny100", ["fly"]) == {}
