"""The built site: strict, complete, and readable without a server or a network."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.docs.examples import ROOT

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def build(folder, *, root=ROOT):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(root)}
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=300
    )


def test_every_page_of_the_repository_is_in_the_site(site):
    pages = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    docs, results = ROOT / "docs", ROOT / "benchmarks" / "results"
    expected = {path.relative_to(docs).with_suffix("").as_posix() for path in docs.rglob("*.md")}
    expected |= {f"results/{path.stem}" for path in results.glob("*.md")}
    expected |= {f"notebooks/{path.stem}" for path in docs.rglob("*.ipynb")}
    assert expected <= pages
    assert {"index", "contributing", "changelog", "security"} <= pages


def test_all_results_are_listed():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    results = {path.name for path in (ROOT / "benchmarks" / "results").glob("*.md")}
    assert set(re.findall(r"results/([\w-]+\.md)", page)) == results


def test_a_link_to_nothing_is_refused(tmp_path):
    root = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__", "packaged", "*.so")
    for folder in ("benchmarks/results", "docs", "lab/src", "src"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    for path in [*ROOT.glob("*.*"), ROOT / "LICENSE", ROOT / "lab" / "README.md"]:
        if path.is_file():
            shutil.copy(path, root / path.relative_to(ROOT))
    notice = "lab/src/kenyon_lab/data/packaged/NOTICE.md"
    (root / notice).parent.mkdir()
    (root / "lab" / "results").mkdir()
    shutil.copy(ROOT / notice, root / notice)
    page = root / "docs" / "features.md"
    text = page.read_text(encoding="utf-8")
    for links, messages in (
        ("[x](none.md) [x](readouts.md#none)", ("'none.md'", "does not contain an anchor '#none'")),
        ("[x](../LICENCE)", ("LICENCE, which does not exist",)),
    ):
        page.write_text(f"{text}\n{links}\n", encoding="utf-8")
        done = build(tmp_path / "site", root=root)
        assert done.returncode != 0, links
        assert all(message in done.stdout + done.stderr for message in messages), done.stderr


@pytest.mark.skipif(BROWSER is None, reason="there is no browser")
def test_it_is_read_and_searched_as_files_without_a_network(site):
    from playwright.sync_api import sync_playwright

    asked, errors = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        for name in ("index", "quickstart", "reference/classifier", "notebooks/drift"):
            page.goto((site / f"{name}.html").as_uri())
            broken = "() => [...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
            assert page.evaluate(broken) == []
        page.goto((site / "quickstart.html").as_uri())
        for tab, code in ("Python", "make_pipeline"), ("Server", "curl"), ("Shell", "kenyon ask"):
            page.click(f".tabbed-labels label:has-text('{tab}')")
            assert page.locator(f"code:visible:has-text('{code}')").count() > 0, tab
        page.goto((site / "index.html").as_uri())
        page.focus("input.md-search__input")
        page.keyboard.type("erase a customer")
        page.click(".md-search-result__item a", timeout=30_000)
        page.wait_for_selector("h1:has-text('Erase a customer')")
        browser.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
