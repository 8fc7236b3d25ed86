"""CLINC150's queries, and invalid files."""

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
def error_of(give):
    def error_of(content):
        with pytest.raises(ValueError, match=f"^{SOURCE.path} does not hold queries") as caught:
            read_queries(give(SOURCE.path, content))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return error_of


@pytest.mark.parametrize("ascii_only", [True, False])
def test_reads_queries(give, ascii_only):
    content = json.dumps(PARTS, ensure_ascii=ascii_only).encode()
    queries = read_queries(give(SOURCE.path, content))
    assert queries.keys() == {"train", "test", "oos_test"}
    assert queries["train"].texts == ["what is the time in málaga", "hi, “you”", ""]
    assert queries["train"].intents == ["time", "greeting", "time"]
    assert queries["oos_test"] == (["what is love", "why"], ["oos", "oos"])


@pytest.mark.parametrize("part", ["train", "test", "oos_test"])
def test_error_names_missing_split(error_of, part):
    parts = {name: pairs for name, pairs in PARTS.items() if name != part}
    assert f"'{part}'" in error_of(json.dumps(parts).encode())


def test_error_names_unknown_intent(error_of):
    parts = PARTS | {"test": [["bye", "farewell"], ["time now", "time"]]}
    assert "'farewell'" in error_of(json.dumps(parts).encode())


def test_rejects_deeply_nested_json(error_of):
    error_of(b"[" * 100_000)


def test_rejects_truncated_file(error_of):
    whole = json.dumps(PARTS).encode()
    for length in (*range(0, len(whole), 5), len(whole) - 1):
        error_of(whole[:length])


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
def test_rejects_other_than_pairs(error_of, pairs):
    error_of(json.dumps(PARTS | {"test": pairs}).encode())


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"3", b"null", b'"train"', b"train,test", b"\xff\xfe\xfa"]
)
def test_rejects_other_files(error_of, content):
    error_of(content)


def test_error_names_damaged_file(folder):
    path = folder / SOURCE.path
    path.parent.mkdir()
    path.write_bytes(b"{}")
    with pytest.raises(ValueError, match=f"{path} is damaged or another release"):
        read_queries()
