"""Label Studio's protocol, with payloads of the shapes that its documentation publishes."""

import socket
from base64 import b64encode
from pathlib import Path

import pytest

from kenyon import FlyClassifier
from tests.page_commands import run_blocks
from tests.server.running import problem

INTERFACE = """<View>
  <Text name="text" value="$dialog"/>
  <Choices name="intent" toName="text" choice="single">
    <Choice value="card"/><Choice value="travel"/>
  </Choices>
</View>"""
PROJECT = {
    "id": 2,
    "title": "New Project #2",
    "description": "",
    "label_config": INTERFACE,
    "expert_instruction": "",
    "show_instruction": False,
    "maximum_annotations": 1,
    "control_weights": {"intent": {"overall": 1.0, "type": "Choices"}},
    "model_version": "",
    "data_types": {"dialog": "Text"},
    "is_draft": False,
    "created_at": "2021-08-17T13:49:34.326416Z",
    "task_data_login": None,
    "created_by": 1,
}
TEXTS = ["where is my card", "my card was stolen", "book a flight", "a hotel in rome"]
LABELS = ["card", "card", "travel", "travel"]


def task(number, text):
    return {
        "id": number,
        "data": {"dialog": text},
        "meta": {},
        "created_at": "2021-08-17T13:49:40.326416Z",
        "is_labeled": False,
        "project": 2,
        "file_upload": None,
    }


def annotation(number, *choices, **more):
    region = {
        "value": {"choices": [*choices]},
        "id": "WArqkkifYE",
        "from_name": "intent",
        "to_name": "text",
        "type": "choices",
        "origin": "manual",
    }
    return {
        "id": number,
        "result": [region] if choices else [],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2021-08-17T13:52:48.536303Z",
        "lead_time": 37.13,
        "prediction": {},
        "result_count": 0,
        "task": number + 100,
        "completed_by": 1,
        **more,
    }


def event(action, its_annotation, its_task):
    return {
        "action": action,
        "annotation": its_annotation,
        "task": its_task,
        "project": PROJECT,
    }


@pytest.fixture
def model(server):
    server.new_model("mine", encoder="hashing", settings={"readout": "fly"}, keep_texts=True)
    return server.store["mine"]


def send(server, payload, status=200):
    return server.ask("POST", "/label-studio/mine/webhook", payload, status)


def teach(server):
    for number, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        outcome = send(
            server, event("ANNOTATION_CREATED", annotation(number, label), task(number, text))
        )
        assert outcome == {"learned": 1, "unlearned": 0}


def ask(server, *texts):
    return server.ask(
        "POST",
        "/label-studio/mine/predict",
        {
            "tasks": [task(i, text) for i, text in enumerate(texts)],
            "model_version": "",
            "project": "2.1629208574",
            "label_config": INTERFACE,
            "params": {"login": None, "password": None, "context": None},
        },
    )


def test_a_connection_is_checked_and_set_up(server, model):
    assert server.ask("GET", "/label-studio/mine/health")["status"] == "UP"
    setup = {
        "project": "2.1629208574",
        "schema": INTERFACE,
        "hostname": "http://localhost:8080",
        "access_token": "a1b2",
        "extra_params": None,
    }
    found = server.ask("POST", "/label-studio/mine/setup", setup)
    assert found == {"model_version": "mine@0"}


def test_an_untaught_model_has_no_predictions(server, model):
    found = ask(server, *TEXTS[:2])
    nothing = {"result": [], "score": 0.0, "model_version": "mine@0"}
    assert found == {"results": [nothing, nothing], "model_version": "mine@0"}


def test_what_is_annotated_is_predicted(server, model):
    teach(server)
    assert model.classes() == {"card": 2, "travel": 2}
    assert [sample.text for sample in model.samples()] == TEXTS
    found = ask(server, "a stolen card", "a flight to rome")
    assert found["model_version"] == "mine@4"
    for one, expected in zip(found["results"], ["card", "travel"], strict=True):
        (region,) = one["result"]
        assert region["value"] == {"choices": [expected]}
        assert region["type"] == "choices"
        assert (region["from_name"], region["to_name"]) == ("intent", "text")
        assert 0 < one["score"] == region["score"] <= 1
        assert one["model_version"] == "mine@4"


