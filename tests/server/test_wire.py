"""The wire as the documentation says."""

from urllib.parse import quote

import numpy as np
import pytest

import kenyon
from tests.server.running import JSON, npy, problem, serving

X = [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.9, 0.2]]
Y = ["refund", "refund", "card", "card"]


@pytest.fixture
def path(server):
    return server.new_model("intents", *zip(X, Y, ["a1", "a2", "b1", "b2"], strict=True))


def test_the_story_of_a_model_of_texts(server):
    server.http.delete("/v1/models/intents")
    made = server.ask("PUT", "/v1/models/intents", {"encoder": "hashing"}, status=201)
    assert made["encoder"] == "hashing"
    assert made["settings"]["readout"] == "ridge"
    learned = server.ask(
        "POST",
        "/v1/models/intents/learn",
        {
            "samples": [
                {"id": "a1", "vector": [0.5] * made["features"], "label": "refund"},
                {"text": "where is my card", "label": "card"},
            ]
        },
    )
    assert (learned["event"], learned["learned"]) == (1, 2)
    assert learned["ids"][0] == "a1"
    assert isinstance(learned["ids"][1], str)
    asked = {"samples": [{"text": "my card"}], "top": 3, "unknown": 0.05, "after": 1}
    answered = server.ask("POST", "/v1/models/intents/predict", asked)
    assert answered["event"] == 1
    (answer,) = answered["answers"]
    assert set(answer) == {"label", "probability", "novelty", "unknown", "top"}
    assert answer["label"] == "card"
    assert answer["top"][0] == {"label": "card", "probability": answer["probability"]}
    assert [one["label"] for one in answer["top"]] == ["card", "refund"]
    assert answer["unknown"] is False
    assert server.ask("POST", "/v1/models/intents/unlearn", {"ids": ["a1"]})["event"] == 2
    assert server.ask("POST", "/v1/models/intents/undo", {"event": 1})["event"] == 3
    events = server.ask("GET", "/v1/models/intents/events?after=0")["events"]
    assert [(one["event"], one["what"], one["who"]) for one in events] == [
        (1, "learn", "tests"),
        (2, "unlearn", "tests"),
        (3, "undo", "tests"),
    ]
    assert events[0]["ids"] == [None, learned["ids"][1]]
    assert events[0]["undone"]


def test_texts_and_vectors_in_one_request_are_kept_as_texts(server):
    path = server.new_model("kept", encoder="hashing", keep_texts=True)
    width = server.ask("GET", path)["features"]
    samples = [("a card", "card", "t"), ([1.0] * width, "none", "v")]
    server.learn("kept", *samples)
    assert [one.text for one in server.store["kept"].samples()] == ["a card", None]


def test_predictions_are_those_of_the_library(server, path):
    rng = np.random.default_rng(0)
    learned, asked = rng.normal(size=(60, 3)), rng.normal(size=(200, 3))
    labels = ["a", "b", "c"] * 20
    server.new_model("same", *zip(learned.tolist(), labels, strict=True))
    own = kenyon.FlyClassifier().fit(learned, labels)
    expected, chances = own.predict_top(asked, 2)
    body = {"samples": [{"vector": x} for x in asked.tolist()], "top": 2, "after": 1}
    for answers in (
        server.ask("POST", "/v1/models/same/predict", body)["answers"],
        server.ask(
            "POST",
            "/v1/models/same/predict?top=2&after=1",
            content=npy(asked),
            headers={"Content-Type": "application/x-npy"},
        )["answers"],
    ):
        tops = [[one["label"] for one in answer["top"]] for answer in answers]
        assert tops == expected.tolist()
        found = [[one["probability"] for one in answer["top"]] for answer in answers]
        np.testing.assert_allclose(found, chances, atol=1e-6)
        assert [answer["label"] for answer in answers] == expected[:, 0].tolist()


def test_novelty_and_unknown_are_only_answered_if_asked_for(server, path):
    def fields(**more):
        body = {"samples": [{"vector": X[0]}], "after": 1, **more}
        return set(server.ask("POST", f"{path}/predict", body)["answers"][0])

    assert fields() == {"label", "probability"}
    assert fields(top=1) == {"label", "probability", "top"}
    assert fields(novelty=True) == {"label", "probability", "novelty"}
    assert fields(unknown=0.1) == {"label", "probability", "novelty", "unknown"}


