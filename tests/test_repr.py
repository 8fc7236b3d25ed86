"""Models as text and HTML."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kenyon import FlyClassifier

LONG = {"n_cells": 1000, "fan_in": 2, "n_active": 50, "channels": "raw", "inhibition": "subtract"}


def fitted(labels=("a", "b", "c"), **parameters):
    return FlyClassifier(**parameters).fit(np.eye(len(labels), 3), list(labels))


@pytest.mark.parametrize("parameters", [{}, {"n_cells": 400}, LONG])
def test_text_gives_the_parameters_back(parameters):
    for model in (FlyClassifier(**parameters), fitted(**parameters)):
        again = eval(repr(model), {"FlyClassifier": FlyClassifier})
        assert again.get_params() == FlyClassifier(**parameters).get_params()
        assert not hasattr(again, "classes_")


def test_text_shows_classes_and_samples():
    model = FlyClassifier(n_cells=400)
    assert repr(model) == "FlyClassifier(n_cells=400)"
    model.fit(np.eye(3), ["a", "b", "c"], sample_weight=[1, 1, 1232])
    assert repr(model) == "FlyClassifier(n_cells=400)  # 3 classes, 1,234 samples"
    model.unlearn(np.eye(3)[1:], ["b", "c"], sample_weight=[1, 1232])
    assert repr(model) == "FlyClassifier(n_cells=400)  # 1 class, 1 sample"
    assert repr(model.drop_class("a")).endswith("  # 0 classes, 0 samples")


def test_text_keeps_scikit_learns_lines_and_settings():
    first, *others = repr(fitted(**LONG)).splitlines()
    assert len(first) < 80
    assert all(line.startswith(" " * len("FlyClassifier(")) for line in others)
    assert others
    with config_context(print_changed_only=False):
        assert "random_state=0" in repr(fitted())
    assert "..." in fitted(**LONG).__repr__(N_CHAR_MAX=40)


def test_text_of_parameters_that_are_refused_later():
    assert "learning_rate=-1" in repr(fitted().set_params(learning_rate=-1))


def test_text_in_a_pipeline_is_scikit_learns():
    pipeline = make_pipeline(MinMaxScaler(), FlyClassifier(n_cells=400)).fit(np.eye(3), [0, 1, 2])
    assert "FlyClassifier(n_cells=400))])" in repr(pipeline)


class Tags(HTMLParser):
    """Collects the names of all tags, and the text of captions."""

    def __init__(self, page):
        super().__init__()
        self.names, self.captions, self._in_caption = set(), [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self._in_caption = ("class", "caption") in attrs

    def handle_data(self, data):
        if self._in_caption:
            self.captions.append(data)

    def handle_endtag(self, tag):
        self._in_caption = False


def test_html_shows_classes_and_samples():
    model = fitted()
    caption = "3 classes, 3 samples: 'a', 'b', 'c'"
    pages = [
        model._repr_html_(),
        model._repr_mimebundle_()["text/html"],
        make_pipeline(MinMaxScaler(), model)._repr_html_(),
    ]
    for page in pages:
        assert Tags(page).captions == [caption]
    assert Tags(FlyClassifier()._repr_html_()).captions == []
    assert Tags(model.drop_class("a").drop_class("b").drop_class("c")._repr_html_()).captions == [
        "0 classes, 0 samples"
    ]


def test_html_lists_few_and_short_labels():
    (caption,) = Tags(fitted([f"{i}" * 100 for i in range(7)])._repr_html_()).captions
    assert caption.startswith("7 classes, 7 samples: '0000")
    assert caption.endswith(", ...")
    assert len(caption) < 250


def test_html_escapes_labels():
    plain = Tags(fitted()._repr_html_())
    page = fitted(["<img src=x onerror=alert(1)>", "</pre><blink>", "&amp;"])._repr_html_()
    found = Tags(page)
    assert found.names == plain.names
    assert "'<img src=x onerror=alert(1)>'" in found.captions[0]
    assert "<img" not in page
    assert "<blink>" not in page