def test_a_class_that_the_interface_no_longer_has_is_not_predicted(server, model):
    teach(server)
    tasks = [task(0, TEXTS[0])]

    def answers(config):
        body = {"tasks": tasks, "label_config": config}
        (found,) = server.ask("POST", "/label-studio/mine/predict", body)["results"]
        return [region["value"]["choices"] for region in found["result"]]

    assert answers(INTERFACE) == [["card"]]
    # As after PROJECT_UPDATED: the class has gone, has another name, or comes with each task.
    assert answers(INTERFACE.replace('<Choice value="card"/>', "")) == [["travel"]]
    assert answers(INTERFACE.replace('value="card"', 'value="Cards" alias="card"')) == [["card"]]
    assert answers(INTERFACE.replace('"card"', '"a"').replace('"travel"', '"b"')) == []
    without = INTERFACE.replace('<Choice value="card"/><Choice value="travel"/>', "")
    assert answers(without) == [["card"]]


@pytest.mark.parametrize(
    ("shown", "n"),
    [("", 1), ("card travel food", 1), ("card travel", 2), ("food more", 3), ("more", 3)],
)
def test_the_model_is_asked_for_as_many_classes_as_may_be_hidden_and_one_more(
    server, model, monkeypatch, shown, n
):
    teach(server)
    send(server, event("ANNOTATION_CREATED", annotation(9, "food"), task(9, "a table for two")))
    asked, predict_top = [], FlyClassifier.predict_top

    def count(classifier, X, k):
        asked.append(k)
        return predict_top(classifier, X, k)

    monkeypatch.setattr(FlyClassifier, "predict_top", count)
    choices = "".join(f'<Choice value="{each}"/>' for each in shown.split())
    config = INTERFACE.replace('<Choice value="card"/><Choice value="travel"/>', choices)
    body = {"tasks": [task(i, text) for i, text in enumerate(TEXTS)], "label_config": config}
    server.ask("POST", "/label-studio/mine/predict", body)
    assert asked == [n]
    monkeypatch.setattr("kenyon.server.limits.MAX_NAMED", n * len(TEXTS) - 1)
    answer = server.http.post("/label-studio/mine/predict", json=body)
    problem(answer, 413, f"the best {n} classes of 4 samples")
    assert asked == [n]


def test_the_first_choices_for_a_text_count(server, model):
    config = INTERFACE.replace(
        "<Choices",
        '<Image name="photo" value="$url"/>'
        '<Choices name="kind" toName="photo"><Choice value="car"/></Choices>'
        '<Choices name="tags" toName="text" choice="multiple"><Choice value="new"/></Choices>'
        '<Choices name="mood" toName="text" perRegion="true"><Choice value="sad"/></Choices>'
        "<Choices",
        1,
    )
    one = annotation(1, "card")
    for name, to_name, choices in (
        ("kind", "photo", ["car"]),
        ("tags", "text", ["new", "old"]),
        ("mood", "text", ["sad"]),
    ):
        region = {"from_name": name, "to_name": to_name, "type": "choices"}
        one["result"].insert(0, {**region, "value": {"choices": choices}})
    payload = event("ANNOTATION_CREATED", one, task(1, TEXTS[0]))
    payload["project"] = PROJECT | {"label_config": config}
    assert send(server, payload) == {"learned": 1, "unlearned": 0}
    assert model.classes() == {"card": 1}
    body = {"tasks": [task(1, TEXTS[0])], "label_config": config}
    (found,) = server.ask("POST", "/label-studio/mine/predict", body)["results"]
    assert [(one["from_name"], one["to_name"]) for one in found["result"]] == [("intent", "text")]


def test_an_annotation_that_is_updated_is_learned_anew(server, model):
    teach(server)
    send(server, event("ANNOTATION_UPDATED", annotation(1, "travel"), task(1, TEXTS[1])))
    assert model.classes() == {"card": 1, "travel": 3}
    # Twice changes nothing.
    send(server, event("ANNOTATION_UPDATED", annotation(1, "travel"), task(1, TEXTS[1])))
    assert model.classes() == {"card": 1, "travel": 3}


@pytest.mark.parametrize(
    "deleted",
    [
        {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}], "project": PROJECT},
        {"action": "ANNOTATION_DELETED", "id": 1, "project": PROJECT},
        event("ANNOTATION_UPDATED", annotation(1), task(1, TEXTS[1])),
        event("ANNOTATION_UPDATED", annotation(1, "card", was_cancelled=True), task(1, TEXTS[1])),
        event("ANNOTATION_UPDATED", annotation(1, "card", "travel"), task(1, TEXTS[1])),
        # The documentation shows events without the task, which is not needed here.
        {
            "action": "ANNOTATION_UPDATED",
            "annotation": annotation(1, was_cancelled=True),
            "project": PROJECT,
        },
    ],
)
def test_an_annotation_that_is_gone_is_unlearned(server, model, deleted):
    teach(server)
    assert send(server, deleted) == {"learned": 0, "unlearned": 1}
    assert model.classes() == {"card": 1, "travel": 2}
    assert TEXTS[1] not in [sample.text for sample in model.samples()]
    assert send(server, deleted) == {"learned": 0, "unlearned": 0}