def test_explanations_name_cells_and_words(server):
    path = server.new_model(
        "why", ("pay my bill", "bank"), ("play a song", "music"), encoder="hashing"
    )
    body = {"samples": [{"text": "sing a song"}], "explain": True, "after": 1}
    (answer,) = server.ask("POST", f"{path}/predict", body)["answers"]
    assert max(answer["words"], key=lambda word: word["effect"])["word"] == "song"
    assert 0 < len(answer["cells"]) <= 32
    sizes = [abs(cell["contribution"]) for cell in answer["cells"]]
    assert sizes == sorted(sizes, reverse=True)
    body["samples"] *= 17
    problem(server.http.post(f"{path}/predict", json=body), 422, "explain is for 16 samples")


def test_images(server):
    path = server.new_model("drawings", encoder="pixels")
    cross = np.eye(28, dtype=int) * 255
    samples = [
        {"image": cross.tolist(), "label": "cross"},
        {"image": (255 - cross).tolist(), "label": "rest"},
    ]
    server.ask("POST", f"{path}/learn", {"samples": samples})
    body = {"samples": [{"image": cross.tolist()}], "after": 1}
    assert server.ask("POST", f"{path}/predict", body)["answers"][0]["label"] == "cross"
    wrong = {422: ([], [[]], [[1], [1, 2]]), 400: ([[256]], [["a"]], [1])}
    for status, images in wrong.items():
        for image in images:
            answer = server.http.post(f"{path}/predict", json={"samples": [{"image": image}]})
            problem(answer, status)


def test_npy_to_learn_has_fields(server):
    path = server.new_model("arrays")
    types = [("vector", "<f4", 3), ("label", "U10"), ("id", "U10")]
    rows = [(x, y, id_) for x, y, id_ in zip(X, Y, ["a", "b", "", "d"], strict=True)]
    headers = {"Content-Type": "application/x-npy"}
    learned = server.ask(
        "POST", f"{path}/learn", content=npy(np.array(rows, types)), headers=headers
    )
    assert learned["ids"] == ["a", "b", "#1.2", "d"]
    again = server.http.post(f"{path}/learn", content=npy(np.array(rows, types)), headers=headers)
    problem(again, 409)
    server.ask(
        "POST", f"{path}/learn?replace=true", content=npy(np.array(rows, types)), headers=headers
    )
    assert {
        one["label"]: one["count"] for one in server.ask("GET", f"{path}/classes")["classes"]
    } == {"card": 3, "refund": 2}
    numbers = np.array([(X[0], 7)], [("vector", "<f8", 3), ("label", "<i4")])
    server.new_model("arrays")
    server.ask("POST", f"{path}/learn", content=npy(numbers), headers=headers)
    assert server.ask("GET", f"{path}/classes")["classes"] == [{"label": 7, "count": 1}]


def test_classes(server, path):
    assert server.ask("GET", f"{path}/classes") == {
        "event": 1,
        "classes": [{"label": "card", "count": 2}, {"label": "refund", "count": 2}],
    }
    assert server.ask("GET", f"{path}/classes/card") == {"label": "card", "count": 2}
    assert server.ask("PATCH", f"{path}/classes/card", {"label": "a/b c?"})["event"] == 2
    assert server.ask("GET", f"{path}/classes/a%2Fb%20c%3F") == {"label": "a/b c?", "count": 2}
    assert server.ask("GET", f"{path}/classes/a/b%20c%3F") == {"label": "a/b c?", "count": 2}
    assert server.ask("DELETE", f"{path}/classes/a%2Fb%20c%3F")["samples"] == 2
    problem(server.http.get(f"{path}/classes/card"), 404, "no class 'card'")
    problem(server.http.delete(f"{path}/classes/card"), 404)
    problem(server.http.patch(f"{path}/classes/card", json={"label": "x"}), 404)
    server.ask("POST", f"{path}/undo", {"event": 3})
    problem(server.http.patch(f"{path}/classes/refund", json={"label": "a/b c?"}), 409)


