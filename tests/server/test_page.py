"""The page: files, headers, and no way for content to become code."""

import re

import pytest

from kenyon.server.pages import FILES
from kenyon.server.routes import ROUTES
from tests.server.running import problem

HTML = FILES["index.html"][0].decode()
SCRIPTS = {name: content.decode() for name, (content, _) in FILES.items() if name.endswith(".js")}


@pytest.mark.parametrize("path", ["/", *(f"/page/{name}" for name in FILES)])
def test_files_come_without_a_key_and_with_a_strict_policy(server, path):
    answer = server.client(None).get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"].split("; ")
    assert dict(one.split(" ", 1) for one in policy) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "cookie" not in str(answer.headers)


@pytest.mark.parametrize("name", ["none.js", "index.py", "__init__.py"])
def test_other_files_are_not_there(server, name):
    problem(server.http.get(f"/page/{name}"), 404)


def test_the_page_loads_nothing_from_elsewhere():
    for content, _ in FILES.values():
        rest = content.replace(b"http://www.w3.org/2000/svg", b"")
        assert not re.search(rb"https?:|//[a-z]+\.|@import|url\(", rest)
    linked = re.findall(r'(?:src|href)="([^"]*)"', HTML)
    assert {one for one in linked if not one.startswith("#")} == {
        f"/page/{name}"
        for name in ("app.js", "base.css", "early.js", "icon.svg", "layout.css", "parts.css")
    }
    assert not re.search(r"\son\w+=|style=|<style|<script>|javascript:", HTML)


def test_all_scripts_are_found_and_used():
    imported = {"app.js", "early.js"}
    for name, script in SCRIPTS.items():
        for other in re.findall(r'^(?:import|\}) .*from "\./([^"]+)";', script, re.MULTILINE):
            assert other in SCRIPTS, (name, other)
            imported.add(other)
    assert imported == set(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_content_never_becomes_code(name):
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|srcdoc",
        SCRIPTS[name],
    )


def test_scripts_find_their_elements_and_routes():
    ids = set(re.findall(r'\bid="([^"]+)"', HTML))
    paths = {route.path for route in ROUTES}
    for name, script in SCRIPTS.items():
        assert set(re.findall(r'getElementById\("([^"]+)"', script)) <= ids, name
        for part in re.findall(r'\bpath\(["`](/\w+)', script):
            assert f"/v1/models/{{name}}{part}" in paths, (name, part)
