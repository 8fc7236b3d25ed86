"""The examples of docs/integrations.md run, and its excerpts are those of the recipes."""

import re
import runpy
from pathlib import Path
from textwrap import dedent

import pytest

import kenyon
from kenyon import encoders, pipeline

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "integrations.md").read_text(encoding="utf-8")
RECIPES = sorted((DOCS / "recipes").glob("*.py"))
BLOCKS = re.findall(r"(?:<!-- (\S+) -->\n)?```python\n(.*?)```", PAGE, flags=re.DOTALL)
EXAMPLES = [block for source, block in BLOCKS if not source]
EXCERPTS = [(source, block) for source, block in BLOCKS if source]
CLASSES = (
    *(kenyon.FlyClassifier, kenyon.SparseCoder, pipeline.Pipeline),
    *(encoders.TextEncoder, encoders.ImageEncoder),
)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs_and_prints_what_it_says(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "docs/integrations.md", "exec"), {})
    stated = re.findall(r"^ *print\(.*\)  # (.*)$", example, flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == stated


@pytest.mark.parametrize(("source", "block"), EXCERPTS, ids=range(len(EXCERPTS)))
def test_an_excerpt_is_a_part_of_its_recipe(source, block):
    recipe = (DOCS / source).read_text(encoding="utf-8")
    lines = block.splitlines()
    own = recipe.splitlines()
    windows = ("\n".join(own[i : i + len(lines)]) for i in range(len(own)))
    assert any(dedent(window) == "\n".join(lines) for window in windows)


def test_examples_and_excerpts_were_found():
    assert len(EXAMPLES) == 5
    assert {source for source, _ in EXCERPTS} == {
        f"recipes/{path.name}" for path in RECIPES if path.name in PAGE
    }
    assert PAGE.count("```python") == len(BLOCKS)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_names_the_packages_that_it_needs(path):
    first, _ = path.read_text(encoding="utf-8").split("\n", 1)
    needed = re.fullmatch(r"# requires: (\S+( \S+)*)", first)[1].split()
    assert path.stem not in needed, "a script of the name of a package hides it"


def test_the_router_answers_or_abstains(tmp_path, monkeypatch):
    monkeypatch.setenv("KENYON_CACHE_DIR", str(tmp_path))
    router = runpy.run_path(str(DOCS / "recipes" / "router.py"))["router"]
    assert router("cancel my order please") == "orders"
    assert router("translate hello into French") is None


def test_the_page_names_all_classes_to_trust():
    shown = dict(re.findall(r"^\| `(kenyon\.\S+)` \| `(\S+)` \|$", PAGE, flags=re.MULTILINE))
    names = [f"{each.__module__}.{each.__qualname__}" for each in CLASSES]
    assert list(shown.values()) == names
    for public, each in zip(shown, CLASSES, strict=True):
        module, _, name = public.rpartition(".")
        assert getattr(__import__(module, fromlist=[name]), name) is each