@pytest.mark.parametrize(
    ("labels", "spelled"), [([1, -2], ["1", "-2"]), ([True, False], ["true", "false"])]
)
def test_labels_that_are_no_texts(server, labels, spelled):
    path = server.new_model("labels", *zip(X[::2], labels, strict=True))
    for label, text in zip(labels, spelled, strict=True):
        found = server.ask("GET", f"{path}/classes/{text}")
        assert found == {"label": label, "count": 1}
        assert type(found["label"]) is type(label)
    answer = server.ask("POST", f"{path}/predict", {"samples": [{"vector": X[0]}], "after": 1})
    assert answer["answers"][0]["label"] is labels[0] or answer["answers"][0]["label"] == labels[0]


@pytest.mark.parametrize("label", ["", "/", "two\r\nlines\n", "%2F", "ü", "\x00"], ids=repr)
def test_a_path_names_any_label(server, label):
    path = server.new_model("odd", (X[0], label), (X[2], "other"))
    route = f"{path}/classes/{quote(label, safe='')}"
    assert server.ask("GET", route) == {"label": label, "count": 1}
    assert server.ask("DELETE", route)["samples"] == 1


def test_settings(server, path):
    assert server.ask("PATCH", path, {"settings": {"penalty": 0.5}})["event"] == 2
    assert server.ask("GET", path)["settings"]["penalty"] == 0.5
    problem(server.http.patch(path, json={"settings": {"n_cells": 5}}), 422, "n_cells")
    problem(server.http.patch(path, json={"settings": {}}), 422)


def test_creating_a_model_twice(server):
    body = {"features": 3, "settings": {"n_cells": 100}}
    server.new_model("twice", **body)
    assert server.ask("PUT", "/v1/models/twice", body, status=200)["name"] == "twice"
    for other in (
        {"features": 4},
        {"features": 3, "settings": {"n_cells": 99}},
        {"encoder": "text"},
    ):
        problem(server.http.put("/v1/models/twice", json=other), 409, "twice")
    for wrong in ({}, {"features": 3, "encoder": "hashing"}):
        problem(server.http.put("/v1/models/twice", json=wrong), 422, "exactly one")
    problem(server.http.put("/v1/models/.hidden", json=body), 422, "name")
    problem(server.http.put("/v1/models/new", json={"features": 3, "settings": {"cells": 1}}), 422)
    assert "twice" in [one["name"] for one in server.ask("GET", "/v1/models")["models"]]
    server.ask("DELETE", "/v1/models/twice", status=204)
    problem(server.http.get("/v1/models/twice"), 404, "twice")


