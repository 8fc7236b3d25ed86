"""A run as text, and back."""

import json
from dataclasses import asdict, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenyon_lab.protocol.record import DIGITS, FORMAT, RunRecord, SearchRecord, from_json, plain
from lab.tests.protocol.samples import RECORD, record


def test_any_tool_can_read_it():
    content = json.loads(RECORD.to_json())
    assert content == {"format": FORMAT, "kind": "run", **asdict(RECORD)}
    assert content["accuracies"] == [[1.0], [0.5, None]]


def test_a_line_for_each_field():
    text = RECORD.to_json()
    assert text.endswith("}\n")
    lines = text.splitlines()
    names = {"format", "kind", *(f.name for f in fields(RunRecord))}
    assert {json.loads(line.partition(":")[0]) for line in lines[1:-1]} == names
    assert len(lines) == 2 + len(names)


def test_text_is_read_back():
    again = from_json(RECORD.to_json(), RunRecord)
    assert asdict(again) == asdict(RECORD)


@given(st.text(), st.dictionaries(st.text(), st.none() | st.floats(-1, 1) | st.text()))
def test_any_names_and_parameters(name, parameters):
    changed = record(dataset=name, parameters=parameters)
    assert asdict(from_json(changed.to_json(), RunRecord)) == asdict(changed)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_json_does_not_have_is_not_written(number):
    with pytest.raises(ValueError, match="JSON"):
        record(accuracy=number).to_json()


def without(name):
    content = json.loads(RECORD.to_json())
    del content[name]
    return json.dumps(content)


NO_RECORDS = {
    "nothing": "",
    "the first half": RECORD.to_json()[:700],
    "all but the last bracket": RECORD.to_json().rstrip()[:-1],
    "a list": "[]",
    "a number": "3",
    "nothing in it": "{}",
    "no seed": without("seed"),
    "no format": without("format"),
    "no kind": without("kind"),
    "no warnings": without("warnings"),
    "one more field": json.dumps({**json.loads(RECORD.to_json()), "colour": "red"}),
}


@pytest.mark.parametrize("text", NO_RECORDS.values(), ids=NO_RECORDS.keys())
def test_what_is_no_record_is_refused(text):
    with pytest.raises(ValueError):
        from_json(text, RunRecord)


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="expected a record of kind 'search'"):
        from_json(RECORD.to_json(), SearchRecord)


def test_another_format_is_refused():
    text = RECORD.to_json().replace(f'"format": {FORMAT}', f'"format": {FORMAT + 1}')
    with pytest.raises(ValueError, match=f"expected format {FORMAT}, got {FORMAT + 1}"):
        from_json(text, RunRecord)


@given(st.lists(st.floats(-1e3, 1e3) | st.just(float("nan"))))
def test_plain_numbers(numbers):
    found = plain(np.array(numbers, dtype=float))
    assert [number is None for number in found] == [number != number for number in numbers]
    for number, expected in zip(found, numbers, strict=True):
        assert number is None or abs(number - expected) <= 0.5 * 10**-DIGITS + 1e-12
    assert [plain(number) for number in numbers] == found
    json.dumps(found, allow_nan=False)
