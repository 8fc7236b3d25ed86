"""Models, classes, events, files."""

import csv
import io

import numpy as np

import kenyon
from tests.page.visiting import DRAWINGS, TEXTS, VECTORS, expect
from tests.server.running import until

TICKETS = [
    (f"{verb} my {noun}, {'please' * (i % 2)}", label)
    for i, (verb, label) in enumerate([("pay", "bank"), ("book", "travel"), ("play", "music")])
    for noun in ("first", "second", "third", "last")
]


def table(rows):
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return {"name": "rows.csv", "mimeType": "text/csv", "buffer": stream.getvalue().encode()}


def test_models_are_created_and_deleted(visiting, server):
    visit = visiting("phone-dark")
    page = visit.page
    expect(page.get_by_text("There is no model yet")).to_be_visible()
    for kind, name in (("Texts", "words"), ("Drawings", "shapes"), ("Vectors", "numbers")):
        page.get_by_role("button", name="New model").click()
        page.get_by_role("radio", name=kind).check()
        page.get_by_label("Name").fill(name)
        if kind == "Vectors":
            page.get_by_label("Numbers in a vector").fill("7")
        page.get_by_role("button", name="Create").click()
        expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
        page.get_by_role("link", name="Kenyon").click()
    models = {one["name"]: one for one in server.ask("GET", "/v1/models")["models"]}
    assert {name: one["encoder"] for name, one in models.items()} == {
        "words": "hashing",
        "shapes": "pixels",
        "numbers": None,
    }
    assert models["numbers"]["features"] == 7
    page.get_by_role("button", name="New model").click()
    page.get_by_label("Name").fill("words")
    page.get_by_role("button", name="Create").click()
    expect(
        page.get_by_role("alert").filter(has_text="There is a model words already")
    ).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    visit.model("shapes")
    page.get_by_label("Model", exact=True).select_option("words")
    expect(page.get_by_role("heading", level=1, name="words")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="numbers")).to_be_visible()
    expect(page.get_by_role("link", name="words")).to_have_count(0)


def test_classes_are_renamed_dropped_and_come_back(visiting, server):
    server.new_model("intents", *TICKETS, **TEXTS)
    visit = visiting("phone-light")
    visit.model("intents")
    page, classes = visit.page, visit.page.locator(".classes .class")
    expect(classes).to_have_text(["bank", "music", "travel"])
    visit.type("pay my second bill")
    page.get_by_role("button", name="Rename bank").click()
    page.get_by_role("dialog").get_by_label("Name").fill("money / cards & co")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(classes).to_have_text(["money / cards & co", "music", "travel"])
    expect(visit.best()).to_have_text("money / cards & co")
    page.get_by_role("button", name="Drop money / cards & co").click()
    expect(classes).to_have_text(["music", "travel"])
    expect(visit.answers).to_have_count(2)
    visit.event(3).get_by_role("button", name="Undo").click()
    expect(classes).to_have_text(["money / cards & co", "music", "travel"])
    expect(visit.event(4)).to_contain_text("Undid event 3")
    expect(visit.event(3)).to_contain_class("undone")
    expect(visit.best()).to_have_text("money / cards & co")
    visit.event(4).get_by_role("button", name="Redo event 3").click()
    expect(classes).to_have_text(["music", "travel"])


def test_counts_of_others_arrive(visiting, server):
    server.new_model("intents", *TICKETS, **TEXTS)
    visit = visiting()
    visit.model("intents")
    expect(visit.page.locator(".live")).to_have_text("live")
    server.learn("intents", ("water the plants", "garden"))
    expect(visit.page.locator(".numbers")).to_contain_text("4 classes · 13 samples")
    expect(visit.event(2)).to_contain_text("Learned a sample of garden")


def test_a_csv_file_is_imported(visiting, server):
    path = server.new_model("intents", **TEXTS)
    visit = visiting("desktop-dark")
    visit.model("intents")
    page = visit.page
    page.get_by_role("button", name="Import CSV").click()
    rows = [("nr", "question", "intent")]
    rows += [
        (i, f'say "{text}"\nor {i}, later', label) for i, (text, label) in enumerate(TICKETS * 30)
    ]
    page.get_by_label("File", exact=True).set_input_files(table(rows))
    expect(page.get_by_label("Column of the text")).to_have_value("1")
    expect(page.get_by_label("Column of the class")).to_have_value("2")
    expect(page.get_by_role("dialog")).to_contain_text("360 rows, 3 classes.")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".numbers")).to_contain_text("3 classes · 360 samples")
    assert server.ask("GET", path)["event"] == 4  # of 100 rows each
    visit.type('say "pay my first, "\nor 0, later')
    expect(visit.best()).to_have_text("bank")


