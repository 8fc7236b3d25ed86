"""Five wirings on one encoder's features, compared with the method that runs task by task."""

import numpy as np

from kenyon_lab.data import load
from kenyon_lab.experiments import wirings
from kenyon_lab.methods import METHODS


def test_each_is_the_method_after_five_tasks(monkeypatch):
    monkeypatch.setattr(wirings, "N_WIRINGS", 2)
    found = wirings.measure(seed=3)
    assert found["n_classes"] == 10
    mnist = load("mnist20")
    fly = METHODS["fly"].make(**METHODS["fly"].paper["mnist20"], seed=1)
    fly.begin(mnist.n_features, mnist.n_classes)
    for classes in mnist.tasks()[:5]:
        rows = np.isin(mnist.y_train, classes)
        fly.learn_task(mnist.X_train[rows], mnist.y_train[rows])
    tested = mnist.y_test < 10
    right = fly.predict(mnist.X_test[tested]) == mnist.y_test[tested]
    assert found["accuracies"][1] == round(float(right.mean()), 6) != found["accuracies"][0]
