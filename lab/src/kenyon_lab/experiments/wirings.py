"""The FlyModel with several wirings on the features of one encoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from kenyon import FlyClassifier
from kenyon_lab.data import load
from kenyon_lab.theory.models import FLY, MNIST_MODEL

N_WIRINGS, N_CLASSES = 5, 10


def measure(seed: int) -> dict[str, Any]:
    """Return the accuracy on the first ten classes with each of five wirings.

    The wirings are drawn with the seeds 0 to 4, so the result does not depend on this seed.
    """
    mnist = load("mnist20")
    learned, tested = mnist.y_train < N_CLASSES, mnist.y_test < N_CLASSES
    accuracies = []
    for wiring in range(N_WIRINGS):
        fly = FlyClassifier(**MNIST_MODEL, **FLY, random_state=wiring)
        fly.fit(mnist.X_train[learned], mnist.y_train[learned])
        right = fly.predict(mnist.X_test[tested]) == mnist.y_test[tested]
        accuracies.append(round(float(np.mean(right)), 6))
    return {"n_classes": N_CLASSES, "accuracies": accuracies}