def test_an_import_stops_and_an_answer_that_is_lost_is_learned_once(visiting, server):
    path = server.new_model("intents", **TEXTS)
    visit = visiting()
    visit.model("intents")
    page, lost = visit.page, []

    def lose(route):
        if lost:
            route.continue_()
            return
        lost.append(route.fetch().status)
        route.abort()

    def start():
        page.get_by_role("button", name="Import CSV").click()
        rows = [
            ("text", "label"),
            *((f"{text} {i}", label) for i in range(30) for text, label in TICKETS),
        ]
        page.get_by_label("File", exact=True).set_input_files(table(rows))
        page.get_by_role("button", name="Import", exact=True).click()

    page.route("**/learn", lose)
    start()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text(
        "The server does not answer."
    )
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator(".toast span")).to_have_text("Imported 360 rows.")
    assert lost == [200]
    assert server.ask("GET", path)["samples"] == 360
    waiting = []
    page.unroute("**/learn")
    page.route("**/learn", lambda route: waiting.append(route))
    start()
    page.get_by_role("button", name="Stop").click()
    until(lambda: waiting or page.wait_for_timeout(20))
    waiting[0].continue_()
    # A batch that is on its way is learned, and counted.
    expect(page.locator(".toast span")).to_have_text("Stopped. 100 of 360 rows were learned.")
    assert server.ask("GET", path)["samples"] == 460
    assert all("ERR_FAILED" in error for error in visit.errors)
    visit.errors.clear()


def test_wrong_files_are_refused_in_one_sentence(visiting, server):
    server.new_model("intents", **TEXTS)
    visit = visiting()
    visit.model("intents")
    page = visit.page
    page.get_by_role("button", name="Import CSV").click()
    wrong = {
        "text,label\na,b,c\n": "Line 2 has 3 cells, but the first line has 2.",
        "text,label\na,b\nc,\n": "Line 3 has no class.",
        "text,label\n": "This file has no rows below its first line.",
        '"text,label\n': "A quotation mark is opened",
    }
    for content, sentence in wrong.items():
        file = {"name": "a.csv", "mimeType": "text/csv", "buffer": content.encode()}
        page.get_by_label("File", exact=True).set_input_files(file)
        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(sentence)
        expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    good = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"text;label\na,1;b\n"}
    page.get_by_label("File", exact=True).set_input_files(good)
    expect(page.get_by_role("dialog")).to_contain_text("1 row, 1 class.")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_hidden()


def test_vectors_and_images_are_imported(visiting, server):
    server.new_model("numbers", **VECTORS)
    server.new_model("shapes", **DRAWINGS)
    eye = (np.eye(28, dtype=int) * 255).ravel().tolist()
    tables = {
        "numbers": [("a", "b", "c", "label"), (1, 0, 0.5, "x"), (0, 1, -1e-3, "y")],
        "shapes": [("label", *range(784)), ("slash", *eye), ("rest", *(255 - v for v in eye))],
    }
    visit = visiting()
    for name, rows in tables.items():
        visit.open(server.admin)
        visit.model(name)
        visit.page.get_by_role("button", name="Import CSV").click()
        visit.page.get_by_label("File", exact=True).set_input_files(table(rows))
        visit.page.get_by_role("button", name="Import", exact=True).click()
        expect(visit.page.locator(".numbers")).to_contain_text("2 classes · 2 samples")
    body = {"samples": [{"image": np.reshape(eye, (28, 28)).tolist()}], "after": 1}
    assert server.ask("POST", "/v1/models/shapes/predict", body)["answers"][0]["label"] == "slash"


def test_the_export_is_the_model(visiting, server, tmp_path):
    server.new_model("intents", *TICKETS, **TEXTS)
    visit = visiting("phone-dark")
    visit.model("intents")
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Export").click()
    assert download.value.suggested_filename == "intents.kenyon"
    download.value.save_as(tmp_path / "intents.kenyon")
    model = kenyon.load(tmp_path / "intents.kenyon")
    assert model.predict(["pay my first bill"]).tolist() == ["bank"]


def test_tables_are_read_as_python_writes_them(visiting):
    rng = np.random.default_rng(0)
    letters = list('ab,;\t"\n\r é')
    tables = [
        [["".join(rng.choice(letters, rng.integers(0, 6))) for _ in range(width)] for _ in range(4)]
        for width in rng.integers(2, 5, 60)
    ]
    for rows in tables:
        rows[0] = [f"head {i}" for i in range(len(rows[0]))]
    texts = []
    for i, rows in enumerate(tables):
        stream = io.StringIO()
        csv.writer(stream, delimiter=",;\t"[i % 3]).writerows(rows)
        texts.append(stream.getvalue())
    script = "async texts => texts.map((await import('/page/csv.js')).parseTable)"
    assert visiting().page.evaluate(script, texts) == tables
