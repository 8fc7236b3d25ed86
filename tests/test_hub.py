"""Models as folders of the Hugging Face Hub, and from a server that answers as the Hub does."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from huggingface_hub import ModelCard
from sklearn.exceptions import NotFittedError

from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.hub import BEGIN, END, from_pretrained, save_pretrained
from kenyon.pipeline import make_pipeline
from tests.encoders.models import write_static_model
from tests.reading import model_state

X = np.random.default_rng(0).normal(size=(9, 4))
Y = ["card", "travel", "other"] * 3
TEXTS = ["where is my card", "a flight to Rome", "good morning"]


def fly(labels=Y, **parameters):
    return FlyClassifier(**{"n_cells": 60, **parameters}).fit(X[: len(labels)], labels)


def pipeline(**options):
    return make_pipeline(TextEncoder("hashing"), FlyClassifier(n_cells=60), **options).fit(
        TEXTS, Y[:3]
    )


def card_of(folder):
    return (folder / "README.md").read_text(encoding="utf-8")


def test_a_folder_holds_a_classifier(tmp_path):
    folder = save_pretrained(fly(), tmp_path / "new" / "fly")
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "model.kenyon"]
    loaded = from_pretrained(str(folder))
    assert model_state(loaded) == model_state(fly())
    save_pretrained(loaded.learn_one(X[0], "new"), folder)
    assert from_pretrained(folder).classes_.tolist() == ["card", "new", "other", "travel"]


def test_a_folder_holds_a_pipeline(tmp_path):
    folder = save_pretrained(pipeline(), tmp_path)
    loaded = from_pretrained(folder, encoder="hashing")
    assert loaded.predict(TEXTS).tolist() == Y[:3]
    assert loaded.learn_one("buy a house", "house").predict_one("buy a house") == "house"


def test_the_card_states_facts_of_the_file(tmp_path):
    save_pretrained(fly(), tmp_path / "a_model")
    card = ModelCard.load(tmp_path / "a_model" / "README.md")
    assert card.data.to_dict() == {
        "library_name": "kenyon",
        "tags": ["continual-learning", "kenyon"],
    }
    content = (tmp_path / "a_model" / "model.kenyon").read_bytes()
    for fact in (
        "# a\\_model\n",
        "| learned | 9 samples of 3 classes |",
        "| input | 4 features |",
        "| readout | `ridge` |",
        "| texts | none kept |",
        f"{len(content):,} bytes, SHA-256 `{hashlib.sha256(content).hexdigest()}`",
        "| card | 3 |\n| other | 3 |\n| travel | 3 |",
    ):
        assert fact in card.content


def test_the_card_of_a_pipeline_names_its_encoder_and_kept_texts(tmp_path):
    save_pretrained(pipeline(keep_texts=True), tmp_path)
    card = ModelCard.load(tmp_path / "README.md")
    assert card.data.pipeline_tag == "text-classification"
    assert "| texts | 3 learned texts can be read in the file |" in card.content
    digest = TextEncoder("hashing").fit().digest_
    assert f"encoder hashing with 2,048 features, SHA-256 `{digest}`" in card.content


def test_the_card_does_not_name_folders_of_this_machine(tmp_path):
    encoder = TextEncoder(write_static_model(tmp_path / "private" / "my-encoder"))
    model = make_pipeline(encoder, FlyClassifier(n_cells=60)).fit(TEXTS, Y[:3])
    card = card_of(save_pretrained(model, tmp_path / "model"))
    assert "encoder my\\-encoder with 24 features" in card
    assert "private" not in card


def test_the_card_of_others_stays_around_the_facts(tmp_path):
    save_pretrained(fly(), tmp_path)
    facts = card_of(tmp_path)
    edited = facts.replace("- kenyon\n---", "- kenyon\nlicense: mit\n---").encode()
    edited += b"\r\n## Ours\r\n\xff"
    (tmp_path / "README.md").write_bytes(edited)
    save_pretrained(fly().learn_one(X[0], "new"), tmp_path)
    card = (tmp_path / "README.md").read_bytes()
    assert card.startswith(edited[: edited.index(BEGIN.encode())])
    assert card.endswith(edited[edited.index(END.encode()) :])
    assert b"10 samples of 4 classes" in card
    assert b"9 samples" not in card


def test_a_card_without_the_facts_stays_as_it_is(tmp_path):
    for text in "# My model\n", f"{END}\n{BEGIN}\n":
        (tmp_path / "README.md").write_text(text)
        save_pretrained(fly(), tmp_path)
        assert card_of(tmp_path) == text


def test_labels_are_shown_to_the_letter(tmp_path):
    labels = ["a|b", f"x {END}", "![i](u)\n# y", "\ud800\u202e", "é" * 99]
    card = card_of(save_pretrained(fly(labels), tmp_path))
    rows = [line for line in card.splitlines() if line.endswith("| 1 |")]
    assert rows == [
        r"| \!\[i\]\(u\) \# y | 1 |",
        r"| a\|b | 1 |",
        r"| x \<\!\-\- kenyon\: end \-\-\> | 1 |",
        f"| {'é' * 59}… | 1 |",
        "| \ufffd\ufffd | 1 |",
    ]
    assert card.count(END) == 1
    assert from_pretrained(tmp_path).classes_.tolist() == sorted(labels)


def test_a_card_lists_a_hundred_classes(tmp_path):
    model = fly([0] * 9).partial_fit(X[:1].repeat(249, axis=0), range(1, 250))
    card = card_of(save_pretrained(model, tmp_path))
    assert "| 99 | 1 |\n| and 150 more | |" in card
    assert "| 100 |" not in card


def test_a_failed_save_leaves_the_folder_as_it_was(tmp_path):
    save_pretrained(fly(), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    scaled = make_pipeline(FlyClassifier(n_cells=60)).fit(X, Y)
    with pytest.raises(ValueError, match="to save a pipeline, its steps must be an encoder"):
        save_pretrained(scaled, tmp_path)
    with pytest.raises(TypeError, match=r"^model must be a .* but is of type int$"):
        save_pretrained(3, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_failed_save_makes_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotFittedError):
        save_pretrained(FlyClassifier(), tmp_path / "new" / "model")
    with pytest.raises(NotADirectoryError, match=r"^folder must be a folder, but '.*file' is a"):
        save_pretrained(fly(), tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_cannot_be_loaded_is_refused(tmp_path):
    save_pretrained(fly(), tmp_path)
    with pytest.raises(ValueError, match="revision must be None for a folder, but is 'main'"):
        from_pretrained(tmp_path, revision="main")
    with pytest.raises(OSError, match=r"name must be a folder, or a repository .* is neither"):
        from_pretrained(tmp_path / "model.kenyon")
    (tmp_path / "model.kenyon").write_bytes(b"pickle")
    with pytest.raises(ValueError, match=r"model\.kenyon is not a Kenyon model"):
        from_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        from_pretrained(tmp_path.parent)
    with pytest.raises(FileNotFoundError, match=r"of the form USER/NAME, but 'intnets' is neither"):
        from_pretrained("intnets")


class Hub(BaseHTTPRequestHandler):
    """Answers what the Hub answers to a request for a file of a repository."""

    files: dict

    def do_HEAD(self):
        self.answer(has_body=False)

    def do_GET(self):
        self.answer(has_body=True)

    def answer(self, has_body):
        content = self.files.get(self.path)
        self.send_response(200 if content else 404)
        if content:
            digest = hashlib.sha256(content).hexdigest()
            self.send_header("ETag", f'"{digest}"')
            self.send_header("X-Repo-Commit", digest[:40])
            self.send_header("Content-Type", "application/octet-stream")
        else:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if has_body and content:
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(tmp_path):
    """The environment of a process whose Hub is on this machine, with two revisions of a model."""
    files = {}
    for revision, model in {"main": fly(), "v1": fly(Y[:2])}.items():
        folder = save_pretrained(model, tmp_path / revision)
        files[f"/user/intents/resolve/{revision}/model.kenyon"] = (
            folder / "model.kenyon"
        ).read_bytes()
    files["/user/hostile/resolve/main/model.kenyon"] = b"pickle"
    handler = type("LocalHub", (Hub,), {"files": files})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            names = [name for name in os.environ if "PROXY" not in name.upper()]
            yield {
                **{name: os.environ[name] for name in names},
                "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
                "HF_HOME": str(tmp_path / "cache"),
                "HF_HUB_DISABLE_TELEMETRY": "1",
                "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            }
        finally:
            server.shutdown()
            thread.join()


LOAD = """if True:
    import json, sys
    from kenyon.hub import from_pretrained
    for name, revision in json.loads(sys.argv[1]):
        try:
            print(json.dumps(from_pretrained(name, revision=revision).classes_.tolist()))
        except (OSError, ValueError) as error:
            print(json.dumps(str(error)))
    """


def load_elsewhere(names, environment):
    done = subprocess.run(
        [sys.executable, "-c", LOAD, json.dumps(names)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_models_are_downloaded_once_and_read_from_the_cache(hub):
    ours = [("user/intents", None), ("user/intents", "v1")]
    answers = [["card", "other", "travel"], ["card", "travel"]]
    *loaded, missing, hostile = load_elsewhere(
        [*ours, ("user/none", None), ("user/hostile", None)], hub
    )
    assert loaded == answers
    assert missing.startswith("name must be a folder, or a repository of the Hugging Face Hub")
    assert "'user/none' is neither" in missing
    assert "is not a Kenyon model" in hostile
    offline = {**hub, "HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}
    assert load_elsewhere(ours, offline) == answers


def test_a_download_needs_a_package():
    program = """if True:
        import sys
        sys.modules["huggingface_hub"] = None
        from kenyon.hub import from_pretrained
        try:
            from_pretrained("user/intents")
        except ImportError as error:
            print(error)
        """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "there is no folder 'user/intents', and to download a model from the Hugging Face Hub "
        "needs huggingface-hub: pip install 'kenyon[hub]'\n"
    )
