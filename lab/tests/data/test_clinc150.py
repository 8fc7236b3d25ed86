"""CLINC150's queries, and files that are not it."""

import json

import pytest

from kenyon_lab.data.clinc150 import SOURCE, read_queries

PARTS = {
    "oos_val": [["who", "oos"]],
    "val": [["how are you", "greeting"]],
    "train": [["what is the time in málaga", "time"], ["hi, “you”", "greeting"], ["", "time"]],
    "test": [["time now", "time"]],
    "oos_test": [["what is love", "oos"], ["why", "oos"]],
    "oos_train": [["where", "oos"]],
}


@pytest.fixture
def refusal(give):
    def refusal(content):
        with pytest.raises(ValueError, match=f"^{SOURCE.path} does not hold queries") as caught:
            read_queries(give(SOURCE.path, content))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return refusal


@pytest.mark.parametrize("ascii_only", [True, False])
def test_texts_and_intents_in_their_order(give, ascii_only):
    content = json.dumps(PARTS, ensure_ascii=ascii_only).encode()
    queries = read_queries(give(SOURCE.path, content))
    assert queries.keys() == {"train", "test", "oos_test"}
    assert queries["train"].texts == ["what is the time in málaga", "hi, “you”", ""]
    assert queries["train"].intents == ["time", "greeting", "time"]
    assert queries["oos_test"] == (["what is love", "why"], ["oos", "oos"])


@pytest.mark.parametrize("part", ["train", "test", "oos_test"])
def test_a_missing_part_is_named(refusal, part):
    parts = {name: pairs for name, pairs in PARTS.items() if name != part}
    assert f"'{part}'" in refusal(json.dumps(parts).encode())


def test_an_intent_that_is_never_taught_is_named(refusal):
    parts = PARTS | {"test": [["bye", "farewell"], ["time now", "time"]]}
    assert "'farewell'" in refusal(json.dumps(parts).encode())


def test_json_without_end_is_refused(refusal):
    refusal(b"[" * 100_000)


def test_a_file_cut_short_anywhere_is_refused(refusal):
    whole = json.dumps(PARTS).encode()
    for length in (*range(0, len(whole), 5), len(whole) - 1):
        refusal(whole[:length])


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        None,
        3,
        "text",
        {"text": "intent"},
        [["text"]],
        [["text", "intent", "more"]],
        [["text", "intent"], ["text"]],
        [["text", 3]],
        [[None, "intent"]],
        [["text", ["intent"]]],
        [3],
    ],
    ids=repr,
)
def test_what_is_no_list_of_pairs_is_refused(refusal, pairs):
    refusal(json.dumps(PARTS | {"test": pairs}).encode())


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"3", b"null", b'"train"', b"train,test", b"\xff\xfe\xfa"]
)
def test_other_files_are_refused(refusal, content):
    refusal(content)


def test_a_damaged_file_is_named_with_its_place(folder):
    path = folder / SOURCE.path
    path.parent.mkdir()
    path.write_bytes(b"{}")
    with pytest.raises(ValueError, match=f"{path} is damaged or another release"):
        read_queries()
