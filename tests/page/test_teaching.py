"""The story of a model: sentences, and drawings."""

import numpy as np
import pytest

from tests.page.conftest import LOOKS
from tests.page.visiting import DRAWINGS, SYMBOLS, TEXTS, VECTORS, expect, scribble


@pytest.mark.parametrize("look", LOOKS)
def test_a_model_of_sentences(visiting, server, look):
    server.new_model("intents", **TEXTS)
    visit = visiting(look)
    visit.model("intents")
    page = visit.page
    expect(visit.headline).to_contain_text("has learned nothing yet")
    visit.teach("please pay my electricity bill", "bank")
    expect(visit.best()).to_have_text("bank")
    expect(visit.answers.first).to_contain_class("taught")
    visit.teach("play a quiet love song", "music")
    visit.type("another song please")
    expect(visit.best()).to_have_text("music")
    # A new class, and it is known from then on.
    visit.name("radio")
    expect(visit.best()).to_have_text("radio")
    # The same sentence again by one key: it is corrected, and not counted twice.
    visit.type("a bill to pay")
    expect(visit.best()).to_have_text("bank")
    page.keyboard.press("2")
    expect(visit.headline).to_contain_text("Learned as")
    assert server.ask("GET", "/v1/models/intents")["samples"] == 4
    taught = page.locator(".answer.taught .class").inner_text()
    assert taught != "bank"
    page.get_by_role("button", name="bank").first.click()
    expect(visit.headline).to_contain_text("Learned as “bank”")
    assert server.ask("GET", "/v1/models/intents")["samples"] == 4
    expect(page.locator(".numbers")).to_contain_text("3 classes · 4 samples")
    # The replaced correction does not count; the answer to the last one was right.
    expect(page.locator(".accuracy")).to_contain_text("of 4 answers")
    visit.headline.get_by_role("button", name="Undo").click()
    expect(visit.headline).to_contain_text("Undone")
    expect(visit.event(5)).to_contain_class("undone")
    expect(page.locator(".accuracy")).to_contain_text("of 4 answers")
    visit.event(4).get_by_role("button", name="Undo").click()
    expect(page.locator(".accuracy")).to_contain_text("of 3 answers")
    expect(page.locator(".numbers")).to_contain_text("3 samples")
    expect(page.locator(".picture")).to_be_visible()
    assert not visit.is_wide()


def test_what_is_like_nothing_before(visiting, server):
    sentences = [
        (f"{verb} my {noun} {when}", label)
        for verb, label in (("pay", "bank"), ("book", "travel"), ("play", "music"))
        for noun in ("bill", "card", "ticket", "song")
        for when in ("now", "please")
    ]
    server.new_model("intents", *sentences, **TEXTS)
    visit = visiting()
    visit.model("intents")
    visit.type("zyxwvu qrstuv lmnopq")
    expect(visit.headline).to_contain_text("I have not seen anything like this")
    visit.name("gibberish")
    expect(visit.page.locator(".accuracy")).to_contain_text("1 of 1 answers were right")
    visit.type("zyxwvu qrstuv lmnopq")
    expect(visit.best()).to_have_text("gibberish")
    expect(visit.headline).not_to_contain_text("not seen")