def test_several_annotations_are_one_event(server, model):
    annotations = [annotation(i, label) for i, label in enumerate(LABELS)]
    tasks = [task(i, text) for i, text in enumerate(TEXTS)]
    send(server, event("ANNOTATIONS_CREATED", annotations, tasks))
    assert model.event == 1
    assert model.classes() == {"card": 2, "travel": 2}
    problem(
        server.http.post(
            "/label-studio/mine/webhook",
            json=event("ANNOTATIONS_CREATED", annotations, tasks[:3]),
        ),
        422,
        "its task",
    )


@pytest.mark.parametrize("action", ["START_TRAINING", "PROJECT_UPDATED", "TASKS_CREATED"])
def test_other_events_change_nothing(server, model, action):
    assert send(server, {"action": action, "project": PROJECT}) == {"learned": 0, "unlearned": 0}
    assert model.event == 0


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("", "no XML"),
        ("<View>", "no XML"),
        ("<View><Text name='text' value='$t'/></View>", "Choices for a Text"),
        (INTERFACE.replace("<Text", "<Image"), "Choices for a Text"),
        (INTERFACE.replace("<Text", "<Text valueType='url'"), "Choices for a Text"),
        (INTERFACE.replace("single", "multiple"), "one choice"),
        (INTERFACE.replace("choice=", "perRegion='true' choice="), "one choice"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]>" + INTERFACE, "document type"),
    ],
)
def test_an_interface_that_the_model_cannot_serve_is_refused(server, model, config, words):
    answer = server.http.post("/label-studio/mine/setup", json={"schema": config})
    problem(answer, 422, words)


def test_a_task_without_its_text_is_refused(server, model):
    for its_task in ({"data": {}}, {"data": {"dialog": 3}}):
        payload = event("ANNOTATION_CREATED", annotation(1, "card"), its_task)
        problem(server.http.post("/label-studio/mine/webhook", json=payload), 422, "'dialog'")
    payload = event("ANNOTATION_CREATED", annotation(1, "card"), None)
    problem(server.http.post("/label-studio/mine/webhook", json=payload), 422, "the task")
    assert model.event == 0


@pytest.mark.parametrize("action", ["ANNOTATION_CREATED", "ANNOTATIONS_DELETED"])
def test_an_event_without_its_payload_is_refused(server, model, action):
    answer = server.http.post("/label-studio/mine/webhook", json={"action": action})
    problem(answer, 422, "let the webhook send its payload")
    payload = event("ANNOTATION_CREATED", annotation(1, "card"), task(1, TEXTS[0]))
    payload["project"] = 2
    answer = server.http.post("/label-studio/mine/webhook", json=payload)
    problem(answer, 422, "label_config")


def test_a_model_of_vectors_is_refused(server):
    server.new_model("mine")
    answer = server.http.post("/label-studio/mine/setup", json={"schema": INTERFACE})
    problem(answer, 422, "takes no texts")


def test_the_key_may_be_a_password_for_these_routes_alone(server, model):
    key = server.key("predict", models=["mine"])
    bare = server.client(None)
    header = {"Authorization": f"Basic {b64encode(f'kenyon:{key}'.encode()).decode()}"}
    assert bare.get("/label-studio/mine/health", headers=header).is_success
    assert bare.get("/label-studio/mine/health", auth=("anybody", key)).is_success
    payload = {"action": "ANNOTATIONS_DELETED", "annotations": []}
    problem(
        bare.post("/label-studio/mine/webhook", headers=header, json=payload), 403, "scope teach"
    )
    problem(bare.get("/v1/models", headers=header), 401)
    for wrong in ("Basic", "Basic !", "Basic " + b64encode(b"no colon").decode()):
        answer = bare.get("/label-studio/mine/health", headers={"Authorization": wrong})
        problem(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"


def test_the_commands_of_the_page_run(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    page = Path(__file__).resolve().parents[2] / "docs" / "label_studio.md"
    done = run_blocks(page.read_text(encoding="utf-8"), tmp_path, [("8000", port)])
    assert '{"learned":1,"unlearned":0}' in done.stdout
    assert '"value":{"choices":["card"]}' in done.stdout
    assert '{"learned":0,"unlearned":1}' in done.stdout
