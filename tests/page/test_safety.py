"""What users write is never executed, and the page asks nothing of anybody else."""

import pytest

from tests.page.visiting import TEXTS, expect
from tests.server.running import until

MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\"'><svg onload=alert(1)>",
    "{{7*7}}${alert(1)}",
]


def test_markup_is_text_everywhere(visiting, server):
    server.new_model("intents", ("hello there", "plain"), **TEXTS)
    visit = visiting()
    visit.model("intents")
    page = visit.page
    for i, markup in enumerate(MARKUP):
        visit.teach(f"{markup} number {i}", markup)
        expect(visit.best()).to_have_text(markup)
        expect(page.locator(".timeline")).to_contain_text(markup)
        expect(page.locator(".classes")).to_contain_text(markup)
        expect(page.locator(".matrix")).to_contain_text(markup[:20])
        expect(page.locator(".picture .name.on text")).to_contain_text(markup[:5])
    page.get_by_role("button", name=f"Drop {MARKUP[0]}").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text(MARKUP[0])
    page.reload()
    expect(page.locator(".timeline")).to_contain_text("Dropped " + MARKUP[0])
    assert (
        page.evaluate("document.querySelectorAll('main script, main img, main [onload]').length")
        == 0
    )


def test_strange_names_stay_in_their_place(visiting, server):
    names = [
        "\u202egnihtemos",
        "\u05e9\u05dc\u05d5\u05dd",
        "\U0001f469\u200d\U0001f680",
        "w" * 300,
        "a b " * 60,
    ]
    server.new_model("intents", *((f"number {i}", name) for i, name in enumerate(names)), **TEXTS)
    visit = visiting("phone-light")
    visit.model("intents")
    page = visit.page
    for i, name in enumerate(names):
        visit.type(f"number {i} again")
        visit.name(name.strip())
        # What comes after the name is still on its right, or below it.
        text, button = (visit.headline.locator(one).bounding_box() for one in ("p", "button"))
        is_right = button["x"] >= text["x"] + text["width"] - 1
        assert is_right or button["y"] >= text["y"] + text["height"] - 1, name
        assert not visit.is_wide(), name
    assert page.locator(".headline bdi, .timeline bdi").count() > len(names)


def test_many_classes_and_events(visiting, server):
    samples = [(f"word{i} and word{i + 1}", f"class {i}") for i in range(200)]
    path = server.new_model("intents", *samples, **TEXTS)
    for i in range(40):
        server.ask("POST", f"{path}/undo", {"event": i + 1})
    visit = visiting()
    visit.model("intents")
    page = visit.page
    expect(page.locator(".classes li")).to_have_count(200)
    expect(page.locator(".timeline li")).to_have_count(30)
    page.get_by_role("button", name="Show earlier events").click()
    expect(page.locator(".timeline li")).to_have_count(41)
    expect(page.get_by_role("button", name="Show earlier events")).to_be_hidden()
    page.get_by_label("Sentence", exact=True).fill("word7 and word8")
    expect(visit.best()).to_have_text("class 7", timeout=30_000)
    expect(visit.answers).to_have_count(9)
    expect(page.locator(".picture")).to_be_visible()
    assert not visit.is_wide()


def test_names_in_the_address_are_text(visiting):
    visit = visiting()
    visit.open(address="#/m/" + "%3Cimg src=x onerror=alert(1)%3E")
    expect(visit.page.locator(".toast")).to_contain_text("There is no model <img src=x")


def test_the_policy_is_enforced(visiting):
    visit = visiting()
    refused = {
        "document.body.innerHTML = '<b>'": "TrustedHTML",
        "Object.assign(document.createElement('script'), {text: '1'})": "Trusted",
        "setTimeout('1')": "Trusted",
    }
    for script, words in refused.items():
        with pytest.raises(Exception, match=words):
            visit.page.evaluate(f"() => {{ {script} }}")
    assert all("Trusted" in error for error in visit.errors)
    visit.errors.clear()


def test_a_wrong_key_and_a_revoked_one(visiting, server):
    secret = server.key("admin", name="leaver")
    visit = visiting(key=secret)
    visit.expected_statuses |= {401}
    page = visit.page
    expect(page.get_by_role("heading", name="Models")).to_be_visible()
    assert "#key" not in page.url
    number = next(key.id for key in server.store.keys.all() if key.name == "leaver")
    server.store.keys.revoke(number)
    page.reload()
    expect(page.get_by_role("alert").first).to_contain_text("not known, or was revoked")
    page.get_by_label("Key").fill("kenyon_nonsense")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert").first).to_contain_text("not known, or was revoked")
    expect(page.get_by_label("Key")).to_have_value("")
    page.get_by_label("Key").fill(server.admin)
    page.get_by_label("Remember").check()
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Models")).to_be_visible()
    assert page.evaluate("localStorage.getItem('kenyon-key')") == server.admin
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Key")).to_be_visible()
    assert (
        page.evaluate("localStorage.getItem('kenyon-key') ?? sessionStorage.getItem('kenyon-key')")
        is None
    )


def test_a_server_that_is_gone_and_comes_back(visiting, server):
    server.new_model("intents", ("pay a bill", "bank"), ("play a song", "music"), **TEXTS)
    visit = visiting()
    visit.model("intents")
    page = visit.page
    visit.type("a song")
    expect(visit.best()).to_have_text("music")
    waiting = []

    def hold(route):
        if "a bill" in route.request.post_data:
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/predict", hold)
    page.get_by_label("Sentence", exact=True).fill("a bill")
    expect(page.locator(".reply")).to_contain_class("old")
    until(lambda: waiting or page.wait_for_timeout(20))
    waiting[0].abort()
    # The answer to the sentence before must not stay.
    expect(visit.headline).to_have_text("The server does not answer.")
    expect(visit.answers).to_have_count(0)
    page.unroute("**/predict")
    server.learn("intents", ("water the plants", "garden"))
    expect(visit.best()).to_have_text("bank")
    expect(visit.headline).not_to_contain_text("does not answer")
    page.route("**/v1/models", lambda route: route.abort())
    page.get_by_role("link", name="Kenyon").click()
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_focused()
    page.unroute("**/v1/models")
    again.click()
    expect(page.get_by_role("link", name="intents")).to_be_visible()
    assert all("ERR_FAILED" in error for error in visit.errors)
    visit.errors.clear()


def test_a_key_that_may_only_ask(visiting, server):
    server.new_model("intents", ("pay a bill", "bank"), ("play a song", "music"), **TEXTS)
    visit = visiting(key=server.key("predict", models=["intents"]))
    visit.expected_statuses |= {403}
    visit.model("intents")
    visit.type("a song")
    expect(visit.best()).to_have_text("music")
    visit.answers.first.click()
    expect(visit.page.locator(".toast.error")).to_contain_text("no scope teach")
    assert server.ask("GET", "/v1/models/intents")["samples"] == 2