def test_export_import_and_merge(server, path, tmp_path):
    answer = server.http.get(f"{path}/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="intents.kenyon"'
    (tmp_path / "model.kenyon").write_bytes(answer.content)
    loaded = kenyon.load(tmp_path / "model.kenyon")
    assert loaded.predict(X).tolist() == Y
    server.http.delete("/v1/models/copy")
    headers = {"Content-Type": "application/octet-stream"}
    options = {"content": answer.content, "headers": headers}
    made = server.ask("POST", "/v1/models/copy/import", status=201, **options)
    assert (made["samples"], made["classes"]) == (4, 2)
    problem(server.http.post("/v1/models/copy/import", **options), 409, "copy")
    assert server.ask("POST", "/v1/models/copy/merge", **options)["samples"] == 4
    assert server.ask("GET", "/v1/models/copy/classes/card")["count"] == 4
    for part in ("merge", "import"):
        answer = server.http.post(f"/v1/models/copy/{part}", content=b"no model", headers=headers)
        assert answer.status_code in (409, 422)
    server.new_model("wider", features=4)
    problem(server.http.post("/v1/models/wider/merge", **options), 422, "circuit")
    problem(server.http.get("/v1/models/wider/export"), 409, "no classes")


def test_after_waits_for_an_event(server, path):
    for event in range(2, 12):
        learned = server.learn("intents", ([0.0, 0.0, float(event)], f"new {event}"))
        assert learned["event"] == event
        body = {"samples": [{"vector": [0.0, 0.0, 1.0]}], "after": event, "top": 1000}
        answered = server.ask("POST", f"{path}/predict", body)
        assert answered["event"] >= event
        assert f"new {event}" in [one["label"] for one in answered["answers"][0]["top"]]


def test_the_first_answer_waits_for_the_first_classes(server):
    for _ in range(5):
        path = server.new_model("new", (X[0], "a"))
        answered = server.ask("POST", f"{path}/predict", {"samples": [{"vector": X[0]}]})
        assert answered["answers"][0]["label"] == "a"


def test_after_waits_for_a_limited_time(tmp_path):
    with serving(tmp_path) as server:
        path = server.new_model("intents", (X[0], "a"))
        server.limit(wait_seconds=0.2)
        body = {"samples": [{"vector": X[0]}], "after": 99}
        answer = server.http.post(f"{path}/predict", json=body)
        problem(answer, 503, "event 99 was not there within 0.2 seconds")
        assert int(answer.headers["retry-after"]) >= 1


def test_a_model_without_classes_has_no_answers(server):
    path = server.new_model("empty")
    body = {"samples": [{"vector": X[0]}]}
    problem(server.http.post(f"{path}/predict", json=body), 409, "no classes yet")
    assert server.ask("GET", f"{path}/classes") == {"event": 0, "classes": []}
    assert server.ask("GET", f"{path}/events") == {"events": []}


def test_events_in_pieces(server, path):
    for i in range(60):
        server.learn("intents", (X[0], f"label {i}"))
    found, after = [], 0
    while events := server.ask("GET", f"{path}/events?after={after}&limit=7")["events"]:
        found += [one["event"] for one in events]
        after = found[-1]
    assert found == list(range(1, 62))
    for query in ("limit=0", "limit=1001", "after=-1", "after=x", "before=3", "after=%ff"):
        problem(server.http.get(f"{path}/events?{query}"), 400, "query")


def test_an_undo_needs_an_event(server, path):
    problem(server.http.post(f"{path}/undo", json={"event": 9}), 404, "event")
    server.ask("POST", f"{path}/unlearn", {"ids": ["a1"]})
    problem(server.http.post(f"{path}/undo", json={"event": 2}), 409)
    problem(server.http.post(f"{path}/unlearn", json={"ids": ["a1"]}), 404)


def test_health_and_metrics(server, path):
    server.ask("POST", f"{path}/predict", {"samples": [{"vector": X[0]}], "after": 1})
    bare = server.client(None)
    assert bare.get("/healthz").json() == {"status": "ok"}
    assert bare.get("/readyz").json() == {"status": "ready"}
    text = server.http.get("/metrics").text
    for name in (
        *("kenyon_requests_total", "kenyon_request_seconds_bucket", "kenyon_queue"),
        *("kenyon_commits_total", "kenyon_model_lag_events", "kenyon_predicted_samples_total"),
        *("kenyon_learned_samples_total", "kenyon_predict_batch_rows_count"),
    ):
        assert f"\n{name}" in text
    assert 'kenyon_model_event{model="intents"} 1.0' in text
    assert "refund" not in text


def test_keys_by_the_api(server):
    body = {"name": "phone", "scopes": ["teach", "predict"], "models": ["intents"]}
    made = server.ask("POST", "/v1/keys", body, status=201)
    assert made["key"].startswith("kenyon_")
    listed = {one["id"]: one for one in server.ask("GET", "/v1/keys")["keys"]}[made["id"]]
    assert "key" not in listed
    assert (listed["name"], listed["models"], listed["revoked"]) == ("phone", ["intents"], None)
    client = server.client(made["key"])
    assert client.get("/v1/models").status_code == 200
    server.ask("DELETE", f"/v1/keys/{made['id']}", status=204)
    problem(client.get("/v1/models"), 401, "revoked")
    problem(server.http.delete(f"/v1/keys/{made['id']}"), 404)
    problem(server.http.delete("/v1/keys/x"), 404)
    for wrong in ({"scopes": ["root"]}, {"scopes": []}, {"name": ""}):
        problem(server.http.post("/v1/keys", json={**body, **wrong}), 400)
    problem(server.http.post("/v1/keys", json={**body, "models": []}), 422)


def test_what_is_not_there(server):
    problem(server.http.get("/v1/nothing"), 404, "/v1/nothing")
    answer = server.http.post("/v1/models")
    problem(answer, 405, "POST")
    assert answer.headers["allow"] == "GET, HEAD"
    problem(server.http.options("/v1/models"), 405)
    assert (
        "access-control-allow-origin"
        not in server.http.get("/v1/models", headers={"Origin": "https://example.org"}).headers
    )
    head = server.http.head("/v1/models")
    assert (head.status_code, head.content) == (200, b"")
    get = server.http.get("/v1/models")
    assert head.headers["content-length"] == str(len(get.content))
    assert get.headers["cache-control"] == "no-store"
    assert get.headers["content-type"] == JSON