@pytest.mark.parametrize("look", ["desktop-dark", "phone-light"])
def test_a_model_of_drawings(visiting, server, look):
    server.new_model("symbols", **DRAWINGS)
    visit, rng = visiting(look), np.random.default_rng(0)
    visit.model("symbols")
    # Fifty pictures of the circuit would take most of the time.
    visit.page.get_by_text("Why this answer").click()

    def show(symbol):
        visit.page.get_by_label("Drawing area").press("Delete")
        visit.draw(scribble(symbol, rng))
        visit.settle()
        return visit.best().inner_text() if visit.answers.count() else None

    first, others = list(SYMBOLS)[:2], list(SYMBOLS)[2:]
    for symbol in first * 3:
        visit.draw(scribble(symbol, rng))
        visit.name(symbol)
    assert [show(symbol) for symbol in first * 2] == first * 2
    visit.page.get_by_role("button", name="Clear").click()
    for symbol in others * 2:
        visit.draw(scribble(symbol, rng))
        visit.name(symbol)
    # Ten classes later it still knows the first two, and nearly all of the others.
    assert [show(symbol) for symbol in first * 2] == first * 2
    answers = [show(symbol) for symbol in others]
    assert sum(a == b for a, b in zip(answers, others, strict=True)) >= 8
    expect(visit.page.locator(".numbers")).to_contain_text("12 classes · 26 samples")
    # Undo a stroke, and clear.
    visit.draw(scribble("cross", rng))
    seen = visit.page.locator(".preview")
    before = seen.evaluate("one => one.toDataURL()")
    visit.page.get_by_role("button", name="Undo stroke").click()
    assert seen.evaluate("one => one.toDataURL()") != before
    visit.page.get_by_role("button", name="Clear").click()
    expect(visit.answers).to_have_count(0)
    assert not visit.is_wide()


def test_who_draws_on_while_the_server_is_slow_begins_a_new_drawing(visiting, server):
    server.new_model("symbols", **DRAWINGS)
    visit, rng = visiting(), np.random.default_rng(0)
    visit.model("symbols")
    waiting = []
    visit.page.route("**/learn", lambda route: waiting.append(route))
    visit.draw(scribble("circle", rng))
    visit.page.locator("#label").fill("circle")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_label("Drawing area")).to_be_focused()
    visit.draw([[(0.3, 0.3), (0.5, 0.7), (0.7, 0.3)]])
    (lesson,) = waiting
    ink = np.array(lesson.request.post_data_json["samples"][0]["image"])
    lesson.continue_()
    expect(visit.page.locator(".classes")).to_contain_text("circle")
    visit.page.unroute("**/learn")
    visit.name("vee")
    models = server.ask("GET", "/v1/models/symbols")
    assert (models["classes"], models["samples"]) == (2, 2)
    # The hole of the circle is in the lesson, and in the middle of it nothing was drawn.
    assert ink[12:16, 12:16].max() == 0
    assert ink.max() == 255


def test_a_finger_draws(visiting, server):
    server.new_model("symbols", **DRAWINGS)
    visit = visiting("phone-light")
    visit.model("symbols")
    canvas = visit.page.get_by_label("Drawing area")
    box = canvas.bounding_box()
    session = visit.page.context.new_cdp_session(visit.page)
    places = [(box["x"] + (0.2 + 0.05 * i) * box["width"], box["y"] + 90) for i in range(12)]
    top = visit.page.evaluate("scrollY")
    for kind, place in [
        ("touchStart", places[0]),
        *(("touchMove", place) for place in places),
        ("touchEnd", None),
    ]:
        points = [] if place is None else [{"x": place[0], "y": place[1]}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert visit.page.evaluate("scrollY") == top
    visit.name("line")
    ink = visit.page.locator(".preview").evaluate(
        "one => one.getContext('2d').getImageData(0, 14, 28, 1).data.filter((_, i) => i % 4 == 0)"
        ".reduce((a, b) => a + b)"
    )
    assert ink > 15 * 255  # a line across the picture, and not a dot


def test_vectors_and_numbers_as_classes(visiting, server):
    server.new_model("sensor", ([1, 0, 0], 1), ([0, 1, 0], 2), **VECTORS)
    visit = visiting()
    visit.model("sensor")
    box = visit.page.get_by_label("Vector", exact=True)
    box.fill("[0, 0.1")
    expect(visit.page.locator("#vector-note")).to_have_text("2 of 3 numbers.")
    box.fill("[1, x, 2]")
    expect(visit.page.locator("#vector-note")).to_contain_text("“x” is not a number")
    box.fill("0.9 0.1; 0")
    expect(visit.best()).to_have_text("1")
    visit.name("3")
    labels = [one["label"] for one in server.ask("GET", "/v1/models/sensor/classes")["classes"]]
    assert labels == [1, 2, 3]
