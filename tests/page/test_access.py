"""The page by keyboard alone, for screen readers, in both themes, and the guided minute."""

import shutil
import subprocess
import tarfile

import pytest

from tests.page.conftest import LOOKS
from tests.page.visiting import DRAWINGS, TEXTS, expect


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """Return the source of axe-core, which checks rules of accessibility."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run(
            ["npm", "pack", "--silent", "axe-core@4"],
            cwd=folder,
            check=True,
            timeout=60,
            capture_output=True,
        )
    except (subprocess.SubprocessError, OSError):
        pytest.skip("axe-core could not be downloaded")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        return packed.extractfile("package/axe.min.js").read().decode()


CONTROLS = """button, select, summary, textarea, a.mark, .models a, .check label, .kinds label,
    input:not([type=checkbox], [type=radio])"""
SMALL = """controls => [...document.querySelectorAll(controls)]
    .map(one => [one, one.getBoundingClientRect()])
    .filter(([one, box]) => one.checkVisibility() && Math.min(box.width, box.height) < 43.9)
    .map(([one, box]) => `${one.outerHTML.slice(0, 90)}: ${box.width} x ${box.height}`)"""


@pytest.mark.parametrize("look", LOOKS)
def test_rules_of_accessibility(visiting, server, axe, look):
    server.new_model("intents", ("pay a bill", "bank"), ("play a song", "music"), **TEXTS)
    server.new_model("shapes", **DRAWINGS)
    # Trusted types refuse what axe does, so this tab is without the policy.
    visit = visiting(look, bypass_csp=True, reduced_motion="reduce")
    page = visit.page

    def check(where):
        page.mouse.move(0, 0)
        if not page.evaluate("'axe' in window"):
            page.evaluate(axe)
        found = page.evaluate("axe.run(document)")["violations"]
        assert not found, [(where, one["id"], one["nodes"][0]["html"]) for one in found]
        if look.startswith("phone"):
            assert page.evaluate(SMALL, CONTROLS) == [], where

    expect(page.get_by_role("link", name="intents")).to_be_visible()
    check("models")
    page.get_by_role("button", name="New model").click()
    check("new model")
    page.get_by_role("button", name="Cancel").click()
    visit.model("intents")
    visit.teach("transfer money", "bank")
    expect(page.locator(".matrix")).to_be_visible()
    expect(page.locator(".words")).to_be_visible()
    check("a model of texts")
    page.get_by_role("button", name="Drop music").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_be_visible()
    page.get_by_role("button", name="Import CSV").click()
    check("import")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_label("Model", exact=True).select_option("shapes")
    expect(page.get_by_label("Drawing area")).to_be_visible()
    check("drawings")
    page.get_by_role("button", name="Sign out").click()
    check("sign in")


def test_keys_alone_are_enough(visiting, server):
    server.new_model("intents", **TEXTS)
    visit = visiting()
    page, keys = visit.page, visit.page.keyboard
    link = page.get_by_role("link", name="intents")
    expect(link).to_be_visible()
    for _ in range(12):
        keys.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    keys.press("Enter")
    box = page.get_by_label("Sentence", exact=True)
    expect(box).to_be_focused()
    for sentence, label in (("pay the bill", "bank"), ("sing a song", "music")):
        keys.type(sentence)
        keys.press("Enter")
        expect(box).not_to_be_focused()
        # A letter among the answers goes on as the name of a class.
        keys.type(label)
        keys.press("Enter")
        expect(visit.headline).to_contain_text(f"Learned as “{label}”")
        expect(box).to_be_focused()
    keys.type("a song about bills")
    keys.press("Enter")
    expect(visit.answers.first).to_be_focused()
    best = visit.best().inner_text()
    keys.press("2")
    expect(visit.headline).to_contain_text("Learned as")
    expect(visit.headline).not_to_contain_text(best)
    expect(page.locator("#live")).not_to_be_empty()
    page.locator("#main").focus()
    keys.press("Control+z")
    expect(visit.headline).to_contain_text("Undone")
    assert server.ask("GET", "/v1/models/intents")["samples"] == 2


def test_the_focus_is_never_lost(visiting, server):
    server.new_model("intents", ("pay a bill", "bank"), ("play a song", "music"), **TEXTS)
    visit = visiting()
    page, keys = visit.page, visit.page.keyboard
    page.get_by_role("button", name="Not now").press("Enter")
    expect(page.locator("#main")).to_be_focused()
    visit.model("intents")
    page.get_by_role("button", name="Rename bank").press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
    keys.press("Escape")
    expect(page.get_by_role("button", name="Rename bank")).to_be_focused()
    keys.press("Enter")
    keys.type("money")
    keys.press("Enter")
    expect(page.get_by_role("button", name="Rename money")).to_be_focused()
    page.get_by_role("button", name="Drop money").press("Enter")
    expect(page.get_by_role("button", name="Drop music")).to_be_focused()
    page.get_by_role("button", name="Undo event 2").press("Enter")
    expect(visit.event(2)).to_contain_class("undone")
    assert page.evaluate("document.activeElement.closest('.timeline') !== null")
    page.get_by_role("button", name="Delete").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
    expect(page.get_by_text("There is no model yet")).to_be_visible()
    expect(page.locator("#main")).to_be_focused()


def test_keys_draw(visiting, server):
    server.new_model("shapes", **DRAWINGS)
    visit = visiting()
    visit.model("shapes")
    keys, canvas = visit.page.keyboard, visit.page.get_by_label("Drawing area")
    expect(canvas).to_be_focused()

    def line(arrow, label):
        keys.press("Space")
        for _ in range(10):
            keys.press(arrow)
        keys.press("Space")
        keys.press("Enter")
        expect(canvas).not_to_be_focused()
        best = visit.best().inner_text() if visit.answers.count() else None
        keys.type(label)
        keys.press("Enter")
        expect(visit.headline).to_contain_text(f"as “{label}”")
        expect(canvas).to_be_focused()
        return best

    for arrow, label in (("ArrowLeft", "line"), ("ArrowDown", "stick")):
        line(arrow, label)
    assert line("ArrowRight", "line") == "line"
    assert line("ArrowUp", "stick") == "stick"


@pytest.mark.parametrize("look", ["desktop-light", "phone-dark"])
def test_the_guided_minute_ends_with_a_taught_model(visiting, server, look):
    visit = visiting(look)
    page = visit.page
    guide = page.get_by_label("The guided minute")
    page.get_by_role("button", name="Start the guided minute").click()
    teach = page.get_by_role("button", name="Teach", exact=True)
    for step in (1, 2):
        expect(guide).to_contain_text(f"Step {step} of 4")
        guide.get_by_role("button", name="Type").click()
        teach.click()
    expect(guide).to_contain_text("Step 3 of 4")
    guide.get_by_role("button", name="Type").click()
    expect(visit.best()).to_have_text("music")
    page.keyboard.press("Enter")
    expect(visit.answers.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(guide).to_contain_text("Step 4 of 4")
    guide.get_by_role("button", name="Type").click()
    page.keyboard.press("Enter")
    expect(visit.answers.first).to_be_focused()
    page.keyboard.press("2")
    visit.headline.get_by_role("button", name="Undo").click()
    expect(guide).to_contain_text("You have taught a model")
    assert not visit.is_wide()
    guide.get_by_role("button", name="Done").click()
    expect(guide).to_have_count(0)
    (model,) = server.ask("GET", "/v1/models")["models"]
    assert (model["classes"], model["samples"]) == (2, 3)
    page.get_by_role("link", name="Kenyon").click()
    expect(page.get_by_role("link", name="first-minute")).to_be_visible()
    expect(page.get_by_role("button", name="Start the guided minute")).to_have_count(0)


def test_the_switch_of_the_theme(visiting):
    visit = visiting("desktop-dark")
    page = visit.page
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Theme: system").click()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Theme: dark").click()
    expect(page.get_by_role("button", name="Theme: system")).to_be_visible()
